#pragma once
// What is left of each link's bandwidth while channels are placed: a path takes its share of every
// link on it, or of none if one has too little.
//
// Bandwidths are rounded to 1/1000 GB/s after every change, as in NCCL, so that giving back restores
// them. A path of a GPU through an Intel CPU takes 6/5 of its bandwidth on PCIe links. Into a GPU
// before sm80 from elsewhere an eighth is taken the other way as well.
//
// Source: NCCL 2.28.9, src/graph/search.cc.

#include <cstddef>
#include <vector>

#include "algorithms/nccl/paths.hpp"
#include "algorithms/nccl/system.hpp"

namespace collsim::nccl {

class LinkBudget {
 public:
  explicit LinkBudget(const System& system);

  /// Takes `bandwidth` along the path (gives back, if negative). If a link has too little, nothing is
  /// taken and the answer is false.
  bool take(const Path& path, PartId from, float bandwidth);

 private:
  /// How many links of the path could be charged, at most `links`.
  std::size_t charge(const Path& path, PartId from, std::size_t links, float bandwidth);
  [[nodiscard]] bool crosses_intel_cpu(const Path& path, PartId from) const;

  const System& system_;
  std::vector<float> left_;  // of each link
};

}  // namespace collsim::nccl
