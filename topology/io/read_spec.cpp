#include "topology/io/read_spec.hpp"

#include <algorithm>
#include <array>
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

NodeSpec read_node(ReadContext context, const MappingReader& owner, const std::string& hint) {
  const std::optional<LocatedNode> located = owner.find("node");
  if (!located) {
    owner.refuse_missing("node", hint);
  }
  const MappingReader reader(context, *located,
                             {"name", "description", "gpus", "devices", "links", "gpu_memory"});
  NodeSpec node;
  node.name = reader.text("name", Default<std::string>{"node"});
  if (reader.has("description")) {
    static_cast<void>(reader.text("description"));
  }
  node.gpus = reader.integer("gpus", device_counts);
  for (const LocatedNode& item : reader.items("devices")) {
    const MappingReader device(context, item, {"name", "kind", "count"});
    DeviceGroupSpec group;
    group.name = device.text("name");
    group.kind = device.choice("kind", choices(device_kinds));
    if (device.has("count")) {
      group.count = device.integer("count", device_counts);
    }
    node.devices.push_back(std::move(group));
  }
  for (const LocatedNode& item : reader.items("links")) {
    node.links.push_back(read_link(context, item, true));
  }
  node.gpu_memory = read_gpu_memory(context, reader);
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
                             {"name", "description", "gpus", "nodes", "node", "fabric", "graph"});
  spec.name = reader.text("name");
  spec.description = reader.text("description", Default<std::string>{});
  if (reader.has("graph")) {
    spec.graph = read_graph(context, reader);
    spec.nodes = node_count(*spec.graph);
    return spec;
  }
  if (is_list(tree, reader.find("nodes"))) {
    read_node_groups(context, reader, spec);
  } else {
    spec.nodes = reader.integer("nodes", device_counts, Default<std::uint32_t>{1});
    spec.node = read_node(context, reader, "or give an explicit \"graph\"");
  }
  spec.fabric = read_fabric(reader);
  return spec;
}

}  // namespace collsim
