#include "algorithms/nccl/machine_changes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "algorithms/nccl/machine_text.hpp"
#include "algorithms/nccl/pci_devices.hpp"

namespace collsim::nccl {

namespace {

void set_speed(MachineNic& nic, int speed) {
  for (MachineNet& net : nic.nets) {
    net.speed = speed;
  }
}

std::string_view architecture_text(CpuArchitecture architecture) {
  switch (architecture) {
    case CpuArchitecture::Arm:
      return "arm64";
    case CpuArchitecture::Power:
      return "ppc64";
    case CpuArchitecture::X86:
    case CpuArchitecture::Unknown:
      break;
  }
  return "x86_64";
}

std::optional<std::string> vendor_text(CpuVendor vendor) {
  switch (vendor) {
    case CpuVendor::Intel:
      return "GenuineIntel";
    case CpuVendor::Amd:
      return "AuthenticAMD";
    case CpuVendor::Zhaoxin:
      return "CentaurHauls";
    case CpuVendor::Unknown:
      break;
  }
  return std::nullopt;
}

/// A CPU model of the vendor that NCCL takes for the sort: one of those it asks for.
struct ModelNumbers {
  int family{0};
  int model{0};
};
std::optional<ModelNumbers> model_numbers(CpuModel model) {
  switch (model) {
    case CpuModel::Broadwell:
      return ModelNumbers{6, 0x4F};
    case CpuModel::Skylake:
      return ModelNumbers{6, 0x55};
    case CpuModel::SapphireRapids:
      return ModelNumbers{6, 0x8F};
    case CpuModel::EmeraldRapids:
      return ModelNumbers{6, 0xCF};
    case CpuModel::Yongfeng:
      return ModelNumbers{7, 0x5B};
    case CpuModel::Other:
      break;
  }
  return std::nullopt;
}

}  // namespace

void keep_gpus(Machine& machine, std::size_t count) {
  const std::vector<MachinePci*> gpus = ranked_gpus(machine);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    gpus[i]->gpu->rank = i < count ? std::optional<int>(static_cast<int>(i)) : std::nullopt;
  }
}

void set_cpus(Machine& machine, const CpuFacts& facts) {
  const auto numbers = model_numbers(facts.model);
  for (MachineCpu& cpu : machine.cpus) {
    cpu.architecture = architecture_text(facts.architecture);
    cpu.vendor = vendor_text(facts.vendor);
    cpu.family_id = numbers ? std::optional(numbers->family) : std::nullopt;
    cpu.model_id = numbers ? std::optional(numbers->model) : std::nullopt;
  }
}

void set_nic_speed(Machine& machine, float bandwidth) {
  constexpr float megabits = 8000.0F;  // of a GB/s
  const int speed = static_cast<int>(std::lround(bandwidth * megabits));
  for (MachinePci* pci : pci_devices(machine)) {
    if (pci->nic) {
      set_speed(*pci->nic, speed);
    }
  }
  for (MachineCpu& cpu : machine.cpus) {
    for (auto& device : cpu.devices) {
      if (auto* nic = std::get_if<MachineNic>(&device)) {
        set_speed(*nic, speed);
      }
    }
  }
}

bool set_gpu_pcie(Machine& machine, float bandwidth) {
  constexpr std::array<std::string_view, 5> speeds{
      "5.0 GT/s PCIe", "8.0 GT/s PCIe", "16.0 GT/s PCIe", "32.0 GT/s PCIe", "64.0 GT/s PCIe"};
  constexpr float lane_units = 80.0F;  // of 100 Mb/s in a GB/s
  for (const int width : {16, 8, 4, 2, 1}) {
    for (const std::string_view speed : speeds) {
      const float link = static_cast<float>(width * *lane_speed(speed)) / lane_units;
      if (std::abs(link - bandwidth) < 0.0501F) {  // as a log rounds it
        for (MachinePci* pci : pci_devices(machine)) {
          if (pci->gpu) {
            pci->link_speed = speed;
            pci->link_width = width;
          }
        }
        return true;
      }
    }
  }
  return false;
}

bool set_nvlinks(Machine& machine, int count) {
  bool all = true;
  for (MachinePci* pci : pci_devices(machine)) {
    if (!pci->gpu) {
      continue;
    }
    // All switches are one to NCCL.
    all = all && !pci->gpu->nvlinks.empty() &&
          std::ranges::all_of(pci->gpu->nvlinks, [&](const MachineNvlink& link) {
            const MachineNvlink& first = pci->gpu->nvlinks.front();
            return link.target == first.target ||
                   (link.target_class == first.target_class &&
                    kind_of_class(link.target_class) == PartKind::NvSwitch);
          });
    if (all) {
      pci->gpu->nvlinks.resize(1);
      pci->gpu->nvlinks.front().count = count;
    }
  }
  return all;
}

}  // namespace collsim::nccl
