#pragma once

// Inputs, outputs and poison of ranks whose memory is a GPU's: what both GPU backends do before and after a call that is checked.
// For files that have the CUDA runtime's headers.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/cuda_handles.hpp"
#include "validate/execution/outcome.hpp"
#include "validate/execution/rank_memory.hpp"
#include "validate/execution/test_data.hpp"

namespace collsim {

/// Where a rank of this process has its buffers.
struct GpuRank {
  Rank rank;
  int device = 0;
  std::span<std::byte> memory;  ///< all that is to be poisoned
  std::span<std::byte> input;
  std::span<std::byte> output;
};

/// Poisons all, then writes fresh inputs. Throws: CudaError.
inline void fill_gpu_ranks(const std::vector<GpuRank>& ranks, const TestData& data) {
  for (const GpuRank& rank : ranks) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(rank.device));
    std::vector<std::byte> input(rank.input.size());
    data.fill_input(rank.rank, input);
    if (!rank.memory.empty()) {
      COLLSIM_CUDA_CHECK(cudaMemset(rank.memory.data(), poison_pattern, rank.memory.size()));
    }
    if (!input.empty()) {
      COLLSIM_CUDA_CHECK(
          cudaMemcpy(rank.input.data(), input.data(), input.size(), cudaMemcpyHostToDevice));
    }
    // Streams of ours do not wait for the default one's.
    COLLSIM_CUDA_CHECK(cudaDeviceSynchronize());
  }
}

/// What is wrong, one entry a rank that has anything. Throws: CudaError.
inline std::vector<WrongData> check_gpu_ranks(const std::vector<GpuRank>& ranks, TestData& data) {
  std::vector<WrongData> wrong;
  for (const GpuRank& rank : ranks) {
    std::vector<std::byte> output(rank.output.size());
    COLLSIM_CUDA_CHECK(cudaSetDevice(rank.device));
    if (!output.empty()) {
      COLLSIM_CUDA_CHECK(
          cudaMemcpy(output.data(), rank.output.data(), output.size(), cudaMemcpyDeviceToHost));
    }
    if (auto found = data.check_output(rank.rank, output)) {
      wrong.push_back(*std::move(found));
    }
  }
  return wrong;
}

}  // namespace collsim
