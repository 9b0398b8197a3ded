#include "algorithms/nccl/machine_parts.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include "algorithms/nccl/machine_text.hpp"
#include "algorithms/nccl/pci_devices.hpp"

namespace collsim::nccl {

namespace {

/// Whether NCCL finds a part that it uses here or below.
bool is_used(const MachinePci& pci) {
  if (pci.gpu || (pci.nic && std::ranges::any_of(pci.nic->nets, [](const MachineNet& net) {
                    return net.dev.has_value();
                  }))) {
    return true;
  }
  return std::ranges::any_of(pci.children, is_used);
}

}  // namespace

bool ends_at_switch(const MachineNvlink& nvlink) {
  const PartKind kind = kind_of_class(nvlink.target_class).value_or(PartKind::Pci);
  const bool accelerator = nvlink.target_class.starts_with("0x12");  // some of AMD's GPUs
  return kind != PartKind::Gpu && kind != PartKind::Cpu && !accelerator;
}

MachineParts::MachineParts(const Machine& machine) : machine_(&machine) {
  number_gpus();
  gpus_.resize(number_of_bus_.size());
  for (std::size_t i = 0; i < machine.cpus.size(); ++i) {
    const std::string cpu = "cpu" + std::to_string(i);
    host_ = host_number(machine.cpus[i].host_hash.value_or(""));
    for (const auto& device : machine.cpus[i].devices) {
      if (const auto* pci = std::get_if<MachinePci>(&device)) {
        visit(*pci, cpu, cpu);
        continue;
      }
      add_nets(std::get<MachineNic>(device), nullptr, cpu);
    }
  }
  for (const GpuPart& part : gpus_) {
    has_nvswitch_ = has_nvswitch_ || std::ranges::any_of(part.gpu->nvlinks, ends_at_switch);
  }
}

void MachineParts::number_gpus() {
  for (const MachinePci* pci : ranked_gpus(*machine_)) {
    number_of_bus_.emplace(pci->bus_id, number_of_bus_.size());
  }
  if (number_of_bus_.empty()) {
    refuse_without_gpu();
  }
}

std::optional<std::size_t> MachineParts::gpu_at(std::string_view bus_id) const {
  const auto found = number_of_bus_.find(bus_id);
  return found == number_of_bus_.end() ? std::nullopt : std::optional<std::size_t>(found->second);
}

void MachineParts::visit(const MachinePci& pci, const std::string& upper, const std::string& cpu) {
  if (!is_used(pci)) {
    return;
  }
  if (pci.gpu) {
    if (const auto number = gpu_at(pci.bus_id)) {
      std::string name = "gpu" + std::to_string(*number);
      links_.push_back({&pci, nullptr, name, upper});
      gpus_[*number] = {&*pci.gpu, &pci, *number, std::move(name), cpu};
    }
    return;
  }
  if (pci.nic) {
    add_nets(*pci.nic, &pci, upper);
    return;
  }
  const std::string name = "pcie-switch" + std::to_string(switches_.size());
  switches_.push_back(&pci);
  links_.push_back({&pci, nullptr, name, upper});
  for (const MachinePci& child : pci.children) {
    visit(child, name, cpu);
  }
}

void MachineParts::add_nets(const MachineNic& nic, const MachinePci* pci,
                            const std::string& upper) {
  for (const MachineNet& net : nic.nets) {
    if (net.dev && numbers_of_nets_.emplace(host_, *net.dev).second) {
      links_.push_back({pci, &net, "nic" + std::to_string(nets_.size()), upper});
      nets_.push_back({&net, pci, host_});
    }
  }
}

std::size_t MachineParts::hosts() const {
  // By host, in order: CPUs, and what stands below them.
  struct Share {
    std::string host;
    std::size_t cpus{0};
    std::size_t gpus{0};
  };
  std::vector<Share> shares;
  std::map<std::string, std::size_t> gpus_of_cpu;
  for (const GpuPart& part : gpus_) {
    ++gpus_of_cpu[part.cpu];
  }
  for (std::size_t i = 0; i < machine_->cpus.size(); ++i) {
    const std::string host = machine_->cpus[i].host_hash.value_or("");
    if (shares.empty() || shares.back().host != host) {
      shares.push_back({host});
    }
    ++shares.back().cpus;
    shares.back().gpus += gpus_of_cpu["cpu" + std::to_string(i)];
  }
  const bool even = std::ranges::all_of(shares, [&shares](const Share& share) {
    return std::tie(share.cpus, share.gpus) == std::tie(shares[0].cpus, shares[0].gpus);
  });
  const bool dealt = nets_.size() % shares.size() == 0 && switches_.size() % shares.size() == 0;
  return even && dealt ? shares.size() : 1;
}

}  // namespace collsim::nccl
