#include "algorithms/nccl/fill_template.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/nccl/machine_parts.hpp"
#include "algorithms/nccl/pci_devices.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr std::string_view gpu_class = "0x03";
constexpr std::string_view nic_class = "0x02";

std::vector<MachinePci*> places_of(const std::vector<MachinePci*>& devices,
                                   std::string_view device_class) {
  std::vector<MachinePci*> places;
  for (MachinePci* pci : devices) {
    if (pci->device_class.starts_with(device_class)) {
      places.push_back(pci);
    }
  }
  return places;
}

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

void require_as_many(std::size_t places, std::size_t there, const std::string& what) {
  if (places != there) {
    throw InputError("the template has places for " + counted(places, what) +
                         ", and the machine has " + std::to_string(there),
                     "NCCL_TOPO_FILE", "a template is of one kind of machine");
  }
}

/// From the bus ids of GPUs to those of the places at the same position.
using BusNames = std::map<std::string, std::string, std::less<>>;

/// The GPU's links, with the targets' names in the file.
void take_links(const MachineGpu& from, const BusNames& names, MachineGpu& to) {
  to.nvlinks = from.nvlinks;
  to.c2cs = from.c2cs;
  for (MachineNvlink& nvlink : to.nvlinks) {
    if (const auto found = names.find(nvlink.target); found != names.end()) {
      nvlink.target = found->second;
    }
  }
}

/// GPUs by rank into places by position.
void fill_gpus(const std::vector<MachinePci*>& places, const MachineParts& hardware) {
  BusNames names;
  for (std::size_t i = 0; i < places.size(); ++i) {
    names.emplace(hardware.gpus()[i].pci->bus_id, places[i]->bus_id);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    const MachineGpu& gpu = *hardware.gpus()[i].gpu;
    const bool is_place = !places[i]->gpu;
    if (is_place) {
      places[i]->gpu = gpu;
    }
    if (is_place || (places[i]->gpu->nvlinks.empty() && places[i]->gpu->c2cs.empty())) {
      take_links(gpu, names, *places[i]->gpu);
    }
  }
}

void fill_nics(const std::vector<MachinePci*>& places, const Machine& hardware) {
  std::vector<const MachineNic*> nics;
  for (const MachinePci* pci : pci_devices(hardware)) {
    if (pci->nic) {
      nics.push_back(&*pci->nic);
    }
  }
  std::ranges::stable_sort(nics, {}, [](const MachineNic* nic) {
    return nic->nets.empty() ? 0 : nic->nets.front().dev.value_or(0);
  });
  require_as_many(places.size(), nics.size(), "NIC");
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i]->nic = *nics[i];
  }
}

}  // namespace

bool is_template(const Machine& machine) {
  const std::vector<const MachinePci*> devices = pci_devices(machine);
  const auto has_gpu = [](const MachinePci* pci) { return pci->gpu.has_value(); };
  const auto is_place = [](const MachinePci* pci) {
    return pci->device_class.starts_with(gpu_class);
  };
  return std::ranges::none_of(devices, has_gpu) && std::ranges::any_of(devices, is_place);
}

Machine fill_template(Machine file, const Machine& hardware) {
  const MachineParts parts(hardware);
  if (is_template(file)) {
    const std::vector<MachinePci*> devices = pci_devices(file);
    const std::vector<MachinePci*> places = places_of(devices, gpu_class);
    require_as_many(places.size(), parts.gpus().size(), "GPU");
    fill_gpus(places, parts);
    fill_nics(places_of(devices, nic_class), hardware);
    return file;
  }
  // Without ranks it is not told which GPU is which.
  const std::vector<MachinePci*> gpus = ranked_gpus(file);
  if (gpus.size() == parts.gpus().size() && gpus.front()->gpu->rank) {
    fill_gpus(gpus, parts);
  }
  return file;
}

}  // namespace collsim::nccl
