#include "topology/diameter.hpp"

#include <algorithm>
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

void take_in(Diameter& found, const LongestRoute& route) {
  const auto by_links = [](const LongestRoute& r) { return std::tuple(r.links, r.latency); };
  const auto by_latency = [](const LongestRoute& r) { return std::tuple(r.latency, r.links); };
  if (by_links(route) > by_links(found.most_links)) {
    found.most_links = route;
  }
  if (by_latency(route) > by_latency(found.slowest)) {
    found.slowest = route;
  }
}

}  // namespace

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
    std::vector<DeviceId> others(gpus.begin(), gpus.end());
    std::erase(others, from);
    const std::vector<RouteFigures> figures =
        survey_routes(cluster, from, others, SurveyRates::No, survey_links / sources.size());
    for (std::size_t i = 0; i < others.size(); ++i) {
      found.assumed += figures[i].assumed ? 1U : 0U;
      take_in(found, {from, others[i], figures[i].links, figures[i].latency});
    }
  }
  return found;
}

}  // namespace collsim
