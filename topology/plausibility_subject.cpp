#include "topology/plausibility_subject.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "topology/build.hpp"
#include "topology/quantity_text.hpp"

namespace collsim::detail {

namespace {

/// Nodes' devices come one node after the other, as their descriptions list them.
std::uint32_t position_in_node(const Graph& graph, DeviceId id) {
  std::uint32_t first = id.value();
  while (first > 0 && graph.device(DeviceId(first - 1)).node == graph.device(id).node) {
    --first;
  }
  return id.value() - first;
}

}  // namespace

Examination::Examination(const Cluster& cluster)
    : cluster_(&cluster), symmetry_(symmetry_classes(cluster.graph())) {
  // Copies of a description are alike inside, wherever they are. There may be as many classes of nodes
  // as nodes, where these stand differently in the network.
  using Likeness = std::pair<std::size_t, std::vector<BandwidthSum>>;
  std::set<Likeness> seen;
  for (std::uint32_t number = 0; number < graph().nodes(); ++number) {
    const NodeId node(number);
    Likeness likeness{cluster.spec().graph ? symmetry_.of_node[number] : template_of(node), {}};
    for (const DeviceId nic : graph().nics(node)) {
      likeness.second.push_back(cable_of(nic));
    }
    if (seen.insert(std::move(likeness)).second) {
      unlike_nodes_.push_back(node);
    }
  }
  for (const DeviceId gpu : graph().gpus()) {
    if (std::ranges::binary_search(unlike_nodes_, *graph().device(gpu).node)) {
      gpus_.push_back(gpu);
    }
  }
}

std::vector<DeviceId> Examination::gpus_of(NodeId node) const {
  const auto own = std::ranges::equal_range(
      gpus_, node, {}, [&](DeviceId gpu) { return *graph().device(gpu).node; });
  return {own.begin(), own.end()};
}

void Examination::report(std::string path, std::string message, std::string hint) {
  findings_.push_back({std::string(check_), std::move(path), std::move(message), std::move(hint)});
}

const Provenance* Examination::value(const std::string& path) const {
  const std::vector<Provenance>& values = cluster_->spec().values;
  const auto found = std::ranges::find(values, path, &Provenance::path);
  return found == values.end() ? nullptr : &*found;
}

bool Examination::is_of_network(const std::string& path) const {
  if (!path.starts_with("graph.")) {
    return path.starts_with("fabric.");
  }
  const Provenance* kind = value(path.substr(0, path.rfind('.')) + ".kind");
  return kind != nullptr && (kind->value == name_of(LinkKind::Infiniband) ||
                             kind->value == name_of(LinkKind::Ethernet));
}

std::string Examination::entry_of(LinkId id) const {
  const Link& link = graph().link(id);
  const ClusterSpec& spec = cluster_->spec();
  const auto stands_for = [&link](const LinkSpec& entry) {
    return entry.kind == link.kind && entry.bandwidth == link.bandwidth;
  };
  if (spec.graph) {
    const std::string source = graph().name(link.source);
    const std::string target = graph().name(link.target);
    const auto joins = [&](const LinkSpec& entry) {
      return stands_for(entry) && ((entry.from == source && entry.to == target) ||
                                   (entry.from == target && entry.to == source));
    };
    const auto found = std::ranges::find_if(spec.graph->links, joins);
    return at("graph.links", static_cast<std::size_t>(found - spec.graph->links.begin()));
  }
  const NodeId node = *graph().device(link.source).node;
  if (graph().device(link.target).node != node) {
    return "fabric.link";
  }
  const std::size_t number = template_of(node);
  const NodeSpec& shape = number == 0 ? spec.node : spec.more_nodes[number - 1].node;
  const auto positions =
      std::pair(position_in_node(graph(), link.source), position_in_node(graph(), link.target));
  for (const NodeTemplate::Pair& pair : resolve_node(shape, node_path(node)).pairs) {
    const bool joins =
        std::minmax({pair.source, pair.target}) == std::minmax({positions.first, positions.second});
    if (joins && stands_for(shape.links[pair.entry])) {
      return at(links_path(node), pair.entry);
    }
  }
  return links_path(node);
}

std::string Examination::entry_of_kind(DeviceId device, LinkKind kind) const {
  for (const LinkId id : graph().links_out(device)) {
    if (graph().link(id).kind == kind) {
      return entry_of(id);
    }
  }
  return links_path(graph().device(device).node);
}

std::vector<std::vector<DeviceId>> Examination::by_template(
    const std::vector<DeviceId>& devices) const {
  std::map<std::size_t, std::vector<DeviceId>> groups;
  for (const DeviceId device : devices) {
    groups[template_of(*graph().device(device).node)].push_back(device);
  }
  std::vector<std::vector<DeviceId>> lists;
  lists.reserve(groups.size());
  for (auto& [number, members] : groups) {
    lists.push_back(std::move(members));
  }
  return lists;
}

std::size_t Examination::template_of(NodeId node) const {
  const ClusterSpec& spec = cluster_->spec();
  std::size_t number = 0;
  std::uint64_t end = spec.nodes;
  while (node.index() >= end && number < spec.more_nodes.size()) {
    end += spec.more_nodes[number].count;
    ++number;
  }
  return number;
}

std::string Examination::node_path(std::optional<NodeId> node) const {
  if (cluster_->spec().graph) {
    return "graph";
  }
  if (value("node.gpus") != nullptr) {
    return "node";
  }
  return at("nodes", node ? template_of(*node) : 0) + ".node";
}

std::string Examination::links_path(std::optional<NodeId> node) const {
  return node_path(node) + ".links";
}

std::string Examination::devices_path(std::optional<NodeId> node) const {
  return node_path(node) + ".devices";
}

std::string Examination::network_path() const {
  return cluster_->spec().graph ? "graph.links" : "fabric";
}

std::string Examination::names(const std::vector<DeviceId>& devices) const {
  return graph().name(devices.front()) +
         (devices.size() > 1 ? " and " + std::to_string(devices.size() - 1) + " more" : "");
}

std::string Examination::text(BandwidthSum sum) {
  return to_text(Bandwidth::from_units(static_cast<std::int64_t>(sum)));
}

BandwidthSum Examination::sum_of(DeviceId device, LinkKind kind) const {
  BandwidthSum sum = 0;
  for (const LinkId id : graph().links_out(device)) {
    const Link& link = graph().link(id);
    sum += link.kind == kind ? static_cast<BandwidthSum>(link.bandwidth.units()) : 0;
  }
  return sum;
}

Bandwidth Examination::widest_of(DeviceId device, LinkKind kind) const {
  Bandwidth widest;
  for (const LinkId id : graph().links_out(device)) {
    const Link& link = graph().link(id);
    widest = link.kind == kind ? std::max(widest, link.bandwidth) : widest;
  }
  return widest;
}

BandwidthSum Examination::sum_between(DeviceId from, DeviceId to) const {
  BandwidthSum sum = 0;
  for (const LinkId id : graph().links_between(from, to)) {
    sum += static_cast<BandwidthSum>(graph().link(id).bandwidth.units());
  }
  return sum;
}

BandwidthSum Examination::slot_of(DeviceId nic) const {
  BandwidthSum sum = 0;
  for (const LinkId id : graph().links_in(nic)) {
    const Link& link = graph().link(id);
    const bool inside = graph().device(link.source).node == graph().device(nic).node;
    sum += inside && link.kind == LinkKind::Generic
               ? static_cast<BandwidthSum>(link.bandwidth.units())
               : 0;
  }
  return sum;
}

BandwidthSum Examination::cable_of(DeviceId nic) const {
  BandwidthSum sum = 0;
  for (const LinkId id : graph().links_out(nic)) {
    const Link& link = graph().link(id);
    const bool leaves = graph().device(link.target).node != graph().device(nic).node;
    sum += leaves ? static_cast<BandwidthSum>(link.bandwidth.units()) : 0;
  }
  return sum;
}

}  // namespace collsim::detail
