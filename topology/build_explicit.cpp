// Explicit graphs: devices and links one by one.

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "topology/build.hpp"
#include "topology/error.hpp"
#include "topology/quantity_text.hpp"

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

/// What leaves and enters each GPU and each node; sums of bandwidths are kept in 64 bits.
class Sums {
 public:
  explicit Sums(const ExplicitGraphSpec& spec) : spec_(&spec) {}

  void add(const LinkSpec& link, DeviceId from, DeviceId to, const std::string& path) {
    add_one_way(link, from, to, path);
    if (link.duplex == Duplex::BothWays) {
      add_one_way(link, to, from, path);
    }
  }

 private:
  using Totals = std::map<std::string, Bandwidth>;

  void add_one_way(const LinkSpec& link, DeviceId from, DeviceId to, const std::string& path) {
    const ExplicitDeviceSpec& source = spec_->devices[from.index()];
    const ExplicitDeviceSpec& target = spec_->devices[to.index()];
    if (source.kind == DeviceKind::Gpu) {
      add(out_[source.name], link, source.name, path);
    }
    if (target.kind == DeviceKind::Gpu) {
      add(in_[target.name], link, target.name, path);
    }
    const std::optional<NodeId> left = node_of(source);
    const std::optional<NodeId> entered = node_of(target);
    const auto name = [](NodeId node) { return "node" + std::to_string(node.value()); };
    if (left && left != entered) {
      add(out_of_node_[name(*left)], link, name(*left), path);
    }
    if (entered && left != entered) {
      add(into_node_[name(*entered)], link, name(*entered), path);
    }
  }

  static void add(Bandwidth& sum, const LinkSpec& link, const std::string& what,
                  const std::string& path) {
    std::int64_t units = 0;
    if (__builtin_mul_overflow(link.bandwidth.units(), std::int64_t{link.count}, &units) ||
        __builtin_add_overflow(units, sum.units(), &units)) {
      throw InputError("the links of " + what + " together exceed 9 PB/s with these " +
                           std::to_string(link.count) + " of " + to_text(link.bandwidth),
                       path + ".bandwidth");
    }
    sum = Bandwidth::from_units(units);
  }

  const ExplicitGraphSpec* spec_;
  Totals out_;
  Totals in_;
  Totals out_of_node_;
  Totals into_node_;
};

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
  Sums sums(spec);
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
    sums.add(link, from, to, path);
    add_links(builder, link, from, to);
  }
  return std::move(builder).freeze();
}

}  // namespace collsim::detail
