#pragma once

// NVLS over several nodes with CollNet: the node's switch reduces to a head and copies from it, as in one
// node; between nodes the switches of the fabric reduce what the heads with the same number have (SHARP).
//
// Lanes of a channel (see nvls_lanes.hpp): scatter, gather, reduce, broadcast, network. Of heads:
//   reduce:     reads the node's blocks through the switch, hands the sum to the network;
//   broadcast:  takes the total and writes it to all of the node;
//   network:    of the first node's heads: stands for the fabric's switches, as in collnet_lanes.hpp.
// Every channel takes each channels-th piece of the whole. AllGather and ReduceScatter: nvls_gather_program.hpp.
// Source: NCCL 2.28.9, src/device/all_reduce.h.

#include <memory>
#include <span>

#include "algorithms/nccl/execution.hpp"
#include "algorithms/nccl/rings.hpp"

namespace collsim::nccl {

/// `heads`: numbers within the node.
/// Requires: an AllReduce over several nodes whose channels interleave.
[[nodiscard]] std::unique_ptr<Program> build_nvls_network_program(const Execution& execution,
                                                                  RankLayout layout,
                                                                  std::span<const Rank> heads);

}  // namespace collsim::nccl
