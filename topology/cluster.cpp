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
  detail::require_sizes(devices, links, fabric ? fabric->size_path() : "nodes");
  GraphBuilder builder;
  builder.reserve(devices, links);
  nodes.add(builder);
  if (fabric) {
    fabric->add(builder);
  }
  return std::move(builder).freeze();
}

/// What is wrong where there is no path between two GPUs.
InputError no_path(const ClusterSpec& spec, const Graph& graph, DeviceId from, DeviceId to) {
  const std::string message = "expected a path between any two GPUs, got none from " +
                              in_quotes(graph.name(from)) + " to " + in_quotes(graph.name(to));
  if (spec.graph) {
    return InputError(message, "graph.links", "GPUs forward nothing");
  }
  const FabricSpec& fabric = spec.fabric;
  if (fabric.planes > 1) {
    const std::uint32_t ports = detail::NodeList(spec).most_nics() * fabric.nic_ports;
    const bool aligned = fabric.nic_choice == NicChoice::RailAligned;
    return InputError(
        message + ": of the " + std::to_string(ports) +
            " NIC ports of a node, port e is in plane e mod " + std::to_string(fabric.planes),
        "fabric.planes",
        aligned ? "fewer planes, so that NICs meet, or links between the GPUs of a node"
                : "nic_choice: rail-aligned goes by the GPU whose NIC is in the "
                  "receiver's plane, over links between the GPUs of a node; or fewer planes");
  }
  return InputError(message,
                    graph.device(from).node == graph.device(to).node ? "node.links" : "fabric",
                    "GPUs forward nothing");
}

/// Sums of bandwidths are kept in 64 bits. Throws: InputError where those around a GPU or a node do not fit.
void require_sums(const ClusterSpec& spec, const Graph& graph) {
  if (spec.graph) {
    return;  // link by link, by the builder
  }
  const auto at = [](const std::string& path, const auto& sums) {
    try {
      static_cast<void>(sums());
    } catch (const InputError& error) {
      throw InputError(error.message(), path, error.hint());
    }
  };
  at(spec.more_nodes.empty() ? "node.links" : "nodes",
     [&graph] { return gpu_cuts(graph, graph.gpus()); });
  at("fabric.link.bandwidth", [&graph] { return node_cuts(graph); });
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
    throw no_path(spec, graph, from, to);
  }
  require_sums(spec, graph);
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
