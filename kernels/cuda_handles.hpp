#pragma once

// What the CUDA runtime hands out, given back when its owner goes. Each belongs to the device that was current when it was made.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "kernels/cuda_check.hpp"

namespace collsim {

namespace detail {

/// A destructor cannot throw; what the runtime has to say it says again at the next call.
template <auto Destroy>
struct CudaDeleter {
  template <class T>
  void operator()(T* handle) const noexcept {
    static_cast<void>(Destroy(handle));
  }
};

}  // namespace detail

using CudaStream = std::unique_ptr<CUstream_st, detail::CudaDeleter<cudaStreamDestroy>>;
using CudaEvent = std::unique_ptr<CUevent_st, detail::CudaDeleter<cudaEventDestroy>>;
using CudaGraph = std::unique_ptr<CUgraph_st, detail::CudaDeleter<cudaGraphDestroy>>;
using CudaGraphExec = std::unique_ptr<CUgraphExec_st, detail::CudaDeleter<cudaGraphExecDestroy>>;
using DeviceBuffer = std::unique_ptr<std::byte, detail::CudaDeleter<cudaFree>>;
using PinnedBuffer = std::unique_ptr<std::byte, detail::CudaDeleter<cudaFreeHost>>;

[[nodiscard]] inline CudaStream make_stream() {
  cudaStream_t stream = nullptr;
  COLLSIM_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return CudaStream(stream);
}

[[nodiscard]] inline CudaEvent make_event() {
  cudaEvent_t event = nullptr;
  COLLSIM_CUDA_CHECK(cudaEventCreate(&event));
  return CudaEvent(event);
}

/// Not initialised; empty for 0 bytes.
[[nodiscard]] inline DeviceBuffer make_device_buffer(std::size_t bytes) {
  void* memory = nullptr;
  if (bytes > 0) {
    COLLSIM_CUDA_CHECK(cudaMalloc(&memory, bytes));
  }
  return DeviceBuffer(static_cast<std::byte*>(memory));
}

[[nodiscard]] inline PinnedBuffer make_pinned_buffer(std::size_t bytes) {
  void* memory = nullptr;
  COLLSIM_CUDA_CHECK(cudaMallocHost(&memory, bytes));
  return PinnedBuffer(static_cast<std::byte*>(memory));
}

/// Between two events that have happened.
[[nodiscard]] inline double milliseconds_between(const CudaEvent& begin, const CudaEvent& end) {
  float milliseconds = 0;
  COLLSIM_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
  return static_cast<double>(milliseconds);
}

}  // namespace collsim
