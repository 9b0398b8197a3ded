#pragma once

// `measure` with a process a rank: over TCP, or on GPUs that the processes share by CUDA's handles or by NCCL.

#include "tools/cli.hpp"
#include "tools/measure_options.hpp"

namespace collsim {

/// Starts the ranks, or is one of them; of those that somebody else starts, rank 0 shows the outcome.
/// Throws: InputError naming the option; ExecutionError where a rank is lost.
[[nodiscard]] Exit measure_in_processes(MeasureCommand command);

}  // namespace collsim
