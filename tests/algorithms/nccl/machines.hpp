#pragma once

// Machines of textbooks, made in code: what the reference vectors of NCCL describe, without files.

#include <string>
#include <vector>

#include "algorithms/nccl/machine.hpp"

namespace collsim::test {

/// "0000:<bus>:00.0".
std::string bus(int number);

/// A PCIe device at x16 with a link speed such as "32.0 GT/s PCIe".
nccl::MachinePci pci_device(int bus_number, const std::string& device_class,
                            const std::string& speed);

/// A GPU of an NVLink domain with one NVSwitch; no NVLinks: 0.
nccl::MachinePci gpu_device(int bus_number, int rank, int sm, int nvlinks,
                            const std::string& speed);

/// A NIC with one network device of a speed in Mb/s.
nccl::MachinePci nic_device(int bus_number, int dev, int speed_mbps, const std::string& speed);

nccl::MachineCpu intel_cpu(int numa_id, int model_id);
nccl::MachineCpu amd_cpu(int numa_id);

/// Two Intel sockets; each GPU on a PCIe switch of its own with a NIC (speed in Mb/s; 0: none); NVLinks to
/// one NVSwitch.
nccl::Machine nic_per_gpu(int gpus, int sm, int nvlinks, int nic_mbps, const std::string& speed);
/// Makes the NICs of such a machine reduce in the network.
void let_nets_reduce(nccl::Machine& machine);

/// An NVLink domain of Grace hosts: two CPUs a host, two GPUs of sm 100 a CPU, each with 18 NVLinks
/// and a NIC of 400 Gb/s at its CPU.
nccl::Machine grace_domain(int gpus);

}  // namespace collsim::test
