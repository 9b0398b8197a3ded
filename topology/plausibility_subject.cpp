#include "topology/plausibility_subject.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "topology/quantity_text.hpp"

namespace collsim::detail {

Examination::Examination(const Cluster& cluster)
    : cluster_(&cluster), symmetry_(symmetry_classes(cluster.graph())) {
  std::set<std::uint32_t> seen;
  for (std::uint32_t node = 0; node < graph().nodes(); ++node) {
    if (seen.insert(symmetry_.of_node[node]).second) {
      unlike_nodes_.emplace_back(node);
    }
  }
  for (const DeviceId gpu : graph().gpus()) {
    if (std::ranges::binary_search(unlike_nodes_, *graph().device(gpu).node)) {
      gpus_.push_back(gpu);
    }
  }
}

std::vector<DeviceId> Examination::gpus_of(NodeId node) const {
  std::vector<DeviceId> own;
  std::ranges::copy_if(gpus_, std::back_inserter(own),
                       [&](DeviceId gpu) { return graph().device(gpu).node == node; });
  return own;
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

std::string Examination::entry_of_kind(LinkKind kind) const {
  for (const Provenance& value : cluster_->spec().values) {
    if (value.path.ends_with(".kind") && value.value == name_of(kind)) {
      return value.path.substr(0, value.path.rfind('.'));
    }
  }
  return links_path();
}

std::string Examination::node_path(std::optional<NodeId> node) const {
  const ClusterSpec& spec = cluster_->spec();
  if (spec.graph) {
    return "graph";
  }
  if (value("node.gpus") != nullptr) {
    return "node";
  }
  // `nodes` is a list of groups.
  std::size_t group = 0;
  std::uint64_t end = spec.nodes;
  while (node && node->index() >= end && group < spec.more_nodes.size()) {
    end += spec.more_nodes[group].count;
    ++group;
  }
  return "nodes[" + std::to_string(group) + "].node";
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
