#include "algorithms/nccl/io/machine_yaml_parts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "algorithms/nccl/hex_text.hpp"
#include "algorithms/nccl/machine_text.hpp"
#include "algorithms/nccl/pci_devices.hpp"
#include "topology/quantity_text.hpp"

namespace collsim::nccl {

namespace {

/// Entries of a family whose members have these further keys: one entry where all have the same.
std::string family_text(const std::string& name, const std::vector<std::string>& keys) {
  const std::string kind = name == "nic" ? "nic" : "pcie-switch";
  const auto entry = [&](const std::string& named, const std::string& further) {
    return "    - { name: " + named + ", kind: " + kind + further + " }\n";
  };
  if (keys.empty()) {
    return {};
  }
  if (std::ranges::all_of(keys, [&](const std::string& own) { return own == keys.front(); })) {
    return entry(name, ", count: " + std::to_string(keys.size()) + keys.front());
  }
  std::string text;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    text += entry(name + std::to_string(i), keys[i]);
  }
  return text;
}

/// Of Broadcom's switches, which NCCL knows by it; nothing of others.
std::string pci_ids_text(const MachinePci& pci) {
  constexpr std::int64_t broadcom = 0x1000;
  constexpr std::int64_t most = 0xffff;
  std::string text;
  for (const auto& id : {pci.vendor, pci.device, pci.subsystem_vendor, pci.subsystem_device}) {
    const std::int64_t number = c_number(id.value_or(""));
    if (number < 0 || number > most) {
      return {};
    }
    text += (text.empty() ? "" : ":") + hex(static_cast<std::uint32_t>(number), 4);
  }
  const bool known = c_number(pci.vendor.value_or("")) == broadcom;
  return known ? ", pci_ids: \"" + text + "\"" : std::string();
}

/// What tells cables apart: host, asic, port. NICs of several hosts share one if they say so.
using Cable = std::pair<std::uint64_t, int>;

std::uint64_t asic_of(const MachineNet& net) {
  return net.guid ? asic_of_guid(*net.guid) : static_cast<std::uint64_t>(*net.dev);
}

Cable cable_of(const MachineNet& net) { return {asic_of(net), net.port.value_or(0)}; }

std::string hexadecimal(std::uint64_t number) {
  const std::string low = hex(static_cast<std::uint32_t>(number), 8);
  const std::string high = hex(static_cast<std::uint32_t>(number >> 32U), 8);
  return "0x" + (number >> 32U == 0 ? low : high + low);
}

/// The keys of a NIC.
class NicKeys {
 public:
  NicKeys(const MachineParts& parts, std::vector<std::string>& notes)
      : usual_(usual_net_bandwidth(parts)), notes_(notes) {
    for (const NetPart& part : parts.nets()) {
      ++users_[cable_of(*part.net)];
      if (part.pci != nullptr) {
        ++on_pci_[part.pci];
      }
    }
  }

  /// Called for each NIC in order.
  std::string next(const NetPart& part) {
    const MachineNet& net = *part.net;
    std::string text;
    if (net_bandwidth(net) != usual_) {
      text += ", speed: " + to_text(net_bandwidth(net));
    }
    text += latency_text(net);
    if (!net.gdr) {
      text += ", gpudirect: false";
    }
    if (net.collective) {
      text += ", collnet: true";
    }
    if (part.pci != nullptr && on_pci_.at(part.pci) > 1) {
      text += ", card: " + std::to_string(card_of(part.pci));
    }
    if (users_.at(cable_of(net)) > 1) {
      text += ", guid: " + hexadecimal(asic_of(net));
      // Ports are compared only: odd numbers may wrap.
      text += ", port: " + std::to_string(static_cast<std::uint16_t>(net.port.value_or(0)));
    }
    if (net.dev != static_cast<int>(index_)) {
      text += ", number: " + std::to_string(*net.dev);
    }
    ++index_;
    return text;
  }

