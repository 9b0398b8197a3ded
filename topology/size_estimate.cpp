#include "topology/size_estimate.hpp"

#include <string>

namespace collsim {

namespace {

std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? SizeEstimate::saturated : sum;
}

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? SizeEstimate::saturated : product;
}

std::uint64_t family_size(const NodeSpec& node, const std::string& end) {
  if (end == "gpu") return node.gpus;
  for (const DeviceGroupSpec& group : node.devices) {
    if (group.name == end) return group.count.value_or(1);
  }
  return 1;
}

/// Joined pairs of devices of one link entry.
std::uint64_t pairs(const NodeSpec& node, const LinkSpec& link) {
  const std::uint64_t from = family_size(node, link.from);
  switch (link.connect) {
    case Connect::all:
      return times(from, family_size(node, link.to));
    case Connect::mesh:
      return from == 0 ? 0 : times(from, from - 1) / 2;
    case Connect::one_to_one:
    case Connect::grouped:
      break;
  }
  return from;
}

std::uint64_t directions(const LinkSpec& link) { return link.duplex == Duplex::both_ways ? 2 : 1; }

SizeEstimate estimate_node(const NodeSpec& node) {
  SizeEstimate size{node.gpus, 0};
  for (const DeviceGroupSpec& group : node.devices) {
    size.devices = plus(size.devices, group.count.value_or(1));
  }
  for (const LinkSpec& link : node.links) {
    size.links = plus(size.links, times(times(pairs(node, link), link.count), directions(link)));
  }
  return size;
}

std::uint64_t nics_of(const NodeSpec& node) {
  std::uint64_t nics = 0;
  for (const DeviceGroupSpec& group : node.devices) {
    if (group.kind == DeviceKind::nic) nics = plus(nics, group.count.value_or(1));
  }
  return nics;
}

SizeEstimate estimate_fabric(const FabricSpec& fabric, std::uint64_t nics) {
  switch (fabric.kind) {
    case FabricKind::none:
      return {};
    case FabricKind::single_switch:
      return {1, times(nics, 2)};
    case FabricKind::leaf_spine:
      break;
  }
  // A leaf has at least one port down, at most `ports` up, and each spine joins at least one of
  // its uplinks. Of `ports`, at least half go down.
  const std::uint64_t ports = fabric.leaf.ports.value_or(2);
  const std::uint64_t down = ports < 2 ? 1 : ports / 2;
  const std::uint64_t leaves = plus(nics / down, 1);
  return {plus(leaves, ports), plus(times(nics, 2), times(leaves, times(ports, 2)))};
}

SizeEstimate estimate_graph(const ExplicitGraphSpec& graph) {
  SizeEstimate size{graph.devices.size(), 0};
  for (const LinkSpec& link : graph.links) {
    size.links = plus(size.links, times(link.count, directions(link)));
  }
  return size;
}

}  // namespace

SizeEstimate estimate_size(const ClusterSpec& spec) {
  if (spec.graph) return estimate_graph(*spec.graph);
  const SizeEstimate node = estimate_node(spec.node);
  const SizeEstimate fabric = estimate_fabric(spec.fabric, times(nics_of(spec.node), spec.nodes));
  return {plus(times(node.devices, spec.nodes), fabric.devices),
          plus(times(node.links, spec.nodes), fabric.links)};
}

}  // namespace collsim
