#include "algorithms/nccl/io/topology_xml.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "algorithms/nccl/io/topology_checks.hpp"
#include "algorithms/nccl/io/xml_reader.hpp"
#include "algorithms/nccl/io/xml_tree.hpp"
#include "algorithms/nccl/machine_text.hpp"
#include "topology/io/source.hpp"

namespace collsim::nccl {

namespace {

constexpr NumberRange any_number{std::numeric_limits<int>::min(), std::numeric_limits<int>::max()};
constexpr NumberRange not_negative{0, std::numeric_limits<int>::max()};
constexpr NumberRange flag{0, 1};
// No machine comes near these.
constexpr NumberRange links{1, 1024};
constexpr NumberRange lanes{0, 1024};
constexpr NumberRange devices{0, 65535};
// NCCL's own limit on elements of a topology file.
constexpr std::size_t most_elements_of_nccl = 256;

std::size_t count_elements(const XmlElement& element) {
  std::size_t count = 1;
  for (const XmlElement& child : element.children) {
    count += count_elements(child);
  }
  return count;
}

bool is_bus_id(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdefABCDEF";
  return text.find_first_of(digits) == 0 &&
         text.find_first_not_of(std::string(digits) + ":.") == std::string_view::npos;
}

bool is_container_interface(std::string_view name) {
  static constexpr std::array<std::string_view, 7> prefixes{"br-",   "cali", "veth",   "docker",
                                                            "virbr", "cni",  "flannel"};
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

class MachineReader {
 public:
  MachineReader(const XmlTree& tree, ContainerInterfaces interfaces)
      : tree_(tree), reader_(tree), interfaces_(interfaces) {}

  ReadMachine read() {
    const XmlElement& root = tree_.root;
    check_root(root);
    Machine machine;
    machine.maker = maker_;
    for (const XmlElement& child : root.children) {
      if (child.name == "cpu") {
        machine.cpus.push_back(read_cpu(child));
      } else {
        skip(child);
      }
    }
    if (machine.cpus.empty()) {
      reader_.fail(root, "", "has no cpu element");
    }
    check_topology(root, reader_);
    return {std::move(machine), reader_.warnings()};
  }

 private:
  void check_root(const XmlElement& root) {
    if (root.name == "graphs") {
      reader_.fail(root, "", "this is a graph file (NCCL_GRAPH_FILE), not a topology file");
    }
    if (root.name != "system") {
      reader_.fail(root, "", "expected the root element \"system\", got " + in_quotes(root.name));
    }
    const std::string version = reader_.required_text(root, "version");
    if (version != "1" && version != "2") {
      reader_.fail(root, "version",
                   R"(expected "1" (or "2", which is RCCL's), got )" + in_quotes(version));
    }
    maker_ = version == "2" ? Maker::Amd : Maker::Nvidia;
    if (count_elements(root) > most_elements_of_nccl) {
      reader_.warn(root, "", "more than 256 elements: NCCL itself refuses the file");
    }
  }

  void skip(const XmlElement& element) {
    reader_.warn(element, "", "NCCL passes over such an element here");
  }

  MachineCpu read_cpu(const XmlElement& element) {
    MachineCpu cpu;
    cpu.numa_id = reader_.required_number(element, "numaid", {-1, 65535});
    cpu.host_hash = reader_.text(element, "host_hash");
    host_ = cpu.host_hash.value_or("");
    cpu.affinity = reader_.text(element, "affinity");
    read_model(element, cpu);
    for (const XmlElement& child : element.children) {
      if (child.name == "pci") {
        cpu.devices.emplace_back(read_pci(child));
      } else if (child.name == "nic") {
        cpu.devices.emplace_back(read_nic(child));
      } else {
        skip(child);
      }
    }
    return cpu;
  }

  void read_model(const XmlElement& element, MachineCpu& cpu) {
    const auto architecture = reader_.text(element, "arch");
    cpu.vendor = reader_.text(element, "vendor");
    cpu.family_id = reader_.number(element, "familyid", any_number);
    cpu.model_id = reader_.number(element, "modelid", any_number);
    if (!architecture) {
      reader_.warn(element, "arch", "is missing: taken as \"x86_64\"");
    }
    cpu.architecture = architecture.value_or("x86_64");
    if (architecture_of(cpu.architecture) == CpuArchitecture::Unknown) {
      reader_.warn(element, "arch",
                   "unknown: links between CPUs count as fast as memory; NCCL knows x86_64, arm64 "
                   "and ppc64");
    }
    if (architecture_of(cpu.architecture) != CpuArchitecture::X86) {
      return;
    }
    if (!cpu.vendor) {
      reader_.warn(element, "vendor", "is missing: taken as \"GenuineIntel\"");
      cpu.vendor = "GenuineIntel";
    }
    if (vendor_of(*cpu.vendor) == CpuVendor::Unknown) {
      reader_.warn(element, "vendor",
                   "unknown: links between CPUs count as fast as memory; NCCL knows GenuineIntel, "
                   "AuthenticAMD, CentaurHauls and \"  Shanghai  \"");
    }
    if (vendor_of(*cpu.vendor) == CpuVendor::Intel && (!cpu.family_id || !cpu.model_id)) {
      reader_.warn(element, cpu.family_id ? "modelid" : "familyid",
                   "is missing: links between CPUs count as the slowest of Intel, 6 GB/s");
    }
  }

  MachinePci read_pci(const XmlElement& element) {
    MachinePci pci;
    pci.bus_id = reader_.required_text(element, "busid");
    if (!is_bus_id(pci.bus_id)) {
      reader_.fail(element, "busid",
                   "expected a PCI bus id such as \"0000:1b:00.0\", got " + in_quotes(pci.bus_id));
    }
    pci.vendor = reader_.text(element, "vendor");
    pci.device = reader_.text(element, "device");
    pci.subsystem_vendor = reader_.text(element, "subsystem_vendor");
    pci.subsystem_device = reader_.text(element, "subsystem_device");
    pci.link_speed = reader_.text(element, "link_speed").value_or("");
    pci.link_width = reader_.number(element, "link_width", lanes).value_or(0);
    for (const XmlElement& child : element.children) {
      read_below_pci(child, pci);
    }
    read_class(element, pci);
    if (!lane_speed(pci.link_speed)) {
      reader_.warn(element, "link_speed",
                   in_quotes(pci.link_speed) + " is not known to NCCL: counts as 8 GT/s (Gen3)");
    }
    return pci;
  }

  void read_below_pci(const XmlElement& child, MachinePci& pci) {
    if (child.name == "pci") {
      pci.children.push_back(read_pci(child));
    } else if (child.name == "gpu" && !pci.gpu) {
      pci.gpu = read_gpu(child);
    } else if (child.name == "nic" && !pci.nic) {
      pci.nic = read_nic(child);
    } else if (child.name == "pcilink") {
      pci.peer_switches.push_back(reader_.required_text(child, "target"));
    } else {
      skip(child);
    }
  }

  void read_class(const XmlElement& element, MachinePci& pci) {
    const auto device_class = reader_.text(element, "class");
    pci.device_class = device_class.value_or("");
    if (pci.gpu || pci.nic) {
      return;
    }
    if (maker_ == Maker::Amd) {
      return;  // other classes than NCCL's
    }
    if (!device_class) {
      reader_.warn(element, "class", "is missing: counts as a PCIe switch");
    } else if (!kind_of_class(pci.device_class)) {
      reader_.warn(element, "class",
                   in_quotes(pci.device_class) + " is not known to NCCL: counts as a PCIe switch");
    }
  }

  MachineGpu read_gpu(const XmlElement& element) {
    MachineGpu gpu;
    gpu.dev = reader_.required_number(element, "dev", devices);
    gpu.sm = reader_.required_number(element, "sm", {1, 9999});
    gpu.rank = reader_.number(element, "rank", not_negative);
    const auto gdr = reader_.number(element, "gdr", flag);
    if (!gdr) {
      reader_.warn(element, "gdr", "is missing: taken as 1");
    }
    gpu.gdr = gdr.value_or(1) == 1;
    if (maker_ == Maker::Amd) {
      gpu.gcn = reader_.text(element, "gcn");
    }
    const char* const link = maker_ == Maker::Amd ? "xgmi" : "nvlink";
    for (const XmlElement& child : element.children) {
      if (child.name == link) {
        gpu.nvlinks.push_back(read_nvlink(child));
      } else if (child.name == "c2c") {
        gpu.c2cs.push_back({reader_.required_number(child, "bw", not_negative),
                            reader_.required_number(child, "count", links)});
      } else {
        skip(child);
      }
    }
    return gpu;
  }

  MachineNvlink read_nvlink(const XmlElement& element) {
    MachineNvlink nvlink;
    nvlink.target = reader_.required_text(element, "target");
    nvlink.count = reader_.required_number(element, "count", links);
    nvlink.target_class = reader_.required_text(element, "tclass");
    return nvlink;
  }

  MachineNic read_nic(const XmlElement& element) {
    MachineNic nic;
    for (const XmlElement& child : element.children) {
      if (child.name != "net") {
        skip(child);
      } else if (MachineNet net = read_net(child);
                 interfaces_ == ContainerInterfaces::LeaveOut && is_container_interface(net.name)) {
        reader_.warn(child, "", "interfaces of containers and bridges are left out");
      } else {
        if (net.dev && !devs_.insert({host_, *net.dev}).second) {
          reader_.warn(child, "dev", "two network devices have this number: the first is used");
        }
        nic.nets.push_back(std::move(net));
      }
    }
    return nic;
  }

  MachineNet read_net(const XmlElement& element) {
    MachineNet net;
    net.name = reader_.text(element, "name").value_or("");
    net.dev = reader_.number(element, "dev", devices);
    if (!net.dev) {
      reader_.warn(element, "dev", "is missing: NCCL does not use the device");
    }
    const auto speed = reader_.number(element, "speed", any_number);
    net.speed = speed.value_or(0);
    if (net.speed <= 0) {
      reader_.warn(
          element, "speed",
          speed ? "not positive: counts as 10000 Mb/s" : "is missing: counts as 10000 Mb/s");
    }
    net.latency = reader_.decimal(element, "latency");
    net.port = reader_.number(element, "port", any_number);
    net.guid = reader_.text(element, "guid");
    net.max_connections = reader_.number(element, "maxconn", any_number);
    net.gdr = reader_.number(element, "gdr", flag).value_or(0) == 1;
    net.collective = reader_.number(element, "coll", flag).value_or(0) == 1;
    return net;
  }

  const XmlTree& tree_;
  XmlReader reader_;
  ContainerInterfaces interfaces_;
  Maker maker_{Maker::Nvidia};
  std::string host_;
  std::set<std::pair<std::string, int>> devs_;  // host and number of network devices
};

}  // namespace

ReadMachine parse_topology_xml(std::string_view text, const std::string& file,
                               ContainerInterfaces interfaces) {
  const XmlTree tree = parse_xml(text, file);
  return MachineReader(tree, interfaces).read();
}

ReadMachine load_topology_xml(const std::string& path, ContainerInterfaces interfaces) {
  return parse_topology_xml(read_file(path), path, interfaces);
}

}  // namespace collsim::nccl
