// The GPUs of this machine, and which ranks run on which.

#include <cuda_runtime_api.h>

#include "kernels/cuda_check.hpp"
#include "topology/error.hpp"
#include "validate/cuda/cuda_backend.hpp"
#include "validate/cuda/cuda_execution.hpp"
#include "validate/cuda/gpu_shares.hpp"

namespace collsim {

namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string reason_for_no_gpu(cudaError_t answer) {
  if (answer == cudaSuccess) {
    return "CUDA sees 0 devices";
  }
  // What CUDA calls a driver that is too old may be none at all.
  int driver = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0) {
    return "NVIDIA's driver is not installed";
  }
  return std::string("CUDA says: ") + cudaGetErrorString(answer);
}

int gpu_count() {
  int count = 0;
  const cudaError_t answer = cudaGetDeviceCount(&count);
  if (answer != cudaSuccess || count == 0) {
    throw InputError("no GPU: " + reason_for_no_gpu(answer), "--backend",
                     "--backend host runs the same programs on threads of this machine");
  }
  return count;
}

bool all_are_peers(int count) {
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      int can = 1;
      if (from != to) {
        COLLSIM_CUDA_CHECK(cudaDeviceCanAccessPeer(&can, from, to));
      }
      if (can == 0) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

WideLines wide_lines_between(int from, int to) {
  int atomics = 1;
  if (from != to) {
    COLLSIM_CUDA_CHECK(
        cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, from, to));
  }
  return atomics != 0 ? WideLines::Carried : WideLines::Torn;
}

std::string bus_of_gpu(int device) {
  constexpr int longest = 32;
  std::string bus(longest, '\0');
  COLLSIM_CUDA_CHECK(cudaDeviceGetPCIBusId(bus.data(), longest, device));
  bus.resize(bus.find('\0'));
  return bus;
}

CudaFacts require_gpus() {
  CudaFacts facts;
  const int count = gpu_count();
  facts.gpus.reserve(static_cast<std::size_t>(count));
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties{};
    COLLSIM_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    facts.gpus.push_back({properties.name, bus_of_gpu(device), properties.totalGlobalMem,
                          static_cast<std::uint32_t>(properties.multiProcessorCount)});
  }
  int version = 0;
  COLLSIM_CUDA_CHECK(cudaDriverGetVersion(&version));
  facts.driver = version_text(version);
  COLLSIM_CUDA_CHECK(cudaRuntimeGetVersion(&version));
  facts.runtime = version_text(version);
  return facts;
}

std::vector<std::uint32_t> gpu_of_ranks(std::uint32_t ranks, GpuUse use) {
  const auto count = static_cast<std::uint32_t>(gpu_count());
  const bool all = use == GpuUse::Any || all_are_peers(static_cast<int>(count));
  return gpus_by_rank(ranks, all ? count : 1);
}

void enable_peers(std::uint32_t gpus) {
  for (std::uint32_t i = 0; i < gpus; ++i) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(static_cast<int>(i)));
    for (std::uint32_t peer = 0; peer < gpus; ++peer) {
      if (peer == i) {
        continue;
      }
      const cudaError_t answer = cudaDeviceEnablePeerAccess(static_cast<int>(peer), 0);
      if (answer == cudaErrorPeerAccessAlreadyEnabled) {
        static_cast<void>(cudaGetLastError());
      } else {
        COLLSIM_CUDA_CHECK(answer);
      }
    }
  }
}

std::uint32_t gpu_of_process(const std::vector<std::string>& hosts, std::uint32_t rank,
                             GpuUse use) {
  const HostShare share = share_of_host(hosts, rank);
  return gpu_of_ranks(share.ranks, use)[share.index];
}

}  // namespace collsim
