#pragma once
// The rings of the execution channels over all nodes.
//
// Each node's part is its search channel's order of GPUs; node after node they are joined into one
// ring. With alternating rings (cross_nic 2) odd nodes swap the two channels of a pair, so that a
// NIC sends to its own rail only. Source: NCCL 2.28.9, src/graph/connect.cc, rings.cc.

#include <span>
#include <vector>

#include "algorithms/nccl/channels.hpp"
#include "topology/ids.hpp"

namespace collsim::nccl {

/// Where the ranks stand: nodes alike, each with as many ranks.
struct RankLayout {
  int nodes{1};
  int ranks_per_node{1};

  [[nodiscard]] int ranks() const { return nodes * ranks_per_node; }
};

/// The rings of `channels`, each as the ranks in order from rank 0 on.
/// Shapes: one ring of nodes × ranks per node for each channel.
/// Throws: InputError where a channel of the graph does not visit each GPU of the node once.
/// Complexity: O(channels × ranks).
[[nodiscard]] std::vector<std::vector<Rank>> build_rings(
    const GraphSet& graphs, RankLayout layout, std::span<const ExecutionChannel> channels);

/// Checks that each of the first `count` channels of the graph visits each GPU once.
/// Throws: InputError.
void check_orders(const Graph& graph, int ranks_per_node, int count);

}  // namespace collsim::nccl
