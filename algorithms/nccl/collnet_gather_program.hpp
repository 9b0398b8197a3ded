#pragma once
// CollNetDirect's all-gather and reduce-scatter: every rank is a head, and has a NIC.
//
// All-gather: a rank has the switches of the fabric bring its data to the ranks with its place in the other
// nodes, each link once, and every rank passes what it has so, of all nodes, to the others of its own node.
// Reduce-scatter the other way round: inside a node every rank reduces what belongs to its place in any node,
// and the switches reduce for each rank what the ranks of its place have.
//
// Channels take pieces of a rank's block in turn, 8 of them under way in the network.
//
// Deviates: in NCCL a rail's blocks come one behind the other (rail_windows.hpp), here a piece of each node's at
// once. Handing data to the network costs its block a copy, and the network's lane, which is no block's,
// stands for the rank's proxy; a sum is there when its last byte is, the first one a reduction's time later. Buffers that the user registered are not modelled.
// Source: NCCL 2.28.9, src/device/all_gather.h, reduce_scatter.h, src/transport/coll_net.cc.

#include <memory>

#include "algorithms/nccl/execution.hpp"
#include "algorithms/nccl/rings.hpp"

namespace collsim::nccl {

/// Requires: an execution of CollNetDirect, AllGather or ReduceScatter, whose channels interleave; several
/// nodes, all of whose ranks are heads.
[[nodiscard]] std::unique_ptr<Program> build_collnet_gather_program(const Execution& execution,
                                                                    RankLayout layout);

}  // namespace collsim::nccl
