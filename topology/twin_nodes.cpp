#include "topology/twin_nodes.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace collsim {

namespace {

enum class Direction : std::uint8_t { Out, In };

/// A link that leaves or enters a node: its end there by its place in the node.
using OuterLink = std::tuple<std::uint32_t, Direction, DeviceId, LinkKind, Bandwidth, Duration>;

struct NodeEnds {
  std::uint32_t node_template = 0;
  std::vector<OuterLink> links;

  [[nodiscard]] bool operator<(const NodeEnds& other) const {
    return std::tie(node_template, links) < std::tie(other.node_template, other.links);
  }
};

void set_templates(const ClusterSpec& spec, std::vector<NodeEnds>& nodes) {
  std::size_t node = spec.nodes;
  for (std::size_t group = 0; group < spec.more_nodes.size(); ++group) {
    for (std::uint32_t i = 0; i < spec.more_nodes[group].count && node < nodes.size(); ++i) {
      nodes[node++].node_template = static_cast<std::uint32_t>(group) + 1;
    }
  }
}

/// The devices of a node follow one another.
std::vector<std::uint32_t> first_devices(const Graph& graph) {
  std::vector<std::uint32_t> first(graph.nodes(), 0);
  for (std::size_t i = graph.devices().size(); i-- > 0;) {
    if (const auto node = graph.devices()[i].node) {
      first[node->index()] = static_cast<std::uint32_t>(i);
    }
  }
  return first;
}

std::vector<NodeEnds> ends_of_nodes(const Cluster& cluster) {
  const Graph& graph = cluster.graph();
  std::vector<NodeEnds> nodes(graph.nodes());
  set_templates(cluster.spec(), nodes);
  const std::vector<std::uint32_t> first = first_devices(graph);
  for (const Link& link : graph.links()) {
    const auto from = graph.device(link.source).node;
    const auto to = graph.device(link.target).node;
    if (from == to) {
      continue;
    }
    const auto add = [&](NodeId node, DeviceId own, DeviceId other, Direction direction) {
      nodes[node.index()].links.emplace_back(own.value() - first[node.index()], direction, other,
                                             link.kind, link.bandwidth, link.latency);
    };
    if (from) {
      add(*from, link.source, link.target, Direction::Out);
    }
    if (to) {
      add(*to, link.target, link.source, Direction::In);
    }
  }
  return nodes;
}

}  // namespace

std::vector<std::uint32_t> first_twins(const Cluster& cluster) {
  std::vector<std::uint32_t> twins(cluster.graph().nodes());
  std::iota(twins.begin(), twins.end(), 0U);
  if (cluster.spec().graph) {
    return twins;
  }
  std::map<NodeEnds, std::uint32_t> first;
  std::vector<NodeEnds> nodes = ends_of_nodes(cluster);
  for (std::uint32_t node = 0; node < twins.size(); ++node) {
    std::ranges::sort(nodes[node].links);
    twins[node] = first.try_emplace(std::move(nodes[node]), node).first->second;
  }
  return twins;
}

}  // namespace collsim
