#include <string>

#include "kernels/cuda_check.hpp"
#include "kernels/device_machine.cuh"
#include "kernels/launch.hpp"
#include "kernels/with_element.hpp"

namespace collsim::kernels {

namespace {

template <class T>
__global__ void __launch_bounds__(most_threads) interpret(LaunchTable launch) {
  __shared__ BlockState state;
  const BlockTable block = launch.blocks[blockIdx.x];
  DeviceMachine machine;
  LaneRun<DeviceMachine>(machine, launch, block, state).template run<T>();
}

// nvcc warns of a lambda's template parameter that its arguments do not tell.
#pragma nv_diag_suppress 445
const void* kernel_for(DataType type) {
  return with_element(type, []<class T>() { return reinterpret_cast<const void*>(&interpret<T>); });
}
#pragma nv_diag_default 445

}  // namespace

namespace {

/// Loads the kernel. Throws: InputError where the program has none for this GPU.
void require_kernel(DataType type, int device) {
  cudaFuncAttributes attributes{};
  const cudaError_t answer = cudaFuncGetAttributes(&attributes, kernel_for(type));
  if (answer == cudaErrorNoKernelImageForDevice || answer == cudaErrorInvalidDeviceFunction ||
      answer == cudaErrorUnsupportedPtxVersion) {
    static_cast<void>(cudaGetLastError());
    int major = 0;
    int minor = 0;
    COLLSIM_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    COLLSIM_CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    const std::string architecture = std::to_string(major) + std::to_string(minor);
    throw InputError("this program has no kernels for GPU " + std::to_string(device) +
                         ", which is sm_" + architecture + " (" + cudaGetErrorString(answer) + ")",
                     "--backend", "build it with -DCMAKE_CUDA_ARCHITECTURES=" + architecture);
  }
  COLLSIM_CUDA_CHECK(answer);
}

}  // namespace

std::uint32_t resident_blocks(DataType type, std::uint32_t threads) {
  int device = 0;
  int multiprocessors = 0;
  int blocks = 0;
  COLLSIM_CUDA_CHECK(cudaGetDevice(&device));
  require_kernel(type, device);
  COLLSIM_CUDA_CHECK(
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  COLLSIM_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel_for(type),
                                                                   static_cast<int>(threads), 0));
  return static_cast<std::uint32_t>(blocks * multiprocessors);
}

void launch_interpreter(DataType type, LaunchTable launch, std::uint32_t blocks,
                        std::uint32_t threads, cudaStream_t stream) {
  void* arguments[] = {&launch};
  COLLSIM_CUDA_CHECK(cudaLaunchCooperativeKernel(kernel_for(type), dim3(blocks), dim3(threads),
                                                 arguments, 0, stream));
}

}  // namespace collsim::kernels