 private:
  std::string latency_text(const MachineNet& net) {
    constexpr double picoseconds_in_microsecond = 1e6;
    constexpr double most = 1e6;  // us; a description takes no more than an hour
    const auto latency = static_cast<double>(net.latency.value_or(0.0F));
    if (latency == 0) {
      return {};
    }
    if (!(latency > 0) || latency > most) {
      notes_.push_back("the latency of " + net.name + " is none that a link can have: left out");
      return {};
    }
    const auto picoseconds = std::llround(latency * picoseconds_in_microsecond);
    return ", latency: " + to_text(Duration(picoseconds));
  }

  std::size_t card_of(const MachinePci* pci) {
    return cards_.try_emplace(pci, cards_.size()).first->second;
  }

  Bandwidth usual_;
  std::vector<std::string>& notes_;
  std::map<Cable, int> users_{};
  std::map<const MachinePci*, int> on_pci_{};
  std::map<const MachinePci*, std::size_t> cards_{};
  std::size_t index_{0};
};

/// Whether the GPUs have the numbers that a description gives them by itself.
bool numbered_in_order(const MachineParts& parts) {
  const std::size_t each = parts.gpus().size() / parts.hosts();
  return std::ranges::all_of(parts.gpus(), [each](const GpuPart& part) {
    return part.gpu->dev == static_cast<int>(part.number % each);
  });
}

bool leads_to_cpu(const MachineNvlink& nvlink) {
  return kind_of_class(nvlink.target_class) == PartKind::Cpu;
}

/// Whether NCCL meets the GPUs that one is linked to in the order of the file: a description has those
/// of lower number first, as links stand at the lower end.
bool keeps_order(const GpuPart& part, const MachineParts& parts) {
  using Peer = std::pair<std::size_t, int>;  // number, links bonded
  std::vector<Peer> in_file;
  for (const MachineNvlink& nvlink : part.gpu->nvlinks) {
    if (const auto peer = ends_at_switch(nvlink) ? std::nullopt : parts.gpu_at(nvlink.target)) {
      in_file.emplace_back(*peer, nvlink.count);
    }
  }
  std::vector<Peer> described = in_file;
  const auto higher =
      std::stable_partition(described.begin(), described.end(),
                            [&part](const Peer& peer) { return peer.first < part.number; });
  std::sort(described.begin(), higher);
  // NCCL sorts by bandwidth.
  for (std::vector<Peer>* peers : {&in_file, &described}) {
    std::ranges::stable_sort(*peers, std::greater<>(), &Peer::second);
  }
  return in_file == described;
}

void note_cpus(const Machine& machine, std::vector<std::string>& notes) {
  for (std::size_t i = 0; i < machine.cpus.size(); ++i) {
    const CpuFacts facts = cpu_facts(machine.cpus[i]);
    const bool known = facts.architecture == CpuArchitecture::X86
                           ? facts.vendor != CpuVendor::Unknown
                           : facts.architecture != CpuArchitecture::Unknown;
    if (!known) {
      notes.push_back("cpu" + std::to_string(i) +
                      " is none that NCCL knows: taken as Intel's, which has slower links");
    }
  }
}

}  // namespace

Bandwidth net_bandwidth(const MachineNet& net) {
  constexpr int default_speed = 10'000;
  constexpr std::int64_t bytes_in_megabit = 125'000;
  return Bandwidth::bytes_per_second(std::int64_t{net.speed > 0 ? net.speed : default_speed} *
                                     bytes_in_megabit);
}

Bandwidth usual_net_bandwidth(const MachineParts& parts) {
  std::map<std::int64_t, std::pair<std::size_t, Bandwidth>> speeds;
  for (const NetPart& part : parts.nets()) {
    auto& [count, bandwidth] = speeds[net_bandwidth(*part.net).units()];
    ++count;
    bandwidth = net_bandwidth(*part.net);
  }
  return std::ranges::max_element(speeds, {}, [](const auto& entry) { return entry.second.first; })
      ->second.second;
}

