#pragma once

// Errors of the CUDA runtime, with the call and its place in our source. For files that have the runtime's headers.

#include <cuda_runtime_api.h>

#include "kernels/cuda_error.hpp"

/// Throws: CudaError where the call fails.
#define COLLSIM_CUDA_CHECK(call)                                                           \
  do {                                                                                     \
    const cudaError_t collsim_cuda_result = (call);                                        \
    if (collsim_cuda_result != cudaSuccess) {                                              \
      throw ::collsim::CudaError(#call, cudaGetErrorString(collsim_cuda_result), __FILE__, \
                                 __LINE__);                                                \
    }                                                                                      \
  } while (false)
