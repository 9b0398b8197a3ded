#pragma once

// NVLS's all-gather and reduce-scatter over several nodes with CollNet: every rank is a head, and has a NIC of
// its own; ranks with the same place in their nodes are a rail.
//
// All-gather: a rank has the switches of the fabric bring its block to the others of its rail, each link once. What
// it has so of all nodes, its own too, it writes to all ranks of its node through the node's switch, and all copy
// it from there to the output. Reduce-scatter the other way round: ranks lay out what is for each rail, heads
// read that of their rail through the node's switch, which reduces it, and the fabric's switches reduce what the
// heads of a rail have, to the one whose block it is.
//
// A rail's blocks are worked through node by node, in windows that channels take in turn (rail_windows.hpp), 8 of
// a channel under way. So at a time most of a rail's windows are of one node: it sends, and all others receive.
//
// Lanes of a channel (see nvls_lanes.hpp). All-gather: gather, hand, broadcast, network. Reduce-scatter: scatter,
// reduce, hand, network. The network's lane, which is no block's, stands for the proxy of the rank whose block it is.
//
// Known from the source: windows and their order, the 20 warps of a block, 8 slots, what each group of warps does.
// Assumed: what the CollNet plugin and the switches do for a window, of which no source tells more than that one
// call gathers or reduces it: here one tree over the fabric, from the block's rank or to it, and the rank's own
// bytes stay with it. A sum is there when its last byte is, the first one a reduction's time later.
// Deviates: ranks that have nothing of a window make no empty call for it; in place, an all-gather copies the
// rank's own block, too.
// Source: NCCL 2.28.9, src/device/all_gather.h, reduce_scatter.h, src/transport/coll_net.cc.

#include <memory>
#include <span>

#include "algorithms/nccl/execution.hpp"
#include "algorithms/nccl/rings.hpp"

namespace collsim::nccl {

/// `heads`: numbers within the node, in the order of the graph.
/// Requires: AllGather or ReduceScatter over several nodes, whose channels interleave.
/// Throws: InputError where not all ranks of a node are heads.
[[nodiscard]] std::unique_ptr<Program> build_nvls_gather_program(const Execution& execution,
                                                                 RankLayout layout,
                                                                 std::span<const Rank> heads);

}  // namespace collsim::nccl
