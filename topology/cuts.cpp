// Cuts and latencies of a cluster's graph: what the lower bounds are made of.

#include <functional>
#include <optional>
#include <queue>
#include <stdexcept>
#include <utility>

#include "topology/cluster.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

void add(Bandwidth& sum, Bandwidth part, const std::string& what) {
  try {
    sum = checked_add(sum, part);
  } catch (const std::overflow_error&) {
    throw InputError("the links of " + what + " together exceed 9 PB/s");
  }
}

}  // namespace

std::vector<Cut> gpu_cuts(const Graph& graph, std::span<const DeviceId> gpus) {
  std::vector<Cut> cuts;
  cuts.reserve(gpus.size());
  for (const DeviceId gpu : gpus) {
    Cut cut;
    for (const LinkId id : graph.links_out(gpu)) {
      add(cut.out, graph.link(id).bandwidth, graph.name(gpu));
    }
    for (const LinkId id : graph.links_in(gpu)) {
      add(cut.in, graph.link(id).bandwidth, graph.name(gpu));
    }
    cuts.push_back(cut);
  }
  return cuts;
}

std::vector<Cut> node_cuts(const Graph& graph) {
  std::vector<Cut> cuts(graph.nodes());
  for (const Link& link : graph.links()) {
    const auto source = graph.device(link.source).node;
    const auto target = graph.device(link.target).node;
    if (source == target) {
      continue;
    }
    const auto node_name = [](NodeId node) { return "node" + std::to_string(node.value()); };
    if (source) {
      add(cuts[source->index()].out, link.bandwidth, node_name(*source));
    }
    if (target) {
      add(cuts[target->index()].in, link.bandwidth, node_name(*target));
    }
  }
  return cuts;
}

// Dijkstra's algorithm.
std::vector<std::optional<Duration>> shortest_latencies(const Graph& graph, DeviceId gpu,
                                                        SearchDirection direction,
                                                        GpusForward forwarding) {
  using Reached = std::pair<Duration, DeviceId>;
  std::vector<std::optional<Duration>> latency(graph.devices().size());
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> frontier;
  const auto reach = [&](DeviceId device, Duration after) {
    std::optional<Duration>& known = latency[device.index()];
    if (!known || after < *known) {
      known = after;
      frontier.emplace(after, device);
    }
  };
  const bool outward = direction == SearchDirection::Outward;
  reach(gpu, Duration::zero());
  while (!frontier.empty()) {
    const auto [reached, device] = frontier.top();
    frontier.pop();
    if (latency[device.index()] < reached) {
      continue;  // a quicker way has been found since
    }
    if (forwarding == GpusForward::No && device != gpu &&
        graph.device(device).kind == DeviceKind::Gpu) {
      continue;
    }
    for (const LinkId id : outward ? graph.links_out(device) : graph.links_in(device)) {
      const Link& link = graph.link(id);
      reach(outward ? link.target : link.source, checked_add(reached, link.latency));
    }
  }
  return latency;
}

}  // namespace collsim
