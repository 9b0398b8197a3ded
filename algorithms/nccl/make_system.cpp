// From the file's view of a node to NCCL's: parts in the order of the file, then NVLinks, coherent
// links, links between switches, links between CPUs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/nccl/machine.hpp"
#include "algorithms/nccl/machine_text.hpp"
#include "algorithms/nccl/pci_devices.hpp"
#include "algorithms/nccl/system.hpp"
#include "algorithms/nccl/system_draft.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

using Index = SystemDraft::Index;

/// Only what is below switches counts.
bool is_switch(const MachinePci& pci) {
  return !pci.gpu && !pci.nic &&
         kind_of_class(pci.device_class).value_or(PartKind::Pci) == PartKind::Pci;
}

void visit_pci(const MachinePci& pci, const std::function<void(const MachinePci&)>& visit) {
  visit(pci);
  if (is_switch(pci)) {
    for (const MachinePci& child : pci.children) {
      visit_pci(child, visit);
    }
  }
}

void visit_all(const MachineCpu& cpu, const std::function<void(const MachinePci&)>& visit) {
  for (const auto& device : cpu.devices) {
    if (const auto* pci = std::get_if<MachinePci>(&device)) {
      visit_pci(*pci, visit);
    }
  }
}

/// The rank within the node of each GPU that takes part.
class LocalRanks {
 public:
  explicit LocalRanks(const Machine& machine) {
    for (const MachineCpu& cpu : machine.cpus) {
      visit_all(cpu, [this](const MachinePci& pci) {
        if (pci.gpu) {
          ++gpus_;
          if (pci.gpu->rank && !local_.try_emplace(*pci.gpu->rank, 0).second) {
            throw InputError("two GPUs have rank " + std::to_string(*pci.gpu->rank), {},
                             "a rank is one GPU's");
          }
        }
      });
    }
    if (gpus_ == 0) {
      refuse_without_gpu();
    }
    for (int next = 0; auto& [rank, local] : local_) {
      local = next++;
    }
  }

  /// Called once a GPU, in the order of the file.
  std::optional<int> next(const MachineGpu& gpu) {
    if (local_.empty()) {
      return unranked_++;
    }
    return gpu.rank ? std::optional<int>(local_.at(*gpu.rank)) : std::nullopt;
  }

 private:
  std::size_t gpus_ = 0;
  std::map<int, int> local_;  // rank of the file → 0, 1, ...
  int unranked_ = 0;
};

class Builder {
 public:
  Builder(const Machine& machine, const LinkSpeeds& speeds)
      : machine_(machine), speeds_(speeds), ranks_(machine) {}

  System build() {
    for (const MachineCpu& cpu : machine_.cpus) {
      hosts_.push_back(host_of(cpu));
      add_cpu(cpu, hosts_.back());
    }
    each([this](const MachinePci& pci, std::size_t host) { add_nvlinks(pci, host); });
    each([this](const MachinePci& pci, std::size_t host) { add_c2cs(pci, host); });
    each([this](const MachinePci& pci, std::size_t host) { add_switch_links(pci, host); });
    draft_.flatten_switches();
    draft_.connect_cpus(speeds_);
    draft_.sort_links();
    return draft_.freeze();
  }

 private:
  std::size_t host_of(const MachineCpu& cpu) {
    const std::uint64_t hash = host_number(cpu.host_hash.value_or(""));
    const auto known = std::find(host_hashes_.begin(), host_hashes_.end(), hash);
    const auto host = static_cast<std::size_t>(known - host_hashes_.begin());
    if (known == host_hashes_.end()) {
      host_hashes_.push_back(hash);
    }
    return host;
  }

  template <class Add>
  void each(const Add& add) {
    for (std::size_t c = 0; c < machine_.cpus.size(); ++c) {
      visit_all(machine_.cpus[c], [&](const MachinePci& pci) { add(pci, hosts_[c]); });
    }
  }

  Index add_part(PartKind kind, std::size_t host, std::uint64_t address) {
    Part part{};
    part.kind = kind;
    part.host = host;
    part.address = address;
    return draft_.add(std::move(part));
  }

  void connect_both(Index a, Index b, PartLinkKind kind, float bandwidth) {
    draft_.connect(a, b, kind, bandwidth);
    draft_.connect(b, a, kind, bandwidth);
  }

  void add_cpu(const MachineCpu& cpu, std::size_t host) {
    const Index index = add_part(
        PartKind::Cpu, host, static_cast<std::uint64_t>(static_cast<std::int64_t>(cpu.numa_id)));
    draft_.part(index).cpu = cpu_facts(cpu);
    for (const auto& device : cpu.devices) {
      if (const auto* pci = std::get_if<MachinePci>(&device)) {
        add_pci(*pci, index, index, host);
      } else {
        // NICs without a PCIe device are one NIC, at the CPU where the first of them stands.
        std::optional<Index> nic = draft_.find(PartKind::Nic, host, 0);
        if (!nic) {
          nic = add_part(PartKind::Nic, host, 0);
          connect_both(index, *nic, PartLinkKind::Pci, speeds_.local);
        }
        add_nets(std::get<MachineNic>(device), *nic, host);
      }
    }
  }

