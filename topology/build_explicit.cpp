// Explicit graphs: devices and links one by one.

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "topology/build.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

using Names = std::map<std::string, DeviceId, std::less<>>;

bool belongs_to_no_node(DeviceKind kind) {
  return kind == DeviceKind::Nvswitch || kind == DeviceKind::PcieSwitch ||
         kind == DeviceKind::NetworkSwitch;
}

std::optional<NodeId> node_of(const ExplicitDeviceSpec& device) {
  if (device.node) {
    return NodeId(*device.node);
  }
  if (belongs_to_no_node(device.kind)) {
    return std::nullopt;
  }
  return NodeId(0);
}

/// Nodes are dense: each number up to the largest must have a device.
void require_dense_nodes(const ExplicitGraphSpec& spec) {
  std::vector<bool> used(spec.devices.size(), false);
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    const auto node = node_of(spec.devices[i]);
    if (!node) {
      continue;
    }
    if (node->index() >= used.size()) {
      throw InputError("expected nodes numbered 0, 1, 2, … without gaps, got " +
                           std::to_string(node->value()) + " among " + std::to_string(used.size()) +
                           " devices",
                       at("graph.devices", i) + ".node");
    }
    used[node->index()] = true;
  }
  const auto gap = std::ranges::find(used, false);
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    const auto node = node_of(spec.devices[i]);
    const std::ptrdiff_t missing = gap - used.begin();
    if (!node || static_cast<std::ptrdiff_t>(node->index()) < missing) {
      continue;
    }
    throw InputError("expected nodes numbered 0, 1, 2, … without gaps, got " +
                         std::to_string(node->value()) + " and no device of node " +
                         std::to_string(missing),
                     at("graph.devices", i) + ".node");
  }
}

Names add_devices(GraphBuilder& builder, const ExplicitGraphSpec& spec) {
  Names names;
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    const ExplicitDeviceSpec& device = spec.devices[i];
    const std::string path = at("graph.devices", i) + ".name";
    if (device.name.empty()) {
      throw InputError("expected a name, got an empty one", path);
    }
    const DeviceId id = builder.add_named_device(device.kind, node_of(device), device.name);
    if (!names.emplace(device.name, id).second) {
      throw InputError("expected a name that no other device has, got " + in_quotes(device.name),
                       path);
    }
  }
  return names;
}

DeviceId resolve(const Names& names, const std::string& name, const std::string& path) {
  const auto found = names.find(name);
  if (found != names.end()) {
    return found->second;
  }
  std::vector<std::string> accepted;
  for (const auto& [known, id] : names) {
    accepted.push_back(known);
  }
  throw InputError("expected the name of a device of the graph, got " + in_quotes(name), path,
                   did_you_mean(name, accepted));
}

}  // namespace

Graph build_explicit(const ExplicitGraphSpec& spec) {
  require_sizes(spec.devices.size(), 0, "graph.devices");
  if (std::ranges::find(spec.devices, DeviceKind::Gpu, &ExplicitDeviceSpec::kind) ==
      spec.devices.end()) {
    throw InputError("expected at least one device of kind gpu, got none", "graph.devices");
  }
  require_dense_nodes(spec);
  GraphBuilder builder;
  const Names names = add_devices(builder, spec);
  add_levels(builder, spec.links);
  std::uint64_t links = 0;
  for (std::size_t i = 0; i < spec.links.size(); ++i) {
    const LinkSpec& link = spec.links[i];
    const std::string path = at("graph.links", i);
    const DeviceId from = resolve(names, link.from, path + ".from");
    const DeviceId to = resolve(names, link.to, path + ".to");
    if (from == to) {
      throw InputError("expected another device than `from`, got " + in_quotes(link.to),
                       path + ".to");
    }
    require_link(link.bandwidth, link.latency, path);
    require_count(link.count, path + ".count");
    links += std::uint64_t{2} * link.count;
    require_sizes(0, links, path + ".count");
    add_links(builder, link, from, to);
  }
  return std::move(builder).freeze();
}

}  // namespace collsim::detail
