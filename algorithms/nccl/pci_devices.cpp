#include "algorithms/nccl/pci_devices.hpp"

#include <algorithm>
#include <variant>

#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

// `Pci` is MachinePci, constant or not.

template <class Pci>
void add_devices(Pci& pci, std::vector<Pci*>& devices) {
  devices.push_back(&pci);
  for (auto& child : pci.children) {
    add_devices(child, devices);
  }
}

template <class Pci, class AnyMachine>
std::vector<Pci*> devices_of(AnyMachine& machine) {
  std::vector<Pci*> devices;
  for (auto& cpu : machine.cpus) {
    for (auto& device : cpu.devices) {
      if (auto* pci = std::get_if<MachinePci>(&device)) {
        add_devices<Pci>(*pci, devices);
      }
    }
  }
  return devices;
}

template <class Pci>
std::vector<Pci*> ranked(std::vector<Pci*> devices) {
  std::erase_if(devices, [](const MachinePci* pci) { return !pci->gpu; });
  const auto has_rank = [](const MachinePci* pci) { return pci->gpu->rank.has_value(); };
  if (std::ranges::any_of(devices, has_rank)) {
    std::erase_if(devices, [&](const MachinePci* pci) { return !has_rank(pci); });
    std::ranges::stable_sort(devices, {}, [](const MachinePci* pci) { return *pci->gpu->rank; });
  }
  return devices;
}

}  // namespace

std::vector<MachinePci*> pci_devices(Machine& machine) { return devices_of<MachinePci>(machine); }

std::vector<const MachinePci*> pci_devices(const Machine& machine) {
  return devices_of<const MachinePci>(machine);
}

std::vector<MachinePci*> ranked_gpus(Machine& machine) { return ranked(pci_devices(machine)); }

std::vector<const MachinePci*> ranked_gpus(const Machine& machine) {
  return ranked(pci_devices(machine));
}

void refuse_without_gpu() {
  throw InputError(
      "the node has no GPU", {},
      "templates of clouds leave the GPUs to NCCL: take a dump of a running job "
      "(NCCL_TOPO_DUMP_FILE), or name the machine with --cluster and the template with "
      "--env NCCL_TOPO_FILE=FILE");
}

}  // namespace collsim::nccl
