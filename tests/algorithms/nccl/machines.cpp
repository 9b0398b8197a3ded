#include "tests/algorithms/nccl/machines.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

namespace collsim::test {

using nccl::Machine;
using nccl::MachineCpu;
using nccl::MachineGpu;
using nccl::MachineNet;
using nccl::MachineNic;
using nccl::MachinePci;

std::string bus(int number) {
  std::array<char, 8> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16);
  std::string hex(digits.data(), end.ptr);
  hex.insert(0, 6 - hex.size(), '0');
  return hex.substr(0, 4) + ":" + hex.substr(4) + ":00.0";
}

MachinePci pci_device(int bus_number, const std::string& device_class, const std::string& speed) {
  MachinePci pci;
  pci.bus_id = bus(bus_number);
  pci.device_class = device_class;
  pci.link_speed = speed;
  pci.link_width = 16;
  return pci;
}

MachinePci gpu_device(int bus_number, int rank, int sm, int nvlinks, const std::string& speed) {
  MachinePci pci = pci_device(bus_number, "0x030200", speed);
  pci.gpu = MachineGpu{rank, sm, rank, true, {}, {}};
  if (nvlinks > 0) {
    pci.gpu->nvlinks.push_back({"0000:fe:00.0", nvlinks, "0x068000"});
  }
  return pci;
}

MachinePci nic_device(int bus_number, int dev, int speed_mbps, const std::string& speed) {
  MachinePci pci = pci_device(bus_number, "0x020700", speed);
  MachineNet net;
  net.name = "mlx5_" + std::to_string(dev);
  net.dev = dev;
  net.speed = speed_mbps;
  net.port = 1;
  net.guid = "0x" + std::to_string(100 + dev);
  net.gdr = true;
  pci.nic = MachineNic{{std::move(net)}};
  return pci;
}

MachineCpu intel_cpu(int numa_id, int model_id) {
  return {numa_id, "0x0", "ffff", "x86_64", "GenuineIntel", 6, model_id, {}};
}

MachineCpu amd_cpu(int numa_id) {
  return {numa_id, "0x0", "ffff", "x86_64", "AuthenticAMD", 25, 1, {}};
}

Machine nic_per_gpu(int gpus, int sm, int nvlinks, int nic_mbps, const std::string& speed) {
  Machine machine;
  machine.cpus = {intel_cpu(0, 143), intel_cpu(1, 143)};
  for (int gpu = 0; gpu < gpus; ++gpu) {
    MachinePci pci_switch = pci_device(16 * (gpu + 1), "0x060400", speed);
    pci_switch.children.push_back(gpu_device(16 * (gpu + 1) + 1, gpu, sm, nvlinks, speed));
    if (nic_mbps > 0) {
      pci_switch.children.push_back(nic_device(16 * (gpu + 1) + 2, gpu, nic_mbps, speed));
    }
    machine.cpus[gpu < gpus / 2 ? 0 : 1].devices.emplace_back(std::move(pci_switch));
  }
  return machine;
}

void let_nets_reduce(Machine& machine) {
  for (MachineCpu& cpu : machine.cpus) {
    for (auto& device : cpu.devices) {
      std::get<MachinePci>(device).children.at(1).nic->nets.at(0).collective = true;
    }
  }
}

Machine grace_domain(int gpus) {
  Machine machine;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    const int host = gpu / 4;
    if (gpu % 2 == 0) {
      MachineCpu cpu;
      cpu.numa_id = gpu / 2 % 2;
      cpu.host_hash = "0x" + std::to_string(1 + host);
      cpu.architecture = "arm64";
      machine.cpus.push_back(cpu);
    }
    const std::string speed = "32.0 GT/s PCIe";
    MachinePci device = gpu_device(16 * (gpu + 1), gpu, 100, 18, speed);
    device.gpu->dev = gpu % 4;
    device.gpu->c2cs.push_back({44712, 10});
    machine.cpus.back().devices.emplace_back(std::move(device));
    MachinePci nic = nic_device(16 * (gpu + 1) + 8, gpu % 4, 400000, speed);
    nic.nic->nets.front().guid = "0x" + std::to_string(1000 + gpu);
    machine.cpus.back().devices.emplace_back(std::move(nic));
  }
  return machine;
}

}  // namespace collsim::test
