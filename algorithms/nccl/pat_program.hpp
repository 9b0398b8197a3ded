#pragma once

// PAT as a program: AllGather and ReduceScatter along parallel aggregated trees, see
// pat_schedule.hpp. A channel is one lane: NCCL's groups of threads that copy several blocks of a
// message at once are as one.
//
// Blocks lie in the order of ranks, and distances go around: a message whose blocks pass the last
// rank is two, of which the second continues the first. Where there are several blocks a message
// every step has a second one, which does nothing where there is nothing left.

#include <memory>

#include "algorithms/nccl/execution.hpp"

namespace collsim::nccl {

/// Requires: AllGather or ReduceScatter, at least 2 ranks.
[[nodiscard]] std::unique_ptr<Program> build_pat_program(const Execution& execution);

}  // namespace collsim::nccl
