#include "algorithms/nccl/io/machine_yaml.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "algorithms/nccl/io/machine_yaml_parts.hpp"
#include "algorithms/nccl/machine_parts.hpp"
#include "algorithms/nccl/machine_text.hpp"
#include "algorithms/nccl/pcie_sort.hpp"
#include "topology/error.hpp"
#include "topology/quantity_text.hpp"

namespace collsim::nccl {

namespace {

constexpr std::int64_t megabyte = 1'000'000;

/// "{ from: gpu0, to: nvswitch, kind: nvlink, bonded: 18, bandwidth: 450 GB/s, latency: 117.5 ns }"
std::string link_text(const std::string& from, const std::string& to, const std::string& kind,
                      int bonded, Bandwidth bandwidth, const std::string& latency) {
  std::string text = "  - { from: " + from;
  text += ", to: " + to;
  text += ", kind: " + kind;
  if (bonded > 1) {
    text += ", bonded: " + std::to_string(bonded);
  }
  text += ", bandwidth: " + to_text(bandwidth);
  text += ", latency: " + latency + " }\n";
  return text;
}

/// Nominal, of one NVLink: bandwidth and the latency from GPU to GPU.
struct LinkSort {
  int least_sm;
  std::int64_t bytes;
  std::int64_t picoseconds;
};
constexpr std::array<LinkSort, 6> nvlink_sorts{{{100, 50'000'000'000, 600'000},
                                                {90, 25'000'000'000, 235'000},
                                                {86, 14'062'500'000, 300'000},
                                                {80, 25'000'000'000, 300'000},
                                                {70, 25'000'000'000, 500'000},
                                                {0, 20'000'000'000, 500'000}}};

LinkSort nvlink_sort(int sm) {
  return *std::ranges::find_if(nvlink_sorts,
                               [sm](const LinkSort& sort) { return sm >= sort.least_sm; });
}

/// Nominal, of one xGMI link; those of MI250X where the GPU is not known.
struct XgmiSort {
  std::string_view gcn;
  std::int64_t bytes;
};
constexpr std::array<XgmiSort, 6> xgmi_sorts{{{"gfx94", 64'000'000'000},
                                              {"94", 64'000'000'000},
                                              {"gfx95", 76'500'000'000},
                                              {"95", 76'500'000'000},
                                              {"gfx90a", 50'000'000'000},
                                              {"910", 50'000'000'000}}};
constexpr std::int64_t xgmi_otherwise = 50'000'000'000;

/// Between two CPUs, by their sort: as the nodes of configs/nodes have it.
Bandwidth socket_bandwidth(const MachineCpu& cpu) {
  const CpuFacts facts = cpu_facts(cpu);
  if (facts.architecture == CpuArchitecture::Arm) {
    return Bandwidth::bytes_per_second(100'000 * megabyte);
  }
  if (facts.vendor == CpuVendor::Amd) {
    return Bandwidth::bytes_per_second(96'000 * megabyte);
  }
  switch (facts.model) {
    case CpuModel::EmeraldRapids:
      return Bandwidth::bytes_per_second(240'000 * megabyte);
    case CpuModel::SapphireRapids:
      return Bandwidth::bytes_per_second(144'000 * megabyte);
    case CpuModel::Skylake:
      return Bandwidth::bytes_per_second(62'400 * megabyte);
    default:
      return Bandwidth::bytes_per_second(38'400 * megabyte);
  }
}

std::string processor_text(const MachineCpu& cpu) {
  const CpuFacts facts = cpu_facts(cpu);
  if (facts.architecture == CpuArchitecture::Arm) {
    return "{ vendor: arm }";
  }
  if (facts.architecture == CpuArchitecture::Power) {
    return "{ vendor: power }";
  }
  std::string vendor = "intel";
  if (facts.vendor == CpuVendor::Amd) {
    vendor = "amd";
  } else if (facts.vendor == CpuVendor::Zhaoxin) {
    vendor = "zhaoxin";
  }
  const auto number = [](const std::optional<int>& value) {
    return std::to_string(std::clamp(value.value_or(0), 0, 4095));
  };
  return "{ vendor: " + vendor + ", family: " + number(cpu.family_id) +
         ", model: " + number(cpu.model_id) + " }";
}

/// Writes the description of one machine.
class Writer {
 public:
  explicit Writer(const Machine& machine)
      : machine_(machine),
        parts_(machine),
        kind_(machine.maker == Maker::Amd ? "xgmi" : "nvlink") {}

  MachineYaml write(const std::string& name) {
    std::string text = "name: " + name + "\n";
    text += "description: a node as its NCCL topology file tells it, ";
    text += std::to_string(parts_.gpus().size()) + " GPUs\n";
    text += "nodes: 1\nnode:\n";
    text += node_text();
    text += fabric_text();
    return {std::move(text), std::move(notes_)};
  }

 private:
  std::string node_text() {
    const int sm = parts_.gpus().front().gpu->sm;
    std::string text = "  name: node\n";
    text += "  gpus: " + std::to_string(parts_.gpus().size()) + "\n";
    if (machine_.maker == Maker::Nvidia) {
      text += "  compute_capability: " + std::to_string(sm / 10) + "." + std::to_string(sm % 10);
      text += "\n";
    }
    const std::size_t hosts = parts_.hosts();
    text += gpus_text(parts_, notes_);
    if (hosts > 1) {
      text += "  hosts: " + std::to_string(hosts) + "\n";
    }
    note_lost_parts(machine_, parts_, notes_);
    text += devices_text();
    text += links_text();
    return text;
  }

  std::string devices_text() {
    std::string text = "  devices:\n";
    if (parts_.has_nvswitch()) {
      text += "    - { name: nvswitch, kind: nvswitch }\n";
    }
    text += switches_text(parts_);
    text += cpus_text();
    text += nics_text(parts_, notes_);
    return text;
  }

  std::string cpus_text() {
    std::set<std::string> sorts;
    for (const MachineCpu& cpu : machine_.cpus) {
      sorts.insert(processor_text(cpu));
    }
    std::string text;
    if (sorts.size() == 1) {
      text += "    - { name: cpu, kind: cpu, count: " + std::to_string(machine_.cpus.size());
      text += ", processor: " + *sorts.begin() + " }\n";
      return text;
    }
    for (std::size_t i = 0; i < machine_.cpus.size(); ++i) {
      text += "    - { name: cpu" + std::to_string(i) + ", kind: cpu, processor: ";
      text += processor_text(machine_.cpus[i]) + " }\n";
    }
    return text;
  }

  std::string links_text() {
    std::string text = "  links:\n";
    text += nvlinks_text();
    for (const TreeLink& link : parts_.links()) {
      text += "  ";
      if (link.pci == nullptr) {
        text += link_text(link.lower, link.upper, "generic", 1, net_bandwidth(*link.net), "360 ns");
        continue;
      }
      text +=
          link_text(link.lower, link.upper, "pcie", 1,
                    pcie_bandwidth(link.pci->link_speed, link.pci->link_width),
                    link.lower.starts_with("nic")                                    ? "360 ns"
                    : link.upper.starts_with("cpu") && link.lower.starts_with("gpu") ? "170 ns"
                                                                                     : "110 ns");
    }
    text += sockets_text();
    return text;
  }

  LinkSort link_sort(const MachineGpu& gpu) {
    if (machine_.maker == Maker::Nvidia) {
      return nvlink_sort(gpu.sm);
    }
    const std::string gcn = gpu.gcn.value_or("");
    const auto* const known = std::ranges::find_if(
        xgmi_sorts, [&gcn](const XgmiSort& sort) { return gcn.starts_with(sort.gcn); });
    const bool found = known != xgmi_sorts.end();
    if (!found) {
      note_once("xGMI links of GPUs " + in_quotes(gcn) + " are taken as those of MI250X, 50 GB/s");
    }
    return {0, found ? known->bytes : xgmi_otherwise, 500'000};
  }

  void note_once(std::string text) {
    if (std::ranges::find(notes_, text) == notes_.end()) {
      notes_.push_back(std::move(text));
    }
  }

  std::string nvlinks_text() {
    std::string text;
    for (const GpuPart& part : parts_.gpus()) {
      const LinkSort sort = link_sort(*part.gpu);
      const auto bandwidth = [&sort](int count) {
        return Bandwidth::bytes_per_second(sort.bytes * count);
      };
      int to_switch = 0;
      for (const MachineNvlink& nvlink : part.gpu->nvlinks) {
        const std::optional<std::size_t> peer = parts_.gpu_at(nvlink.target);
        if (ends_at_switch(nvlink)) {
          to_switch += nvlink.count;
        } else if (peer && *peer > part.number) {
          text += "  ";
          text += link_text(part.name, "gpu" + std::to_string(*peer), kind_, nvlink.count,
                            bandwidth(nvlink.count), to_text(Duration(sort.picoseconds)));
        }
      }
      if (to_switch > 0) {
        text += "  ";
        text += link_text(part.name, "nvswitch", kind_, to_switch, bandwidth(to_switch),
                          to_text(Duration(sort.picoseconds / 2)));
      }
      for (const MachineC2c& c2c : part.gpu->c2cs) {
        text += "  ";
        text +=
            link_text(part.name, part.cpu, "nvlink", 1,
                      Bandwidth::bytes_per_second(c2c.bandwidth * megabyte * c2c.count), "90 ns");
      }
    }
    return text;
  }

  std::string sockets_text() {
    std::string text;
    for (std::size_t i = 0; i < machine_.cpus.size(); ++i) {
      for (std::size_t j = i + 1; j < machine_.cpus.size(); ++j) {
        if (machine_.cpus[i].host_hash != machine_.cpus[j].host_hash) {
          continue;
        }
        text += "  ";
        text += link_text("cpu" + std::to_string(i), "cpu" + std::to_string(j), "socket", 1,
                          socket_bandwidth(machine_.cpus[i]), "80 ns");
      }
    }
    if (!text.empty()) {
      notes_.emplace_back(
          "links between CPUs are those of their sort: the file does not tell them");
    }
    return text;
  }

  std::string fabric_text() {
    if (parts_.nets().empty()) {
      return {};
    }
    const bool ethernet = std::ranges::none_of(parts_.nets(), [](const NetPart& part) {
      return part.pci != nullptr && part.pci->device_class.starts_with("0x0207");
    });
    notes_.emplace_back("the NICs join one switch that nothing in the file tells of");
    std::string text = "fabric:\n  kind: single-switch\n  switch: { latency: ";
    text += ethernet ? "600 ns" : "200 ns";
    text += " }\n  link: { kind: ";
    text += ethernet ? "ethernet" : "infiniband";
    text += ", bandwidth: " + to_text(usual_net_bandwidth(parts_));
    text += ", latency: 30 ns }\n";
    return text;
  }

  const Machine& machine_;
  MachineParts parts_;
  std::string kind_;  ///< of the links between GPUs
  std::vector<std::string> notes_{};
};

}  // namespace

MachineYaml cluster_yaml(const Machine& machine, const std::string& name) {
  // It stands in the text without quotes.
  std::string plain;
  for (const char c : name) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_';
    plain += kept ? c : '-';
  }
  return Writer(machine).write("nccl-" + plain);
}

}  // namespace collsim::nccl
