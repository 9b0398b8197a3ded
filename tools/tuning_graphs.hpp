#pragma once

// NCCL's graphs, rings and trees in words, for tables and JSON.

#include <string>
#include <string_view>
#include <vector>

#include "algorithms/nccl/communicator.hpp"
#include "algorithms/nccl/decisions.hpp"

namespace collsim {

struct NamedGraph {
  std::string name;  ///< "ring", "tree", "nvls", "collnet_chain", "collnet_direct"
  const nccl::Graph* graph = nullptr;
};
/// Those that there are.
[[nodiscard]] std::vector<NamedGraph> named_graphs(const nccl::GraphSet& graphs);

/// Whether the graph is told by the first GPUs of its channels, rather than by orders of GPUs.
[[nodiscard]] bool has_heads(const NamedGraph& graph);

/// "ring", "balanced_tree", …
[[nodiscard]] std::string_view pattern_word(nccl::Pattern pattern);
/// What crossNic means: "one rail", "any NIC", "two rails in turn".
[[nodiscard]] std::string_view rail_word(int cross_nic);
/// The first channel: "NIC 0 > 0 7 6 5 4 3 2 1 > NIC 1", or the heads of NVLS.
[[nodiscard]] std::string channel_text(const NamedGraph& named);
/// The ring of each channel, and rank 0's place in its trees.
[[nodiscard]] std::string rings_text(const nccl::Decisions& decisions);

}  // namespace collsim
