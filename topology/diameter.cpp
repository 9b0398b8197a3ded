#include "topology/diameter.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "topology/error.hpp"

namespace collsim {

namespace {

/// The first GPU of each class, in order.
std::vector<DeviceId> representatives(const Graph& graph, const SymmetryClasses& symmetry) {
  std::set<std::uint32_t> seen;
  std::vector<DeviceId> first;
  for (const DeviceId gpu : graph.gpus()) {
    if (seen.insert(symmetry.of_device[gpu.index()]).second) {
      first.push_back(gpu);
    }
  }
  return first;
}

/// At most `most` of them, evenly spread, the first included.
std::vector<DeviceId> some_of(const std::vector<DeviceId>& all, std::size_t most) {
  std::vector<DeviceId> some;
  const std::size_t count = std::min(all.size(), most);
  for (std::size_t i = 0; i < count; ++i) {
    some.push_back(all[i * all.size() / count]);
  }
  return some;
}

}  // namespace

// Hops come in order along each path, so the length up to a device is known when a hop leaves it.
std::size_t path_length(const Graph& graph, const Route& route) {
  std::map<DeviceId, std::size_t> length;
  std::size_t longest = 0;
  for (const RouteHop& hop : route.hops) {
    const Link& link = graph.link(hop.link);
    const std::size_t beyond = length[link.source] + 1;
    std::size_t& known = length[link.target];
    known = std::max(known, beyond);
    longest = std::max(longest, known);
  }
  return longest;
}

Diameter diameter(const Cluster& cluster, const SymmetryClasses& symmetry,
                  std::size_t most_routes) {
  const Graph& graph = cluster.graph();
  const std::span<const DeviceId> gpus = graph.gpus();
  COLLSIM_ENSURE(gpus.size() > 1, "a diameter needs two GPUs");
  const std::size_t routes_each = gpus.size() - 1;
  const std::vector<DeviceId> unlike = representatives(graph, symmetry);
  std::vector<DeviceId> sources(gpus.begin(), gpus.end());
  if (gpus.size() * routes_each > most_routes) {
    sources = some_of(unlike, std::max<std::size_t>(1, most_routes / routes_each));
  }
  Diameter found;
  found.sources = sources.size();
  found.classes = unlike.size();
  for (const DeviceId from : sources) {
    for (const DeviceId to : gpus) {
      if (from == to) {
        continue;
      }
      const Route route = cluster.router().route(from, to);
      const LongestRoute candidate{from, to, path_length(graph, route), route.latency};
      const auto by_links = [](const LongestRoute& r) { return std::tuple(r.links, r.latency); };
      const auto by_latency = [](const LongestRoute& r) { return std::tuple(r.latency, r.links); };
      if (by_links(candidate) > by_links(found.most_links)) {
        found.most_links = candidate;
      }
      if (by_latency(candidate) > by_latency(found.slowest)) {
        found.slowest = candidate;
      }
    }
  }
  return found;
}

}  // namespace collsim
