#pragma once
// Changes of a node's description, each of one fact: fewer GPUs, other CPUs, faster NICs.

#include <cstddef>

#include "algorithms/nccl/machine.hpp"
#include "algorithms/nccl/system.hpp"

namespace collsim::nccl {

/// Leaves a rank to the first GPUs alone: by rank, or in the order of the file if none has one.
void keep_gpus(Machine& machine, std::size_t count);

/// Makes all CPUs such ones.
void set_cpus(Machine& machine, const CpuFacts& facts);

/// Gives all network devices one speed, GB/s.
void set_nic_speed(Machine& machine, float bandwidth);

/// Gives the links of all GPUs up one speed, GB/s. False if no PCIe link is as fast.
[[nodiscard]] bool set_gpu_pcie(Machine& machine, float bandwidth);

/// Gives all GPUs so many NVLinks to their switch or their one peer. False if a GPU has none, or has
/// links to several peers.
[[nodiscard]] bool set_nvlinks(Machine& machine, int count);

}  // namespace collsim::nccl