  void add_pci(const MachinePci& pci, Index parent, Index cpu, std::size_t host) {
    const std::uint64_t address = bus_number(pci.bus_id);
    std::optional<Index> added;
    if (pci.gpu) {
      const std::optional<int> rank = ranks_.next(*pci.gpu);
      if (!rank) {
        return;
      }
      added = add_part(PartKind::Gpu, host, address);
      draft_.part(*added).gpu = {pci.gpu->dev, pci.gpu->sm, *rank, pci.gpu->gdr};
      cpu_of_gpu_[{host, address}] = cpu;
    }
    if (pci.nic) {
      std::optional<Index> nic = draft_.find(PartKind::Nic, host, address);
      if (!nic) {
        nic = added = add_part(PartKind::Nic, host, address);
      }
      add_nets(*pci.nic, *nic, host);
    } else if (is_switch(pci)) {
      added = add_part(PartKind::Pci, host, address);
      draft_.part(*added).pci_model = model_of(pci);
      for (const MachinePci& child : pci.children) {
        add_pci(child, *added, cpu, host);
      }
    }
    if (added) {
      const int width = pci.link_width == 0 ? 16 : pci.link_width;
      const double bandwidth =
          static_cast<double>(width) * lane_speed(pci.link_speed).value_or(60) / 80.0;
      connect_both(*added, parent, PartLinkKind::Pci, static_cast<float>(bandwidth));
    }
  }

  static std::uint64_t model_of(const MachinePci& pci) {
    const auto number = [](const std::optional<std::string>& text) {
      return text ? static_cast<std::uint64_t>(c_number(*text)) : 0;
    };
    return (number(pci.vendor) << 48U) + (number(pci.device) << 32U) +
           (number(pci.subsystem_vendor) << 16U) + number(pci.subsystem_device);
  }

  void add_nets(const MachineNic& nic, Index parent, std::size_t host) {
    for (const MachineNet& net : nic.nets) {
      // NCCL finds a device by its number: a second of the number is never found.
      if (!net.dev || draft_.find(PartKind::Net, host, static_cast<std::uint64_t>(*net.dev))) {
        continue;
      }
      const Index index = add_part(PartKind::Net, host, static_cast<std::uint64_t>(*net.dev));
      NetFacts& facts = draft_.part(index).net;
      facts.dev = *net.dev;
      facts.asic = net.guid ? asic_of_guid(*net.guid) : static_cast<std::uint64_t>(*net.dev);
      facts.port = net.port.value_or(0);
      facts.bandwidth = static_cast<float>((net.speed > 0 ? net.speed : 10000) / 8000.0);
      facts.latency = net.latency.value_or(0.0F);
      facts.gdr = net.gdr;
      facts.collective = net.collective;
      connect_both(parent, index, PartLinkKind::Network, facts.bandwidth);
    }
  }

  void add_nvlinks(const MachinePci& pci, std::size_t host) {
    const auto gpu = gpu_of(pci, host);
    if (!gpu) {
      return;
    }
    const float one = nvlink_bandwidth(speeds_, draft_.part(*gpu).gpu.sm);
    for (const MachineNvlink& nvlink : pci.gpu->nvlinks) {
      const float bandwidth = static_cast<float>(nvlink.count) * one;
      const PartKind peer = kind_of_class(nvlink.target_class).value_or(PartKind::Pci);
      if (peer == PartKind::Gpu) {
        // The file of part of a machine names GPUs that are not in it.
        if (const auto target = draft_.find(PartKind::Gpu, host, bus_number(nvlink.target))) {
          draft_.connect(*gpu, *target, PartLinkKind::Nvlink, bandwidth);
        }
      } else if (peer == PartKind::Cpu) {
        connect_both(*gpu, cpu_of_gpu_.at({host, bus_number(pci.bus_id)}), PartLinkKind::Nvlink,
                     bandwidth);
      } else {
        std::optional<Index> nvswitch = draft_.first(PartKind::NvSwitch);
        if (!nvswitch) {
          nvswitch = add_part(PartKind::NvSwitch, 0, 0);
        }
        connect_both(*gpu, *nvswitch, PartLinkKind::Nvlink, bandwidth);
      }
    }
  }

  void add_c2cs(const MachinePci& pci, std::size_t host) {
    if (const auto gpu = gpu_of(pci, host)) {
      for (const MachineC2c& c2c : pci.gpu->c2cs) {
        const double bandwidth = static_cast<double>(c2c.bandwidth) * c2c.count / 1000.0;
        connect_both(*gpu, cpu_of_gpu_.at({host, bus_number(pci.bus_id)}), PartLinkKind::C2c,
                     static_cast<float>(bandwidth));
      }
    }
  }

  void add_switch_links(const MachinePci& pci, std::size_t host) {
    for (const std::string& target : pci.peer_switches) {
      const auto from = draft_.find(PartKind::Pci, host, bus_number(pci.bus_id));
      const auto to = draft_.find(PartKind::Pci, host, bus_number(target));
      if (from && to) {
        draft_.connect(*from, *to, PartLinkKind::Local, speeds_.local);
      }
    }
  }

  std::optional<Index> gpu_of(const MachinePci& pci, std::size_t host) const {
    return pci.gpu ? draft_.find(PartKind::Gpu, host, bus_number(pci.bus_id)) : std::nullopt;
  }

  const Machine& machine_;
  const LinkSpeeds& speeds_;
  LocalRanks ranks_;
  SystemDraft draft_;
  std::vector<std::uint64_t> host_hashes_;
  std::vector<std::size_t> hosts_;  // of each CPU
  std::map<std::pair<std::size_t, std::uint64_t>, Index> cpu_of_gpu_;
};

}  // namespace

System make_system(const Machine& machine, const LinkSpeeds& speeds) {
  if (machine.maker == Maker::Amd) {
    throw InputError("the GPUs are AMD's: what RCCL decides is not modelled");
  }
  return Builder(machine, speeds).build();
}

}  // namespace collsim::nccl
