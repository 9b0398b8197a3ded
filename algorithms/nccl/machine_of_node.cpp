#include "algorithms/nccl/machine_of_node.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/nccl/pcie_sort.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr std::string_view switch_class = "0x060400";
constexpr std::string_view gpu_class = "0x030200";
constexpr std::string_view infiniband_class = "0x020700";
constexpr std::string_view ethernet_class = "0x020000";
constexpr std::string_view nvswitch_class = "0x068000";
/// All NVSwitches are one to NCCL.
constexpr std::string_view nvswitch_bus = "00fe:00:00.0";

constexpr std::int64_t megabyte = 1'000'000;
constexpr std::int64_t bits_in_byte = 8;

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

std::string hex(std::uint32_t number, std::size_t digits) {
  std::string text(digits, '0');
  for (std::size_t i = digits; i-- > 0; number >>= 4U) {
    text[i] = "0123456789abcdef"[number & 0xFU];
  }
  return text;
}

std::int64_t bytes_per_second(Bandwidth bandwidth) {
  return bandwidth.units() / Bandwidth::units_per_byte_per_second;
}

/// Mb/s.
int megabits(Bandwidth bandwidth) {
  return static_cast<int>(std::min<std::int64_t>(
      bytes_per_second(bandwidth) * bits_in_byte / megabyte, std::numeric_limits<int>::max()));
}

/// The highest usual speed of a NIC, Mb/s, that a PCIe link carries.
int usual_speed(Bandwidth pcie) {
  constexpr std::array<int, 7> usual{800'000, 400'000, 200'000, 100'000, 50'000, 25'000, 10'000};
  const auto* const found =
      std::ranges::find_if(usual, [&](int speed) { return speed <= megabits(pcie); });
  return found == usual.end() ? usual.back() : *found;
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
    for (const LinkId id : down(device)) {
      add_below(id, [&cpu](MachinePci&& pci) { cpu.devices.emplace_back(std::move(pci)); });
    }
    add_virtual_nics(device, cpu);
    return cpu;
  }

  /// Those at the CPU without PCIe.
  void add_virtual_nics(DeviceId device, MachineCpu& cpu) {
    for (const LinkId id : graph_.links_out(device)) {
      const Link& link = graph_.link(id);
      if (is(link.target, DeviceKind::Nic) && link.kind == LinkKind::Generic &&
          !seen_[link.target.index()]) {
        seen_[link.target.index()] = true;
        std::string no_class;
        cpu.devices.emplace_back(nic(link, no_class));
      }
    }
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
      pci.nic = nic(link, pci.device_class);
    } else {
      pci.device_class = switch_class;
      for (const LinkId id : down(link.target)) {
        add_below(id, [&pci](MachinePci&& below) { pci.children.push_back(std::move(below)); });
      }
    }
    return pci;
  }

  MachineGpu gpu(DeviceId device) const {
    MachineGpu gpu;
    gpu.dev = static_cast<int>(graph_.device(device).number % (spec_.gpus / spec_.hosts));
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

  /// Also tells the class: by the network it is in.
  MachineNic nic(const Link& pcie, std::string& device_class) const {
    const DeviceId device = pcie.target;
    const auto nics = graph_.nics(node_);
    const auto index = static_cast<int>(std::ranges::find(nics, device) - nics.begin());
    std::int64_t speed = 0;
    device_class = infiniband_class;
    for (const LinkId id : graph_.links_out(device)) {
      const Link& link = graph_.link(id);
      if (graph_.device(link.target).node == node_) {
        continue;
      }
      speed += megabits(link.bandwidth);
      if (link.kind == LinkKind::Ethernet) {
        device_class = ethernet_class;
      }
    }
    MachineNet net;
    net.name = graph_.name_in_node(device);
    net.dev = index;
    net.speed =
        speed > 0 ? static_cast<int>(std::min<std::int64_t>(speed, std::numeric_limits<int>::max()))
                  : usual_speed(pcie.bandwidth);
    net.latency = 0.0F;
    net.port = 1;
    net.guid = "0x" + hex(static_cast<std::uint32_t>(index + 0x100), 4);
    net.gdr = true;
    MachineNic nic;
    nic.nets.push_back(std::move(net));
    return nic;
  }

  const collsim::Graph& graph_;
  NodeId node_;
  const NodeSpec& spec_;
  std::vector<ProcessorSpec> processors_;
  std::vector<DeviceId> devices_{};  ///< of the node
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
