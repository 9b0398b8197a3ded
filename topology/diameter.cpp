#include "topology/diameter.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "topology/error.hpp"
#include "topology/twin_nodes.hpp"

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

/// Which GPUs to look at for the routes from one of them.
class Targets {
 public:
  explicit Targets(const Cluster& cluster)
      : graph_(&cluster.graph()), twin_(first_twins(cluster)), second_(twin_.size()) {
    for (std::uint32_t node = 0; node < twin_.size(); ++node) {
      sets_ += twin_[node] == node ? 1U : 0U;
      if (twin_[node] != node && !second_[twin_[node]]) {
        second_[twin_[node]] = node;
      }
    }
  }

  /// About how many there are, beside those of the own node.
  [[nodiscard]] std::size_t count() const {
    return sets_ * std::max<std::size_t>(1, graph_->gpus().size() / graph_->nodes());
  }

  /// Those of the own node, and of one node of each set of twins.
  [[nodiscard]] std::vector<DeviceId> first_look(DeviceId from) const {
    const std::uint32_t own = node_of(from);
    return others(from,
                  [&](std::uint32_t node) { return node == own || stands_for_twins(node, own); });
  }

  /// The others of the nodes that are twins of these.
  [[nodiscard]] std::vector<DeviceId> twins_of(DeviceId from,
                                               const std::set<std::uint32_t>& nodes) const {
    const std::uint32_t own = node_of(from);
    return others(from, [&](std::uint32_t node) {
      return node != own && !stands_for_twins(node, own) && nodes.contains(twin_[node]);
    });
  }

  /// What stands for the twins of a GPU's node in `nodes` of twins_of().
  [[nodiscard]] std::uint32_t twins(DeviceId gpu) const { return twin_[node_of(gpu)]; }

 private:
  [[nodiscard]] std::uint32_t node_of(DeviceId gpu) const {
    return graph_->device(gpu).node.value_or(NodeId(0)).value();
  }
  /// The first of the twins that is not the sender's node.
  [[nodiscard]] bool stands_for_twins(std::uint32_t node, std::uint32_t own) const {
    const std::uint32_t first = twin_[node];
    return node == (first == own ? second_[first].value_or(own) : first);
  }
  template <class Wanted>
  [[nodiscard]] std::vector<DeviceId> others(DeviceId from, Wanted wanted) const {
    std::vector<DeviceId> found;
    for (const DeviceId gpu : graph_->gpus()) {
      if (gpu != from && wanted(node_of(gpu))) {
        found.push_back(gpu);
      }
    }
    return found;
  }

  const Graph* graph_;
  std::vector<std::uint32_t> twin_;
  std::vector<std::optional<std::uint32_t>> second_;  ///< by node that is the first of its twins
  std::size_t sets_ = 0;                              ///< of twins
};

/// Takes in the routes from one GPU to others; gives the nodes of those that had to be searched for.
std::set<std::uint32_t> look_at(const Cluster& cluster, const Targets& targets, DeviceId from,
                                const std::vector<DeviceId>& to, std::uint64_t most_links,
                                Diameter& found) {
  std::set<std::uint32_t> searched;
  const std::vector<RouteFigures> figures =
      survey_routes(cluster, from, to, SurveyRates::No, most_links);
  for (std::size_t i = 0; i < to.size(); ++i) {
    found.assumed += figures[i].assumed ? 1U : 0U;
    if (figures[i].searched) {
      searched.insert(targets.twins(to[i]));
    }
    take_in(found, {from, to[i], figures[i].links, figures[i].latency});
  }
  return searched;
}

}  // namespace

Diameter diameter(const Cluster& cluster, const SymmetryClasses& symmetry,
                  const DiameterLimits& limits) {
  const Graph& graph = cluster.graph();
  const std::span<const DeviceId> gpus = graph.gpus();
  COLLSIM_ENSURE(gpus.size() > 1, "a diameter needs two GPUs");
  const std::vector<DeviceId> unlike = representatives(graph, symmetry);
  std::vector<DeviceId> sources(gpus.begin(), gpus.end());
  const Targets targets(cluster);
  if (gpus.size() * (gpus.size() - 1) > limits.all) {
    sources = some_of(unlike, std::max<std::size_t>(1, limits.by_class / targets.count()));
  }
  Diameter found;
  found.sources = sources.size();
  found.classes = unlike.size();
  const std::uint64_t most_links = survey_links / sources.size();
  for (const DeviceId from : sources) {
    const std::set<std::uint32_t> searched =
        look_at(cluster, targets, from, targets.first_look(from), most_links, found);
    if (!searched.empty()) {
      look_at(cluster, targets, from, targets.twins_of(from, searched), most_links, found);
    }
  }
  return found;
}

}  // namespace collsim
