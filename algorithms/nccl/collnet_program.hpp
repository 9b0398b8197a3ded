#pragma once

// CollNet's all-reduce, by which the switches of the fabric reduce (SHARP).
//
// Direct (in nodes with an NVSwitch, of at most 8 ranks): the ranks with a NIC for it are heads, each
// has a block of each piece. Lanes of a channel:
//   scatter:    sends each head its block, beginning with the one next to the rank;
//   gather:     receives the totals of the heads' blocks;
//   reduce:     of heads: adds the blocks of the node and hands the sum to the network;
//   broadcast:  of heads: takes the total, keeps it and sends it to the others of the node;
//   network:    see collnet_lanes.hpp.
// Chain: along the chain of the channel's graph, up to the head that has the NIC and down again. Lanes:
// up, down, network.
//
// AllGather and ReduceScatter: collnet_gather_program.hpp.
// Source: NCCL 2.28.9, src/device/all_reduce.h, src/graph/connect.cc.

#include <memory>
#include <span>
#include <vector>

#include "algorithms/nccl/execution.hpp"
#include "algorithms/nccl/rings.hpp"

namespace collsim::nccl {

/// `heads`: numbers within the node, in the order of their blocks.
/// Requires: an AllReduce over several nodes, by CollNetDirect.
[[nodiscard]] std::unique_ptr<Program> build_collnet_direct_program(const Execution& execution,
                                                                    RankLayout layout,
                                                                    std::span<const Rank> heads);

/// Shapes: chains[channel] holds the ranks of a node, as numbers within it, the head first.
/// Requires: an AllReduce over several nodes, by CollNetChain; each rank once in each chain.
[[nodiscard]] std::unique_ptr<Program> build_collnet_chain_program(
    const Execution& execution, RankLayout layout, const std::vector<std::vector<Rank>>& chains);

}  // namespace collsim::nccl
