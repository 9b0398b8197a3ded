#pragma once

// Blocks of the GPU's interpreter as threads of the host: a thread, or several, for each block that a GPU would run.

#include <cstdint>
#include <functional>
#include <vector>

#include "algorithms/collective.hpp"
#include "kernels/lane_tables.hpp"

namespace collsim {

/// Blocks that begin a call together, as those of one GPU do.
using BlocksOfGpu = std::vector<kernels::BlockTable>;

/// Runs so many calls, back to back, of GPUs that may be a call apart, `threads` a block. `watch` is called now and then while they
/// run; where it throws, all waits end, and what it has thrown leaves. `launch.abort` is set here.
void run_block_threads(DataType type, kernels::LaunchTable launch,
                       const std::vector<BlocksOfGpu>& gpus, std::uint32_t threads,
                       std::uint32_t calls, const std::function<void()>& watch);

}  // namespace collsim
