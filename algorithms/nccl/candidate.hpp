#pragma once
// A graph while it is searched: what an attempt asks for and the channels it has placed so far. GPUs
// and network devices are positions in the system's lists of their kind.
//
// Source: NCCL 2.28.9, src/include/graph.h, src/graph/search.cc.

#include <cstddef>
#include <vector>

#include "algorithms/nccl/graph.hpp"

namespace collsim::nccl {

struct Candidate {
  Pattern pattern{Pattern::Ring};
  bool collnet{false};  ///< only network devices that reduce in the network
  int cross_nic{0};
  bool same_channels{true};
  float bandwidth_intra{0};
  float bandwidth_inter{0};
  float latency_inter{0};
  PathType type_intra{PathType::Loc};
  PathType type_inter{PathType::Loc};
  std::size_t least_channels{1};
  std::size_t most_channels{1};
  std::size_t channels{0};  ///< placed
  int hops{0};              ///< links used by all channels
  /// Shapes: `gpus[channel][position]`, most_channels of them.
  std::vector<std::vector<std::size_t>> gpus{};
  std::vector<std::size_t> nic_in{};   ///< of each channel
  std::vector<std::size_t> nic_out{};  ///< of each channel

  /// What all channels carry.
  [[nodiscard]] float total_intra() const { return static_cast<float>(channels) * bandwidth_intra; }
  [[nodiscard]] float total_inter() const { return static_cast<float>(channels) * bandwidth_inter; }
  /// Whether its channels are a network device and a GPU that heads the others.
  [[nodiscard]] bool has_heads() const {
    return pattern == Pattern::Nvls || pattern == Pattern::CollNetDirect;
  }
  [[nodiscard]] bool is_tree() const {
    return pattern == Pattern::BalancedTree || pattern == Pattern::Tree ||
           pattern == Pattern::SplitTree;
  }
};

/// Whether `found` is to replace `best`: more bandwidth, then fewer links. NVLS: more heads.
[[nodiscard]] bool is_better(const Candidate& found, const Candidate& best, std::size_t gpus);

}  // namespace collsim::nccl
