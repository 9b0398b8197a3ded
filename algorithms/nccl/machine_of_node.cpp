#include "algorithms/nccl/machine_of_node.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/nccl/hex_text.hpp"
#include "algorithms/nccl/node_nics.hpp"
#include "algorithms/nccl/pcie_sort.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr std::string_view switch_class = "0x060400";
constexpr std::string_view gpu_class = "0x030200";
constexpr std::string_view nvswitch_class = "0x068000";
/// All NVSwitches are one to NCCL.
constexpr std::string_view nvswitch_bus = "00fe:00:00.0";

constexpr std::int64_t megabyte = 1'000'000;

const NodeSpec* spec_of(const Cluster& cluster, NodeId node) {
  const ClusterSpec& spec = cluster.spec();
  if (spec.graph) {
    return nullptr;
  }
  std::uint32_t end = spec.nodes;
  if (node.value() < end) {
    return &spec.node;
  }
  for (const NodeGroupSpec& group : spec.more_nodes) {
    end += group.count;
    if (node.value() < end) {
      return &group.node;
    }
  }
  return nullptr;
}

std::vector<ProcessorSpec> processors_of(const NodeSpec& node) {
  std::vector<ProcessorSpec> processors;
  for (const DeviceGroupSpec& group : node.devices) {
    if (group.kind == DeviceKind::Cpu && group.processor) {
      processors.insert(processors.end(), group.count.value_or(1), *group.processor);
    }
  }
  return processors;
}

std::int64_t bytes_per_second(Bandwidth bandwidth) {
  return bandwidth.units() / Bandwidth::units_per_byte_per_second;
}

/// How many of the maker's links a link stands for. Where the description does not say, as many as
/// have its bandwidth: 25 GB/s each up to NVLink 4, 50 GB/s from NVLink 5 (sm 100) on.
int nvlinks_in(const Link& link, std::uint32_t sm) {
  if (link.bonded > 1) {
    return link.bonded;
  }
  const std::int64_t each = (sm >= 100 ? 50'000 : 25'000) * megabyte;
  return static_cast<int>(std::max<std::int64_t>(1, bytes_per_second(link.bandwidth) / each));
}

/// Writes one node down.
class Description {
 public:
  Description(const Cluster& cluster, NodeId node)
      : graph_(cluster.graph()),
        node_(node),
        spec_(*spec_of(cluster, node)),
        processors_(processors_of(spec_)),
        nics_(graph_, node, spec_),
        seen_(graph_.devices().size()) {
    for (std::uint32_t i = 0; i < graph_.devices().size(); ++i) {
      if (graph_.device(DeviceId(i)).node == node) {
        devices_.emplace_back(i);
      }
    }
  }

