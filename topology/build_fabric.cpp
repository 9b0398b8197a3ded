// What all fabrics have in common, and which kind is which.

#include <string>

#include "topology/build.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

/// Where the description has the cable of a tier.
std::string link_path(const FabricSpec& spec, std::size_t tier) {
  if (spec.tiers[tier].own_link) {
    return tier_path(spec, tier) + ".link";
  }
  return tier == 0 ? "fabric.link" : "fabric.uplink";
}

void check_links(const FabricSpec& spec) {
  for (std::size_t tier = 0; tier < spec.tiers.size(); ++tier) {
    const FabricLinkSpec& link = spec.tiers[tier].link;
    require_link(link.bandwidth, link.latency, link_path(spec, tier));
    require_latency(spec.tiers[tier].latency, tier_path(spec, tier) + ".latency");
  }
  if (spec.kind == FabricKind::Dragonfly) {
    const DragonflySpec& dragonfly = spec.dragonfly;
    require_link(dragonfly.local.bandwidth, dragonfly.local.latency, "fabric.local.link");
    require_link(dragonfly.global.bandwidth, dragonfly.global.latency, "fabric.global.link");
  }
  if (spec.kind == FabricKind::Torus) {
    require_link(spec.torus_link.bandwidth, spec.torus_link.latency, "fabric.uplink");
  }
}

void require_nics(const NodeList& nodes) {
  if (nodes.nodes() == 1) {
    return;
  }
  nodes.for_each([&](NodeId, DeviceId, const NodeTemplate& node) {
    if (node.nics.empty()) {
      throw InputError("expected a NIC in the node, as a fabric joins the nodes, got none",
                       node.path + ".devices", "add a group of devices of kind nic");
    }
  });
}

}  // namespace

std::string tier_path(const FabricSpec& spec, std::size_t tier) {
  switch (spec.kind) {
    case FabricKind::FatTree:
      return at("fabric.tiers", tier);
    case FabricKind::LeafSpine:
    case FabricKind::RailOptimized:
      return tier == 0 ? "fabric.leaf" : tier == 1 ? "fabric.spine" : "fabric.core";
    case FabricKind::None:
    case FabricKind::SingleSwitch:
    case FabricKind::Dragonfly:
    case FabricKind::Torus:
      return "fabric.switch";
  }
  return "fabric";
}

std::unique_ptr<Fabric> plan_fabric(const ClusterSpec& spec, const NodeList& nodes) {
  const FabricSpec& fabric = spec.fabric;
  if (fabric.kind == FabricKind::None) {
    if (nodes.nodes() > 1) {
      throw InputError(
          "expected a fabric that joins the " + std::to_string(nodes.nodes()) + " nodes, got none",
          "nodes", "add one, such as fabric: { kind: single-switch, ... }, or set nodes to 1");
    }
    return nullptr;
  }
  require_nics(nodes);
  COLLSIM_ENSURE(!fabric.tiers.empty(), "a fabric has at least one tier of switches");
  check_links(fabric);
  switch (fabric.kind) {
    case FabricKind::Dragonfly:
      return plan_dragonfly(fabric, nodes);
    case FabricKind::Torus:
      return plan_torus(fabric, nodes);
    case FabricKind::None:
    case FabricKind::SingleSwitch:
    case FabricKind::LeafSpine:
    case FabricKind::FatTree:
    case FabricKind::RailOptimized:
      break;
  }
  return plan_tree(fabric, nodes);
}

void FabricCable::add(GraphBuilder& builder, DeviceId below, DeviceId above) const {
  builder.add_link({below, above, link.bandwidth, link.latency + below_latency, link.kind, level});
  builder.add_link({above, below, link.bandwidth, link.latency + above_latency, link.kind, level});
}

std::string switch_stem(const std::string& name, const NodeList& nodes) {
  return nodes.nodes() == 1 && nodes.has_family(name) ? "fabric_" + name : name;
}

std::vector<DeviceId> add_switches(GraphBuilder& builder, std::uint32_t stem, std::uint64_t count) {
  std::vector<DeviceId> switches;
  switches.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    switches.push_back(builder.add_device(DeviceKind::NetworkSwitch, std::nullopt, stem, i));
  }
  return switches;
}

}  // namespace collsim::detail
