#pragma once

// By which NICs each GPU can leave its node: those with the fewest links between, and of them those with
// the widest way. Searched backwards from all NICs of the node at once, so that one walk serves all GPUs.

#include <cstdint>
#include <span>
#include <vector>

#include "topology/graph.hpp"

namespace collsim::detail {

/// The nearest NICs of every GPU.
class NearestNics {
 public:
  /// Complexity: O(links log links), unless many devices have each another set of many NICs.
  explicit NearestNics(const Graph& graph);

  /// In order of id; empty where the GPU reaches none of its node.
  [[nodiscard]] std::span<const DeviceId> of(DeviceId gpu) const;
  /// How many GPUs of the node have the same ones, and which of them this one is, by id.
  struct Sharing {
    std::uint32_t position = 0;
    std::uint32_t gpus = 0;
  };
  [[nodiscard]] Sharing sharing(DeviceId gpu) const { return sharing_[gpu.index()]; }

 private:
  friend class NicWalk;
  /// NICs [begin, end) of `nics_`.
  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  std::vector<DeviceId> nics_;
  std::vector<Range> range_;  ///< by device; GPUs alone have one
  std::vector<Sharing> sharing_;
};

}  // namespace collsim::detail
