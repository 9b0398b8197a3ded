#pragma once

// Starts the interpreter on a GPU. For files that have the CUDA runtime's headers.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/collective.hpp"
#include "kernels/lane_tables.hpp"

namespace collsim::kernels {

/// More than a block of the interpreter may have.
inline constexpr std::uint32_t most_threads = 512;

/// Blocks of the interpreter that fit on the current GPU together, by the kernel's registers and shared memory. Loads the kernel.
/// Throws: InputError where the program was not built for this GPU; CudaError.
[[nodiscard]] std::uint32_t resident_blocks(DataType type, std::uint32_t threads);

/// One call on the current GPU: a block for each entry of `launch.blocks`, all resident at once (a cooperative launch).
/// Throws: CudaError. Requires: at most resident_blocks.
void launch_interpreter(DataType type, LaunchTable launch, std::uint32_t blocks,
                        std::uint32_t threads, cudaStream_t stream);

}  // namespace collsim::kernels
