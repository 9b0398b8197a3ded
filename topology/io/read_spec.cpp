#include "topology/io/read_spec.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "topology/error.hpp"
#include "topology/io/yaml_reader.hpp"

namespace collsim {

namespace {

constexpr IntegerRange device_counts{1, 1U << 20};
constexpr IntegerRange parallel_links{1, 4096};
constexpr IntegerRange switch_ports{2, 1U << 16};
constexpr IntegerRange oversubscriptions{1, 1U << 16};
constexpr IntegerRange node_numbers{0, (1U << 20) - 1};

constexpr std::array<Choice<DeviceKind>, 6> device_kinds{{{"gpu", DeviceKind::Gpu},
                                                          {"nvswitch", DeviceKind::Nvswitch},
                                                          {"pcie-switch", DeviceKind::PcieSwitch},
                                                          {"cpu", DeviceKind::Cpu},
                                                          {"nic", DeviceKind::Nic},
                                                          {"switch", DeviceKind::NetworkSwitch}}};
constexpr std::array<Choice<LinkKind>, 7> link_kinds{{{"generic", LinkKind::Generic},
                                                      {"nvlink", LinkKind::Nvlink},
                                                      {"xgmi", LinkKind::Xgmi},
                                                      {"pcie", LinkKind::Pcie},
                                                      {"socket", LinkKind::Socket},
                                                      {"infiniband", LinkKind::Infiniband},
                                                      {"ethernet", LinkKind::Ethernet}}};
constexpr std::array<Choice<Connect>, 4> connects{{{"all", Connect::All},
                                                   {"one-to-one", Connect::OneToOne},
                                                   {"grouped", Connect::Grouped},
                                                   {"mesh", Connect::Mesh}}};
constexpr std::array<Choice<Duplex>, 2> duplexes{
    {{"both", Duplex::BothWays}, {"one-way", Duplex::OneWay}}};
constexpr std::array<Choice<FabricKind>, 3> fabric_kinds{
    {{"none", FabricKind::None},
     {"single-switch", FabricKind::SingleSwitch},
     {"leaf-spine", FabricKind::LeafSpine}}};
constexpr std::array<Choice<RoutingKind>, 2> routings{
    {{"static", RoutingKind::Fixed}, {"spray", RoutingKind::Spray}}};

template <class Value, std::size_t Count>
std::span<const Choice<Value>> all(const std::array<Choice<Value>, Count>& choices) {
  return choices;
}

LinkSpec read_link(ReadContext context, const LocatedNode& item, bool joins_families) {
  std::vector<std::string> accepted{"from", "to",        "duplex", "count",
                                    "kind", "bandwidth", "latency"};
  if (joins_families) {
    accepted.insert(accepted.begin() + 2, "connect");
  }
  const MappingReader reader(context, item, std::move(accepted));
  LinkSpec link;
  link.from = reader.text("from");
  link.to = reader.text("to");
  if (joins_families) {
    link.connect = reader.choice("connect", all(connects), Default<Connect>{Connect::All});
  }
  link.duplex = reader.choice("duplex", all(duplexes), Default<Duplex>{Duplex::BothWays});
  link.count = reader.integer("count", parallel_links, Default<std::uint32_t>{1});
  link.kind = reader.choice("kind", all(link_kinds), Default<LinkKind>{LinkKind::Generic});
  link.bandwidth = reader.bandwidth("bandwidth");
  link.latency = reader.duration("latency");
  return link;
}

NodeSpec read_node(ReadContext context, const MappingReader& cluster) {
  const std::optional<LocatedNode> located = cluster.find("node");
  if (!located) {
    cluster.refuse_missing("node", "or give an explicit \"graph\"");
  }
  const MappingReader reader(context, *located,
                             {"name", "description", "gpus", "devices", "links"});
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
    group.kind = device.choice("kind", all(device_kinds));
    if (device.has("count")) {
      group.count = device.integer("count", device_counts);
    }
    node.devices.push_back(std::move(group));
  }
  for (const LocatedNode& item : reader.items("links")) {
    node.links.push_back(read_link(context, item, true));
  }
  return node;
}

FabricLinkSpec read_fabric_link(const MappingReader& reader) {
  FabricLinkSpec link;
  link.kind = reader.choice("kind", all(link_kinds), Default<LinkKind>{LinkKind::Generic});
  link.bandwidth = reader.bandwidth("bandwidth");
  link.latency = reader.duration("latency");
  return link;
}

/// Every key that is not there is as in `link`.
FabricLinkSpec read_uplink(const MappingReader& reader, const FabricLinkSpec& link) {
  const std::string origin = "default (as fabric.link)";
  FabricLinkSpec uplink;
  uplink.kind = reader.choice("kind", all(link_kinds), Default<LinkKind>{link.kind, origin});
  uplink.bandwidth = reader.bandwidth("bandwidth", Default<Bandwidth>{link.bandwidth, origin});
  uplink.latency = reader.duration("latency", Default<Duration>{link.latency, origin});
  return uplink;
}

SwitchSpec read_switch(const MappingReader& reader, const Default<Duration>& latency) {
  SwitchSpec result;
  if (reader.has("ports")) {
    result.ports = reader.integer("ports", switch_ports);
  }
  result.latency = reader.duration("latency", latency);
  return result;
}

void refuse_other_keys(const MappingReader& fabric, const std::string& kind,
                       const std::vector<std::string>& taken) {
  for (const std::string key : {"routing", "switch", "leaf", "spine", "link", "uplink"}) {
    if (!fabric.has(key) || std::find(taken.begin(), taken.end(), key) != taken.end()) {
      continue;
    }
    fabric.refuse_key(key, "does not apply to a fabric of kind \"" + kind + "\"",
                      taken.empty() ? "" : "it takes " + one_of(taken));
  }
}

FabricLinkSpec read_required_link(const MappingReader& fabric) {
  if (!fabric.has("link")) {
    fabric.refuse_missing("link");
  }
  return read_fabric_link(fabric.mapping("link", {"kind", "bandwidth", "latency"}));
}

FabricSpec read_fabric(const MappingReader& cluster) {
  const MappingReader reader =
      cluster.mapping("fabric", {"kind", "routing", "switch", "leaf", "spine", "link", "uplink"});
  FabricSpec fabric;
  if (cluster.has("fabric")) {
    fabric.kind = reader.choice("kind", all(fabric_kinds));
  } else {
    fabric.kind = reader.choice("kind", all(fabric_kinds), Default<FabricKind>{FabricKind::None});
  }
  if (fabric.kind == FabricKind::None) {
    refuse_other_keys(reader, "none", {});
    return fabric;
  }
  fabric.routing =
      reader.choice("routing", all(routings), Default<RoutingKind>{RoutingKind::Fixed});
  if (fabric.kind == FabricKind::SingleSwitch) {
    refuse_other_keys(reader, "single-switch", {"routing", "switch", "link"});
    fabric.leaf = read_switch(reader.mapping("switch", {"ports", "latency"}), {Duration{}});
    fabric.link = read_required_link(reader);
    return fabric;
  }
  refuse_other_keys(reader, "leaf-spine", {"routing", "leaf", "spine", "link", "uplink"});
  const MappingReader leaf = reader.mapping("leaf", {"ports", "latency"});
  if (!leaf.has("ports")) {
    leaf.refuse_missing("ports");
  }
  fabric.leaf = read_switch(leaf, {Duration{}});
  const MappingReader spine = reader.mapping("spine", {"oversubscription", "ports", "latency"});
  fabric.oversubscription =
      spine.integer("oversubscription", oversubscriptions, Default<std::uint32_t>{1});
  fabric.spine = read_switch(spine, {fabric.leaf.latency, "default (as fabric.leaf.latency)"});
  fabric.link = read_required_link(reader);
  fabric.uplink =
      read_uplink(reader.mapping("uplink", {"kind", "bandwidth", "latency"}), fabric.link);
  return fabric;
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
    device.kind = entry.choice("kind", all(device_kinds));
    if (entry.has("node")) {
      device.node = entry.integer("node", node_numbers);
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
  spec.nodes = reader.integer("nodes", device_counts, Default<std::uint32_t>{1});
  spec.node = read_node(context, reader);
  spec.fabric = read_fabric(reader);
  return spec;
}

}  // namespace collsim