  Machine write() {
    const std::vector<DeviceId> cpus = all(DeviceKind::Cpu);
    number_devices(cpus);
    number_switches();
    Machine machine;
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      machine.cpus.push_back(cpu(cpus[i], i, cpus.size()));
    }
    for (const DeviceKind kind : {DeviceKind::Gpu, DeviceKind::Nic}) {
      for (const DeviceId device : all(kind)) {
        if (!seen_[device.index()]) {
          throw InputError(graph_.name(device) +
                           " has no way over PCIe to a CPU: NCCL would not find it");
        }
      }
    }
    return machine;
  }

 private:
  [[nodiscard]] std::vector<DeviceId> all(DeviceKind kind) const {
    std::vector<DeviceId> found;
    for (const DeviceId device : devices_) {
      if (graph_.device(device).kind == kind) {
        found.push_back(device);
      }
    }
    return found;
  }

  [[nodiscard]] bool is(DeviceId device, DeviceKind kind) const {
    return graph_.device(device).kind == kind;
  }

  [[nodiscard]] bool has_pcie(DeviceId device) const {
    return std::ranges::any_of(graph_.links_out(device), [this](LinkId id) {
      return graph_.link(id).kind == LinkKind::Pcie;
    });
  }

  /// Links over which the PCIe tree goes on downwards from a device. A GPU that has no PCIe stands
  /// below the CPU that it is coherent with.
  [[nodiscard]] std::vector<LinkId> down(DeviceId device) const {
    std::vector<LinkId> links;
    for (const LinkId id : graph_.links_out(device)) {
      const Link& link = graph_.link(id);
      const bool below = is(link.target, DeviceKind::Gpu) || is(link.target, DeviceKind::Nic) ||
                         is(link.target, DeviceKind::PcieSwitch);
      const bool coherent =
          link.kind == LinkKind::Nvlink && is(device, DeviceKind::Cpu) && !has_pcie(link.target);
      if (below && (link.kind == LinkKind::Pcie || coherent) && !seen_[link.target.index()]) {
        links.push_back(id);
      }
    }
    return links;
  }

  /// What PCIe switches call themselves.
  void number_switches() {
    std::vector<std::optional<PciIds>> ids;
    for (const DeviceGroupSpec& group : spec_.devices) {
      if (group.kind == DeviceKind::PcieSwitch) {
        ids.insert(ids.end(), group.count.value_or(1), group.pci_ids);
      }
    }
    const std::vector<DeviceId> switches = all(DeviceKind::PcieSwitch);
    for (std::size_t i = 0; i < switches.size(); ++i) {
      if (ids[i]) {
        pci_ids_[switches[i]] = *ids[i];
      }
    }
  }

  /// Bus ids, in the order in which the file will have the devices: GPUs name each other by them.
  void number_devices(const std::vector<DeviceId>& cpus) {
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      domain_ = static_cast<std::uint32_t>(i * spec_.hosts / cpus.size());
      number_below(cpus[i]);
    }
    std::fill(seen_.begin(), seen_.end(), false);
  }

  void number_below(DeviceId device) {
    for (const LinkId id : down(device)) {
      const DeviceId target = graph_.link(id).target;
      if (seen_[target.index()]) {
        continue;
      }
      seen_[target.index()] = true;
      const std::uint32_t number = ++numbers_[domain_];
      buses_[target] = hex(domain_, 4) + ":" + hex(number, 2) + ":00.0";
      number_below(target);
    }
  }

  MachineCpu cpu(DeviceId device, std::size_t index, std::size_t cpus) {
    MachineCpu cpu;
    cpu.numa_id = static_cast<int>(index);
    if (spec_.hosts > 1) {
      const std::size_t cpus_per_host = cpus / spec_.hosts;
      cpu.numa_id = static_cast<int>(index % cpus_per_host);
      cpu.host_hash = "0x" + hex(static_cast<std::uint32_t>(index / cpus_per_host + 1), 4);
    }
    describe(processors_[index], cpu);
    // In the order of the description: NCCL numbers what it meets in the order of the file.
    const std::vector<LinkId> below = down(device);
    for (const LinkId id : graph_.links_out(device)) {
      if (is_virtual_nic(id)) {
        seen_[graph_.link(id).target.index()] = true;
        cpu.devices.emplace_back(MachineNic{{nics_.net(graph_.link(id))}});
      } else if (std::ranges::find(below, id) != below.end()) {
        add_below(id, [&cpu](MachinePci&& pci) { cpu.devices.emplace_back(std::move(pci)); });
      }
    }
    return cpu;
  }

  /// At a CPU without PCIe.
  [[nodiscard]] bool is_virtual_nic(LinkId id) const {
    const Link& link = graph_.link(id);
    return is(link.target, DeviceKind::Nic) && link.kind == LinkKind::Generic &&
           !seen_[link.target.index()];
  }

  static void describe(const ProcessorSpec& processor, MachineCpu& cpu) {
    switch (processor.vendor) {
      case ProcessorVendor::Arm:
        cpu.architecture = "arm64";
        return;
      case ProcessorVendor::Power:
        cpu.architecture = "ppc64";
        return;
      case ProcessorVendor::Intel:
        cpu.vendor = "GenuineIntel";
        break;
      case ProcessorVendor::Amd:
        cpu.vendor = "AuthenticAMD";
        break;
      case ProcessorVendor::Zhaoxin:
        cpu.vendor = "  Shanghai  ";
        break;
    }
    cpu.architecture = "x86_64";
    cpu.family_id = static_cast<int>(processor.family);
    cpu.model_id = static_cast<int>(processor.model);
  }

  template <class Add>
  void add_below(LinkId id, Add add) {
    const Link& link = graph_.link(id);
    if (seen_[link.target.index()]) {
      return;
    }
    seen_[link.target.index()] = true;
    add(pci(link));
  }

  MachinePci pci(const Link& link) {
    MachinePci pci;
    pci.bus_id = buses_.at(link.target);
    const PcieSort sort = pcie_sort(link.bandwidth);
    pci.link_speed = sort.speed;
    pci.link_width = sort.width;
    if (is(link.target, DeviceKind::Gpu)) {
      pci.device_class = gpu_class;
      pci.gpu = gpu(link.target);
    } else if (is(link.target, DeviceKind::Nic)) {
      pci.device_class = nics_.device_class(link.target);
      pci.nic = nic(link);
    } else {
      pci.device_class = switch_class;
      name_switch(link.target, pci);
      for (const LinkId id : down(link.target)) {
        add_below(id, [&pci](MachinePci&& below) { pci.children.push_back(std::move(below)); });
      }
    }
    return pci;
  }

  void name_switch(DeviceId device, MachinePci& pci) const {
    const auto known = pci_ids_.find(device);
    if (known != pci_ids_.end()) {
      const PciIds& ids = known->second;
      pci.vendor = "0x" + hex(ids.vendor, 4);
      pci.device = "0x" + hex(ids.device, 4);
      pci.subsystem_vendor = "0x" + hex(ids.subsystem_vendor, 4);
      pci.subsystem_device = "0x" + hex(ids.subsystem_device, 4);
    }
  }

  MachineGpu gpu(DeviceId device) const {
    const std::uint32_t number = graph_.device(device).number;
    MachineGpu gpu;
    gpu.dev = static_cast<int>(spec_.cuda_devices.empty() ? number % (spec_.gpus / spec_.hosts)
                                                          : spec_.cuda_devices[number]);
    gpu.gdr = spec_.gpudirect;
    gpu.rank = static_cast<int>(graph_.device(device).number);
    gpu.sm = static_cast<int>(*spec_.compute_capability);
    for (const LinkId id : graph_.links_out(device)) {
      const Link& link = graph_.link(id);
      if (link.kind == LinkKind::Nvlink) {
        add_nvlink(link, gpu);
      }
    }
    return gpu;
  }

  void add_nvlink(const Link& link, MachineGpu& gpu) const {
    if (is(link.target, DeviceKind::Cpu)) {
      const std::int64_t megabytes = bytes_per_second(link.bandwidth) / megabyte;
      gpu.c2cs.push_back({static_cast<int>(megabytes), 1});
      return;
    }
    const bool to_switch = is(link.target, DeviceKind::Nvswitch);
    const std::string target(to_switch ? std::string(nvswitch_bus) : buses_.at(link.target));
    const int count = nvlinks_in(link, *spec_.compute_capability);
    const auto known = std::ranges::find(gpu.nvlinks, target, &MachineNvlink::target);
    if (known != gpu.nvlinks.end()) {
      known->count += count;
      return;
    }
    gpu.nvlinks.push_back({target, count, std::string(to_switch ? nvswitch_class : gpu_class)});
  }

  /// With all NICs of its card.
  MachineNic nic(const Link& pcie) {
    MachineNic nic;
    const std::optional<std::uint32_t> card = nics_.card(pcie.target);
    if (!card) {
      nic.nets.push_back(nics_.net(pcie));
      return nic;
    }
    for (const LinkId id : nics_.links_to_card(pcie.source, *card)) {
      seen_[graph_.link(id).target.index()] = true;
      nic.nets.push_back(nics_.net(graph_.link(id)));
    }
    return nic;
  }

  const collsim::Graph& graph_;
  NodeId node_;
  const NodeSpec& spec_;
  std::vector<ProcessorSpec> processors_;
  NodeNics nics_;
  std::map<DeviceId, PciIds> pci_ids_{};  ///< of switches that say
  std::vector<DeviceId> devices_{};       ///< of the node
  std::vector<bool> seen_;
  std::map<DeviceId, std::string> buses_{};
  std::map<std::uint32_t, std::uint32_t> numbers_{};  ///< the last bus given, by domain
  std::uint32_t domain_{0};                           ///< PCI domain: one a host
};

}  // namespace

std::optional<std::string> obstacle(const Cluster& cluster, NodeId node) {
  const NodeSpec* const spec = spec_of(cluster, node);
  if (spec == nullptr) {
    return "an explicit graph does not say which machines it is made of";
  }
  if (!spec->compute_capability) {
    return "the GPUs have no compute_capability";
  }
  std::size_t cpus = 0;
  for (const DeviceGroupSpec& group : spec->devices) {
    cpus += group.kind == DeviceKind::Cpu ? group.count.value_or(1) : 0;
  }
  if (cpus == 0) {
    return "the node has no device of kind cpu";
  }
  if (processors_of(*spec).size() != cpus) {
    return "a CPU has no processor";
  }
  return std::nullopt;
}

Machine machine_of_node(const Cluster& cluster, NodeId node) {
  if (const auto reason = obstacle(cluster, node)) {
    throw InputError("NCCL's choices need to know more of " + cluster.name() + ": " + *reason, {},
                     "see node.compute_capability and processor in docs/yaml_reference.md");
  }
  return Description(cluster, node).write();
}

}  // namespace collsim::nccl
