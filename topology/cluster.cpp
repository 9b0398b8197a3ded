#include "topology/cluster.hpp"

#include <utility>

#include "topology/build.hpp"
#include "topology/check.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

Graph build_from_template(const ClusterSpec& spec) {
  const detail::NodeList nodes(spec);
  const std::unique_ptr<detail::Fabric> fabric = detail::plan_fabric(spec, nodes);
  const std::uint64_t devices = nodes.devices() + (fabric ? fabric->switches() : 0);
  const std::uint64_t links = nodes.links() + (fabric ? fabric->links() : 0);
  detail::require_sizes(devices, links, "nodes");
  GraphBuilder builder;
  builder.reserve(devices, links);
  nodes.add(builder);
  if (fabric) {
    fabric->add(builder);
  }
  return std::move(builder).freeze();
}

/// Where to look for a missing link between two GPUs.
std::string missing_link_path(const ClusterSpec& spec, const Graph& graph, DeviceId a, DeviceId b) {
  if (spec.graph) {
    return "graph.links";
  }
  return graph.device(a).node == graph.device(b).node ? "node.links" : "fabric";
}

}  // namespace

Graph build_graph(const ClusterSpec& spec) {
  if (spec.graph && spec.fabric.kind != FabricKind::None) {
    throw InputError("expected no fabric beside an explicit graph, got one", "fabric.kind");
  }
  Graph graph = spec.graph ? detail::build_explicit(*spec.graph) : build_from_template(spec);
  const auto relay =
      spec.fabric.nic_choice == NicChoice::RailAligned ? GpusRelay::Yes : GpusRelay::No;
  if (const auto pair = unreachable_pair(graph, relay)) {
    const auto [from, to] = *pair;
    throw InputError("expected a path between any two GPUs, got none from " +
                         in_quotes(graph.name(from)) + " to " + in_quotes(graph.name(to)),
                     missing_link_path(spec, graph, from, to), "GPUs forward nothing");
  }
  return graph;
}

std::vector<Provenance> derived_values(const ClusterSpec& spec) {
  if (spec.graph) {
    return {};
  }
  const detail::NodeList nodes(spec);
  const std::unique_ptr<detail::Fabric> fabric = detail::plan_fabric(spec, nodes);
  return fabric ? fabric->derived() : std::vector<Provenance>();
}

Cluster::Cluster(ClusterSpec spec)
    : spec_(std::move(spec)),
      graph_(std::make_unique<const Graph>(build_graph(spec_))),
      router_(*graph_,
              RoutingOptions{spec_.fabric.routing, spec_.fabric.nic_choice, spec_.fabric.seed}) {}

}  // namespace collsim
