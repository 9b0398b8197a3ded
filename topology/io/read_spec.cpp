#include "topology/io/read_spec.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "topology/error.hpp"
#include "topology/io/read_devices.hpp"
#include "topology/io/read_fabric.hpp"
#include "topology/io/read_gpu_memory.hpp"
#include "topology/io/yaml_reader.hpp"

namespace collsim {

namespace {

constexpr IntegerRange parallel_links{1, 4096};
constexpr IntegerRange bonded_links{1, 4096};
constexpr IntegerRange node_numbers{0, (1U << 20) - 1};

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

/// The number of each GPU.
std::vector<std::uint32_t> read_cuda_devices(ReadContext context, const MappingReader& reader,
                                             std::uint32_t gpus) {
  constexpr std::uint32_t most = 65535;
  std::vector<std::uint32_t> numbers;
  std::string all;
  for (const LocatedNode& item : reader.items("cuda_devices")) {
    const YamlNode& node = context.tree.node(item.id);
    std::uint32_t number = 0;
    const char* const end = node.text.data() + node.text.size();
    const auto read = std::from_chars(node.text.data(), end, number);
    if (!node.is_scalar() || read.ec != std::errc() || read.ptr != end || number > most) {
      refuse_at(context.tree, node.position, item.path,
                "expected a whole number from 0 to " + std::to_string(most) + ", got " +
                    found_text(node));
    }
    numbers.push_back(number);
    all += (all.empty() ? "" : ", ") + node.text;
  }
  if (numbers.size() != gpus) {
    reader.refuse("cuda_devices", "expected a number for each of the " + std::to_string(gpus) +
                                      " GPUs, got " + std::to_string(numbers.size()));
  }
  const LocatedNode list = *reader.find("cuda_devices");
  context.values.push_back(
      {list.path, all, context.tree.sources().origin(context.tree.node(list.id).position)});
  return numbers;
}

/// As many machines as share the devices evenly.
std::uint32_t read_hosts(const MappingReader& reader, const NodeSpec& node) {
  const std::uint32_t hosts = reader.integer("hosts", device_counts, Default<std::uint32_t>{1});
  const auto require_dealt = [&](std::uint64_t count, const std::string& devices) {
    if (count % hosts != 0) {
      reader.refuse("hosts", "expected a divisor of the " + std::to_string(count) + " " + devices +
                                 ", got \"" + std::to_string(hosts) + "\"");
    }
  };
  require_dealt(node.gpus, "GPUs");
  for (const DeviceKind kind : {DeviceKind::Cpu, DeviceKind::PcieSwitch, DeviceKind::Nic}) {
    std::uint64_t count = 0;
    for (const DeviceGroupSpec& group : node.devices) {
      count += group.kind == kind ? group.count.value_or(1) : 0;
    }
    require_dealt(count, "devices of kind " + std::string(name_of(kind)));
  }
  return hosts;
}

NodeSpec read_node(ReadContext context, const MappingReader& owner, const std::string& hint) {
  const std::optional<LocatedNode> located = owner.find("node");
  if (!located) {
    owner.refuse_missing("node", hint);
  }
  const MappingReader reader(
      context, *located,
      {"name", "description", "gpus", "compute_capability", "parameters", "gpudirect",
       "cuda_devices", "hosts", "devices", "links", "gpu_memory", "host_memory"});
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
  node.gpudirect = read_flag(reader, "gpudirect", node.gpudirect);
  if (reader.has("cuda_devices")) {
    node.cuda_devices = read_cuda_devices(context, reader, node.gpus);
  }
  for (const LocatedNode& item : reader.items("devices")) {
    node.devices.push_back(read_device_group(context, item));
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
    device.kind = entry.choice("kind", device_kinds());
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

/// Switches that reduce do so for all NICs.
void let_nics_reduce(ClusterSpec& spec) {
  const auto set = [](NodeSpec& node) {
    for (DeviceGroupSpec& group : node.devices) {
      group.nic.collnet = group.nic.collnet || group.kind == DeviceKind::Nic;
    }
  };
  set(spec.node);
  for (NodeGroupSpec& group : spec.more_nodes) {
    set(group.node);
  }
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
  if (read_reduction(reader, spec.fabric)) {
    let_nics_reduce(spec);
  }
  return spec;
}

}  // namespace collsim
