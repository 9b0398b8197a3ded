#pragma once
// The rules by which NCCL turns shortest paths into those it uses. Only find_paths calls them.
//
// Source: NCCL 2.28.9, src/graph/paths.cc.

#include "algorithms/nccl/options.hpp"
#include "algorithms/nccl/paths.hpp"
#include "algorithms/nccl/system.hpp"

namespace collsim::nccl {

/// Between GPUs: without P2P through the CPU; by the network where neither P2P nor shared memory is
/// possible, or the network is faster.
void divert_gpu_paths(const System& system, const DetectOptions& options, Paths& paths);

/// Between GPUs and network devices: over C2C, through a GPU close to the device (PXN), through the
/// CPU where GPUDirect RDMA is not used.
void divert_net_paths(const System& system, const DetectOptions& options, Paths& paths);

}  // namespace collsim::nccl
