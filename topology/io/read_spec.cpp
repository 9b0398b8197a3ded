#include "topology/io/read_spec.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "topology/error.hpp"
#include "topology/io/read_fabric.hpp"
#include "topology/io/read_gpu_memory.hpp"
#include "topology/io/yaml_reader.hpp"

namespace collsim {

namespace {

constexpr IntegerRange parallel_links{1, 4096};
constexpr IntegerRange bonded_links{1, 4096};
constexpr IntegerRange node_numbers{0, (1U << 20) - 1};

constexpr std::array<Choice<DeviceKind>, 6> device_kinds{{{"gpu", DeviceKind::Gpu},
                                                          {"nvswitch", DeviceKind::Nvswitch},
                                                          {"pcie-switch", DeviceKind::PcieSwitch},
                                                          {"cpu", DeviceKind::Cpu},
                                                          {"nic", DeviceKind::Nic},
                                                          {"switch", DeviceKind::NetworkSwitch}}};
constexpr std::array<Choice<Connect>, 4> connects{{{"all", Connect::All},
                                                   {"one-to-one", Connect::OneToOne},
                                                   {"grouped", Connect::Grouped},
                                                   {"mesh", Connect::Mesh}}};
constexpr std::array<Choice<Duplex>, 2> duplexes{
    {{"both", Duplex::BothWays}, {"one-way", Duplex::OneWay}}};
LinkSpec read_link(ReadContext context, const LocatedNode& item, bool joins_families) {
  std::vector<std::string> accepted{"from",   "to",   "duplex",    "count",
                                    "bonded", "kind", "bandwidth", "latency"};
  if (joins_families) {
    accepted.insert(accepted.begin() + 2, "connect");
  }
  const MappingReader reader(context, item, std::move(accepted));
  LinkSpec link;
  link.from = reader.text("from");
  link.to = reader.text("to");
  if (joins_families) {
    link.connect = reader.choice("connect", choices(connects), Default<Connect>{Connect::All});
  }
  link.duplex = reader.choice("duplex", choices(duplexes), Default<Duplex>{Duplex::BothWays});
  link.count = reader.integer("count", parallel_links, Default<std::uint32_t>{1});
  if (reader.has("bonded")) {
    link.bonded = static_cast<std::uint16_t>(reader.integer("bonded", bonded_links));
  }
  link.kind = reader.choice("kind", link_kinds(), Default<LinkKind>{LinkKind::Generic});
  link.bandwidth = reader.bandwidth("bandwidth");
  link.latency = reader.duration("latency");
  return link;
}

constexpr std::array<Choice<ProcessorVendor>, 5> vendors{{{"intel", ProcessorVendor::Intel},
                                                          {"amd", ProcessorVendor::Amd},
                                                          {"arm", ProcessorVendor::Arm},
                                                          {"power", ProcessorVendor::Power},
                                                          {"zhaoxin", ProcessorVendor::Zhaoxin}}};

ProcessorSpec read_processor(const MappingReader& device) {
  constexpr IntegerRange cpuid{0, 4095};
  const MappingReader reader = device.mapping("processor", {"vendor", "family", "model"});
  ProcessorSpec processor;
  processor.vendor = reader.choice("vendor", choices(vendors));
  if (processor.vendor == ProcessorVendor::Arm || processor.vendor == ProcessorVendor::Power) {
    for (const std::string key : {"family", "model"}) {
      if (reader.has(key)) {
        reader.refuse_key(key, "only x86 processors have one");
      }
    }
    return processor;
  }
  processor.family = reader.integer("family", cpuid);
  processor.model = reader.integer("model", cpuid);
  return processor;
}

DeviceGroupSpec read_devices(const MappingReader& device) {
  DeviceGroupSpec group;
  group.name = device.text("name");
  group.kind = device.choice("kind", choices(device_kinds));
  if (device.has("count")) {
    group.count = device.integer("count", device_counts);
  }
  if (device.has("processor")) {
    if (group.kind != DeviceKind::Cpu) {
      device.refuse_key("processor", "only devices of kind cpu are processors");
    }
    group.processor = read_processor(device);
  }
  return group;
}

/// "9.0" as 90.
std::uint32_t read_compute_capability(const MappingReader& node) {
  const std::string text = node.text("compute_capability");
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  const char* const end = text.data() + text.size();
  const char* const point = std::from_chars(text.data(), end, major).ptr;
  const bool has_point = point != end && *point == '.' && end - point == 2;
  const bool whole = has_point && std::from_chars(point + 1, end, minor).ptr == end;
  if (!whole || major == 0 || major > 99) {
    node.refuse("compute_capability",
                "expected a compute capability such as 9.0, got " + in_quotes(text));
  }
  return major * 10 + minor;
}

/// As many machines as share the devices evenly.
std::uint32_t read_hosts(const MappingReader& reader, const NodeSpec& node) {
  const std::uint32_t hosts = reader.integer("hosts", device_counts, Default<std::uint32_t>{1});
  if (node.gpus % hosts != 0) {
    reader.refuse("hosts", "expected a divisor of the " + std::to_string(node.gpus) +
                               " GPUs, got \"" + std::to_string(hosts) + "\"");
  }
  for (const DeviceGroupSpec& group : node.devices) {
    const bool dealt = group.kind == DeviceKind::Cpu || group.kind == DeviceKind::Nic ||
                       group.kind == DeviceKind::PcieSwitch;
    if (dealt && group.count.value_or(1) % hosts != 0) {
      reader.refuse("hosts", "expected a divisor of the " +
                                 std::to_string(group.count.value_or(1)) + " devices \"" +
                                 group.name + "\", got \"" + std::to_string(hosts) + "\"");
    }
  }
  return hosts;
}

NodeSpec read_node(ReadContext context, const MappingReader& owner, const std::string& hint) {
  const std::optional<LocatedNode> located = owner.find("node");
  if (!located) {
    owner.refuse_missing("node", hint);
  }
  const MappingReader reader(context, *located,
                             {"name", "description", "gpus", "compute_capability", "parameters",
                              "hosts", "devices", "links", "gpu_memory", "host_memory"});
  NodeSpec node;
  node.name = reader.text("name", Default<std::string>{"node"});
  if (reader.has("description")) {
    static_cast<void>(reader.text("description"));
  }
  node.gpus = reader.integer("gpus", device_counts);
  if (reader.has("compute_capability")) {
    node.compute_capability = read_compute_capability(reader);
  }
  if (reader.has("parameters")) {
    node.parameters = reader.text("parameters");
  }
  for (const LocatedNode& item : reader.items("devices")) {
    node.devices.push_back(
        read_devices(MappingReader(context, item, {"name", "kind", "count", "processor"})));
  }
  for (const LocatedNode& item : reader.items("links")) {
    node.links.push_back(read_link(context, item, true));
  }
  node.gpu_memory = read_gpu_memory(context, reader);
  node.host_memory = read_host_memory(reader);
  if (reader.has("hosts")) {
    node.hosts = read_hosts(reader, node);
  }
  return node;
}

/// `nodes` as a list: groups of like nodes, in place of `node` and `gpus`.
void read_node_groups(ReadContext context, const MappingReader& cluster, ClusterSpec& spec) {
  for (const std::string key : {"node", "gpus"}) {
    if (cluster.has(key)) {
      cluster.refuse_key(key, "does not apply where \"nodes\" is a list",
                         "each item has a node of its own");
    }
  }
  std::vector<NodeGroupSpec> groups;
  for (const LocatedNode& item : cluster.items("nodes")) {
    const MappingReader reader(context, item, {"count", "node"});
    NodeGroupSpec group;
    group.count = reader.integer("count", device_counts, Default<std::uint32_t>{1});
    group.node = read_node(context, reader, "");
    groups.push_back(std::move(group));
  }
  if (groups.empty()) {
    cluster.refuse("nodes", "expected at least one group of nodes, got an empty list");
  }
  spec.nodes = groups.front().count;
  spec.node = std::move(groups.front().node);
  groups.erase(groups.begin());
  spec.more_nodes = std::move(groups);
}

bool is_list(const YamlTree& tree, const std::optional<LocatedNode>& value) {
  return value && tree.node(value->id).kind == YamlNode::Kind::Sequence;
}

/// A number of nodes from the command line, in place of a list perhaps, where there is no node to copy.
void refuse_number_alone(ReadContext context, const MappingReader& cluster) {
  const std::optional<LocatedNode> nodes = cluster.find("nodes");
  if (!nodes || cluster.has("node")) {
    return;
  }
  const Position position = context.tree.node(nodes->id).position;
  if (context.tree.sources().at(position.source).origin() == SourceText::Origin::Setting) {
    cluster.refuse("nodes", "expected a key \"node\" beside a number of nodes, got none",
                   "where groups of nodes are listed, give the number of one, as "
                   "--set nodes[0].count=2");
  }
}

/// Switches need not belong to a node.
bool needs_node(DeviceKind kind) {
  return kind == DeviceKind::Gpu || kind == DeviceKind::Nic || kind == DeviceKind::Cpu;
}

ExplicitGraphSpec read_graph(ReadContext context, const MappingReader& cluster) {
  for (const std::string key : {"node", "nodes", "gpus", "fabric"}) {
    if (!cluster.has(key)) {
      continue;
    }
    cluster.refuse_key(key, "does not apply beside an explicit \"graph\"",
                       "a graph lists its devices and links one by one");
  }
  const MappingReader reader = cluster.mapping("graph", {"devices", "links"});
  ExplicitGraphSpec graph;
  for (const LocatedNode& item : reader.items("devices")) {
    const MappingReader entry(context, item, {"name", "kind", "node"});
    ExplicitDeviceSpec device;
    device.name = entry.text("name");
    device.kind = entry.choice("kind", choices(device_kinds));
    if (entry.has("node") || needs_node(device.kind)) {
      device.node = entry.integer("node", node_numbers, Default<std::uint32_t>{0});
    }
    graph.devices.push_back(std::move(device));
  }
  for (const LocatedNode& item : reader.items("links")) {
    graph.links.push_back(read_link(context, item, false));
  }
  return graph;
}

/// The names are the programs' own: which of them mean something is for their models to say.
std::vector<EnvironmentVariable> read_environment(ReadContext context,
                                                  const MappingReader& cluster) {
  std::vector<EnvironmentVariable> environment;
  const std::optional<LocatedNode> located = cluster.find("environment");
  if (!located) {
    return environment;
  }
  std::vector<std::string> names;
  for (const YamlEntry& entry : context.tree.node(located->id).entries) {
    names.push_back(entry.key);
  }
  const MappingReader reader(context, *located, names);
  for (const std::string& name : names) {
    environment.push_back({name, reader.text(name)});
  }
  return environment;
}

std::uint32_t node_count(const ExplicitGraphSpec& graph) {
  std::uint32_t nodes = 1;
  for (const ExplicitDeviceSpec& device : graph.devices) {
    if (device.node) {
      nodes = std::max(nodes, *device.node + 1);
    }
  }
  return nodes;
}

}  // namespace

ClusterSpec read_cluster_spec(const YamlTree& tree, YamlId root) {
  ClusterSpec spec;
  const ReadContext context{tree, spec.values};
  const MappingReader reader(context, LocatedNode{root, {}},
                             {"name", "description", "gpus", "nodes", "node", "fabric", "graph",
                              "environment", "parameters"});
  spec.name = reader.text("name");
  spec.description = reader.text("description", Default<std::string>{});
  spec.environment = read_environment(context, reader);
  if (reader.has("parameters")) {
    spec.parameters = reader.text("parameters");
  }
  if (reader.has("graph")) {
    spec.graph = read_graph(context, reader);
    spec.nodes = node_count(*spec.graph);
    return spec;
  }
  if (is_list(tree, reader.find("nodes"))) {
    read_node_groups(context, reader, spec);
  } else {
    refuse_number_alone(context, reader);
    spec.nodes = reader.integer("nodes", device_counts, Default<std::uint32_t>{1});
    spec.node = read_node(context, reader, "or give an explicit \"graph\"");
  }
  spec.fabric = read_fabric(reader);
  return spec;
}

}  // namespace collsim
