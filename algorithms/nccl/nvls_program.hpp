#pragma once

// NVLS: reduction and multicast by the switch of the NVLinks, in one node.
//
// AllReduce: each head reduces the blocks that all ranks have laid out for it and writes the result
// to all, both through the switch. AllGather: each rank writes its own block to all. ReduceScatter:
// each rank reduces its own block from all.
//
// Source: NCCL 2.28.9, src/device/all_reduce.h, all_gather.h, reduce_scatter.h.

#include <memory>
#include <span>

#include "algorithms/nccl/execution.hpp"

namespace collsim::nccl {

/// Requires: AllReduce, AllGather or ReduceScatter, at least 2 ranks, distinct heads.
/// Throws: InputError where AllGather or ReduceScatter have ranks that are no heads.
[[nodiscard]] std::unique_ptr<Program> build_nvls_program(const Execution& execution,
                                                          std::span<const Rank> heads);

}  // namespace collsim::nccl
