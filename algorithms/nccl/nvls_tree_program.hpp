#pragma once

// NVLSTree, AllReduce over several nodes: NVLS within each node, and for each head a double binary
// tree over the heads of all nodes with its number.
//
// A head reads its node's blocks through the switch, adds what its children have sent and sends the
// sum to its parent; the root's sum goes down the tree, and each head writes it to its node through
// the switch. Channels with even numbers use the first tree, those with odd numbers the second.
//
// A primitive that deals with the switch and the network at once is several steps here, all but the
// first of which continue it: through the switch; to and from the network; at the root through the
// switch again. What goes from one to the next, in NCCL in registers, is in scratch memory.
//
// Source: NCCL 2.28.9, src/device/all_reduce.h, src/graph/connect.cc.

#include <memory>
#include <span>

#include "algorithms/nccl/execution.hpp"
#include "algorithms/nccl/rings.hpp"

namespace collsim::nccl {

/// `heads` are those of a node, as numbers within it.
/// Requires: AllReduce, at least 2 nodes, distinct heads, a rank each of the layout.
[[nodiscard]] std::unique_ptr<Program> build_nvls_tree_program(const Execution& execution,
                                                               RankLayout layout,
                                                               std::span<const Rank> heads);

}  // namespace collsim::nccl
