#include "topology/cluster.hpp"

#include <utility>

#include "topology/build.hpp"
#include "topology/check.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

Graph build_from_template(const ClusterSpec& spec) {
  if (spec.nodes == 0) {
    throw InputError("expected at least 1 node, got 0", "nodes");
  }
  const detail::NodeTemplate node = detail::resolve_node(spec.node);
  const detail::FabricPlan plan = detail::plan_fabric(spec, node);
  detail::require_sizes(std::uint64_t{spec.nodes} * node.devices + plan.leaves + plan.spines,
                        spec.nodes * node.links + plan.links, "nodes");
  GraphBuilder builder;
  builder.reserve(std::size_t{spec.nodes} * node.devices + plan.leaves + plan.spines,
                  spec.nodes * node.links + plan.links);
  detail::add_levels(builder, spec.node.links);
  detail::add_nodes(builder, spec.node, node, spec.nodes);
  detail::add_fabric(builder, spec, node, plan);
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
  if (const auto pair = unreachable_pair(graph)) {
    const auto [from, to] = *pair;
    throw InputError("expected a path between any two GPUs, got none from " +
                         in_quotes(graph.name(from)) + " to " + in_quotes(graph.name(to)),
                     missing_link_path(spec, graph, from, to), "GPUs forward nothing");
  }
  return graph;
}

Cluster::Cluster(ClusterSpec spec)
    : spec_(std::move(spec)),
      graph_(std::make_unique<const Graph>(build_graph(spec_))),
      router_(*graph_, spec_.fabric.routing) {}

}  // namespace collsim
