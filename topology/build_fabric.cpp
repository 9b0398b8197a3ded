// Fabrics between nodes: one switch, or leaves and spines.

#include <string>

#include "topology/build.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

/// How a leaf's ports divide: with oversubscription o, o ports down for each one up.
struct LeafPorts {
  std::uint32_t down = 0;
  std::uint32_t up = 0;
};

LeafPorts divide_ports(const FabricSpec& fabric) {
  if (!fabric.leaf.ports) {
    throw InputError("expected the number of ports of a leaf, got none", "fabric.leaf.ports");
  }
  const std::uint32_t ports = *fabric.leaf.ports;
  const std::uint64_t shares = std::uint64_t{fabric.oversubscription} + 1;
  if (ports == 0 || ports % shares != 0) {
    throw InputError("expected a multiple of " + std::to_string(shares) +
                         " ports (an oversubscription of " +
                         std::to_string(fabric.oversubscription) + " takes " +
                         std::to_string(fabric.oversubscription) + " down for each one up), got " +
                         std::to_string(ports),
                     "fabric.leaf.ports");
  }
  const auto up = static_cast<std::uint32_t>(ports / shares);
  return {ports - up, up};
}

FabricPlan plan_single_switch(const ClusterSpec& spec, std::uint64_t nics) {
  const auto& ports = spec.fabric.leaf.ports;
  if (ports && *ports < nics) {
    throw InputError("expected at least " + std::to_string(nics) +
                         " ports, one for each NIC, got " + std::to_string(*ports),
                     "fabric.switch.ports");
  }
  return {1, 0, spec.nodes, 2 * nics};
}

FabricPlan plan_leaf_spine(const ClusterSpec& spec, const NodeTemplate& node) {
  const FabricSpec& fabric = spec.fabric;
  require_count(fabric.oversubscription, "fabric.spine.oversubscription");
  const LeafPorts ports = divide_ports(fabric);
  const auto nics = static_cast<std::uint32_t>(node.nics.size());
  if (ports.down < nics) {
    throw InputError("expected enough ports for a whole node, " + std::to_string(nics) +
                         " down, got " + std::to_string(ports.down) + " down and " +
                         std::to_string(ports.up) + " up",
                     "fabric.leaf.ports");
  }
  const std::uint32_t nodes_per_leaf = nics == 0 ? spec.nodes : ports.down / nics;
  const std::uint32_t leaves = (spec.nodes - 1) / nodes_per_leaf + 1;
  const auto& spine_ports = fabric.spine.ports;
  if (spine_ports && *spine_ports < leaves) {
    throw InputError("expected at least " + std::to_string(leaves) +
                         " ports, one for each leaf, got " + std::to_string(*spine_ports),
                     "fabric.spine.ports");
  }
  const std::uint64_t cables = std::uint64_t{spec.nodes} * nics + std::uint64_t{leaves} * ports.up;
  return {leaves, ports.up, nodes_per_leaf, 2 * cables};
}

/// A cable between a device below and a switch above. A switch's forwarding latency counts on the
/// links that leave it.
struct FabricCable {
  FabricLinkSpec link;
  Duration below_latency{};
  Duration above_latency{};
  LevelId level;

  void add(GraphBuilder& builder, DeviceId below, DeviceId above) const {
    builder.add_link(
        {below, above, link.bandwidth, link.latency + below_latency, link.kind, level});
    builder.add_link(
        {above, below, link.bandwidth, link.latency + above_latency, link.kind, level});
  }
};

/// The stem of a fabric's switches. With one node, devices show no node, and a family of the same
/// name would make names ambiguous.
std::string switch_stem(const std::string& name, const ClusterSpec& spec,
                        const NodeTemplate& node) {
  if (spec.nodes > 1) {
    return name;
  }
  for (const NodeTemplate::Family& family : node.families) {
    if (family.name == name) {
      return "fabric_" + name;
    }
  }
  return name;
}

std::vector<DeviceId> add_switches(GraphBuilder& builder, std::uint32_t stem, std::uint32_t count) {
  std::vector<DeviceId> switches;
  for (std::uint32_t i = 0; i < count; ++i) {
    switches.push_back(builder.add_device(DeviceKind::NetworkSwitch, std::nullopt, stem, i));
  }
  return switches;
}

}  // namespace

FabricPlan plan_fabric(const ClusterSpec& spec, const NodeTemplate& node) {
  const FabricSpec& fabric = spec.fabric;
  if (fabric.kind == FabricKind::None) {
    if (spec.nodes > 1) {
      throw InputError(
          "expected a fabric that joins the " + std::to_string(spec.nodes) + " nodes, got none",
          "nodes", "add one, such as fabric: { kind: single-switch, ... }, or set nodes to 1");
    }
    return {};
  }
  if (spec.nodes > 1 && node.nics.empty()) {
    throw InputError("expected a NIC in the node, as a fabric joins the nodes, got none",
                     "node.devices", "add a group of devices of kind nic");
  }
  const bool single = fabric.kind == FabricKind::SingleSwitch;
  require_link(fabric.link.bandwidth, fabric.link.latency, "fabric.link");
  require_latency(fabric.leaf.latency, single ? "fabric.switch.latency" : "fabric.leaf.latency");
  if (single) {
    return plan_single_switch(spec, std::uint64_t{spec.nodes} * node.nics.size());
  }
  require_latency(fabric.spine.latency, "fabric.spine.latency");
  if (fabric.uplink) {
    require_link(fabric.uplink->bandwidth, fabric.uplink->latency, "fabric.uplink");
  }
  return plan_leaf_spine(spec, node);
}

void add_fabric(GraphBuilder& builder, const ClusterSpec& spec, const NodeTemplate& node,
                const FabricPlan& plan) {
  const FabricSpec& fabric = spec.fabric;
  if (fabric.kind == FabricKind::None) {
    return;
  }
  const bool single = fabric.kind == FabricKind::SingleSwitch;
  const std::uint32_t leaf_stem =
      builder.add_stem(switch_stem(single ? "switch" : "leaf", spec, node), !single);
  const auto leaves = add_switches(builder, leaf_stem, plan.leaves);
  const FabricCable down{fabric.link, Duration::zero(), fabric.leaf.latency,
                         builder.add_level("leaf")};
  for (std::uint32_t n = 0; n < spec.nodes; ++n) {
    for (const std::uint32_t nic : node.nics) {
      down.add(builder, DeviceId(n * node.devices + nic), leaves[n / plan.nodes_per_leaf]);
    }
  }
  if (single) {
    return;
  }

  const std::uint32_t spine_stem = builder.add_stem(switch_stem("spine", spec, node), true);
  const auto spines = add_switches(builder, spine_stem, plan.spines);
  const FabricCable up{fabric.uplink.value_or(fabric.link), fabric.leaf.latency,
                       fabric.spine.latency, builder.add_level("spine")};
  for (const DeviceId leaf : leaves) {
    for (const DeviceId spine : spines) {
      up.add(builder, leaf, spine);
    }
  }
}

}  // namespace collsim::detail