std::string gpus_text(const MachineParts& parts, std::vector<std::string>& notes) {
  const auto differ = [&parts](const auto& of) {
    return std::ranges::any_of(
        parts.gpus(), [&](const GpuPart& part) { return of(part) != of(parts.gpus().front()); });
  };
  if (differ([](const GpuPart& part) { return part.gpu->sm; })) {
    notes.emplace_back("the GPUs differ in compute capability: that of the first is kept");
  }
  if (differ([](const GpuPart& part) { return part.gpu->gdr; })) {
    notes.emplace_back("the GPUs differ in GPUDirect RDMA (gdr): that of the first is kept");
  }
  std::string text;
  if (!parts.gpus().front().gpu->gdr) {
    text += "  gpudirect: false\n";
  }
  if (!numbered_in_order(parts)) {
    std::string numbers;
    for (const GpuPart& part : parts.gpus()) {
      numbers += (numbers.empty() ? "" : ", ") + std::to_string(part.gpu->dev);
    }
    text += "  cuda_devices: [" + numbers + "]\n";
  }
  return text;
}

std::string switches_text(const MachineParts& parts) {
  std::vector<std::string> keys;
  for (const MachinePci* pci : parts.switches()) {
    keys.push_back(pci_ids_text(*pci));
  }
  return family_text("pcie-switch", keys);
}

std::string nics_text(const MachineParts& parts, std::vector<std::string>& notes) {
  if (parts.nets().empty()) {
    return {};
  }
  NicKeys of(parts, notes);
  std::vector<std::string> keys;
  std::set<const MachinePci*> cards;
  bool shared = false;
  bool unlike = false;
  for (const NetPart& part : parts.nets()) {
    keys.push_back(of.next(part));
    shared = shared || (part.pci != nullptr && !cards.insert(part.pci).second);
    unlike = unlike || net_bandwidth(*part.net) != usual_net_bandwidth(parts);
  }
  if (unlike) {
    notes.push_back(
        "the NICs differ in speed: NCCL's choices go by each one's, the cables all carry " +
        to_text(usual_net_bandwidth(parts)));
  }
  if (shared) {
    notes.emplace_back(
        "NICs of one card are one PCIe device in NCCL's choices; in simulated time each has the "
        "card's PCIe link to itself");
  }
  return family_text("nic", keys);
}

void note_lost_parts(const Machine& machine, const MachineParts& parts,
                     std::vector<std::string>& notes) {
  note_cpus(machine, notes);
  const auto pci = pci_devices(machine);
  if (std::ranges::any_of(pci, [](const MachinePci* own) { return !own->peer_switches.empty(); })) {
    notes.emplace_back("links between PCIe switches (pcilink) are left out: NCCL uses them");
  }
  bool to_cpu = false;
  bool reordered = false;
  for (const GpuPart& part : parts.gpus()) {
    to_cpu = to_cpu || std::ranges::any_of(part.gpu->nvlinks, leads_to_cpu);
    reordered = reordered || !keeps_order(part, parts);
  }
  if (to_cpu) {
    notes.emplace_back("NVLinks between GPUs and CPUs are left out: NCCL uses them");
  }
  if (reordered) {
    notes.emplace_back(
        "the NVLinks of a GPU stand in another order than in the file: where NCCL finds equal "
        "ways, it may take another");
  }
  std::set<std::uint64_t> hosts;
  for (const MachineCpu& cpu : machine.cpus) {
    hosts.insert(host_number(cpu.host_hash.value_or("")));
  }
  if (hosts.size() != parts.hosts()) {
    notes.push_back("the file's " + std::to_string(hosts.size()) +
                    " hosts have not as many devices each: they are taken as one");
  }
}

}  // namespace collsim::nccl
