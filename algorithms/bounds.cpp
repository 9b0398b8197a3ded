#include "algorithms/bounds.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "algorithms/bounds_traffic.hpp"
#include "topology/disjoint_sets.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

using detail::CutSet;

/// A bound, or a stronger one at another place.
class Tightest {
 public:
  explicit Tightest(std::string name) : name_(std::move(name)) {}

  /// A set of ranks and what can leave and enter it. Where nothing can, there is no bound to give:
  /// the run itself says that there is no route.
  void consider(const CollectiveCall& call, const CutSet& set, const Cut& cut, std::size_t place) {
    if (set.size == 0 || set.size == call.ranks) {
      return;
    }
    const detail::Crossing crossing = detail::must_cross(call, set);
    consider(crossing.out, cut.out, place);
    consider(crossing.in, cut.in, place);
  }

  /// `name_of(place)` names the tightest place.
  template <class NameOf>
  void add_to(std::vector<Bound>& bounds, const NameOf& name_of) const {
    if (place_) {
      bounds.push_back(Bound{name_, name_of(*place_), time_});
    }
  }

 private:
  void consider(U128 fine, Bandwidth capacity, std::size_t place) {
    if (fine == 0 || capacity.units() == 0) {
      return;
    }
    const Duration time = transfer_time_fine(fine, Rate(capacity));
    if (place_ && time <= time_) {
      return;
    }
    time_ = time;
    place_ = place;
  }

  std::string name_;
  Duration time_{};
  std::optional<std::size_t> place_;
};

/// Every rank a set of its own.
void add_gpu_cut(std::vector<Bound>& bounds, const Graph& graph, std::span<const DeviceId> gpus,
                 const std::vector<Cut>& cuts, const CollectiveCall& call) {
  std::vector<std::uint32_t> set_of_rank(gpus.size());
  std::iota(set_of_rank.begin(), set_of_rank.end(), 0U);
  const std::vector<CutSet> sets = detail::cut_sets(call, set_of_rank, call.ranks);
  Tightest tightest("gpu cut");
  for (std::size_t rank = 0; rank < sets.size(); ++rank) {
    tightest.consider(call, sets[rank], cuts[rank], rank);
  }
  tightest.add_to(bounds, [&](std::size_t rank) { return graph.name(gpus[rank]); });
}

void add_node_cut(std::vector<Bound>& bounds, const Graph& graph, std::span<const DeviceId> gpus,
                  const CollectiveCall& call) {
  std::vector<std::uint32_t> set_of_rank;
  for (const DeviceId gpu : gpus) {
    const std::optional<NodeId> node = graph.device(gpu).node;
    if (!node) {
      return;
    }
    set_of_rank.push_back(node->value());
  }
  const std::vector<CutSet> sets = detail::cut_sets(call, set_of_rank, graph.nodes());
  const std::vector<Cut> cuts = node_cuts(graph);
  Tightest tightest("node cut");
  for (std::size_t node = 0; node < sets.size(); ++node) {
    tightest.consider(call, sets[node], cuts[node], node);
  }
  tightest.add_to(bounds, [](std::size_t node) { return "node" + std::to_string(node); });
}

/// Nodes together with the network switches next to them.
DisjointSets leaf_groups(const Graph& graph) {
  DisjointSets groups(graph.devices().size());
  std::vector<std::optional<std::size_t>> first_of_node(graph.nodes());
  for (std::size_t index = 0; index < graph.devices().size(); ++index) {
    const std::optional<NodeId> node = graph.devices()[index].node;
    if (!node) {
      continue;
    }
    std::optional<std::size_t>& first = first_of_node[node->index()];
    if (!first) {
      first = index;
    }
    groups.join(index, *first);
  }
  for (const Link& link : graph.links()) {
    const Device& source = graph.device(link.source);
    const Device& target = graph.device(link.target);
    if (source.node && target.kind == DeviceKind::NetworkSwitch) {
      groups.join(link.source.index(), link.target.index());
    }
  }
  return groups;
}

void add_leaf_group_cut(std::vector<Bound>& bounds, const Graph& graph,
                        std::span<const DeviceId> gpus, const CollectiveCall& call) {
  DisjointSets groups = leaf_groups(graph);
  const std::size_t devices = graph.devices().size();
  std::vector<std::uint32_t> set_of_rank;
  for (const DeviceId gpu : gpus) {
    set_of_rank.push_back(static_cast<std::uint32_t>(groups.of(gpu.index())));
  }
  std::vector<std::optional<std::size_t>> leaf_of(devices);
  for (std::size_t index = 0; index < devices; ++index) {
    const bool is_leaf = graph.devices()[index].kind == DeviceKind::NetworkSwitch;
    std::optional<std::size_t>& leaf = leaf_of[groups.of(index)];
    if (is_leaf && !leaf) {
      leaf = index;
    }
  }
  std::vector<Cut> cuts(devices);
  for (const Link& link : graph.links()) {
    const std::size_t source = groups.of(link.source.index());
    const std::size_t target = groups.of(link.target.index());
    if (source == target) {
      continue;
    }
    cuts[source].out = checked_add(cuts[source].out, link.bandwidth);
    cuts[target].in = checked_add(cuts[target].in, link.bandwidth);
  }
  const std::vector<CutSet> sets =
      detail::cut_sets(call, set_of_rank, static_cast<std::uint32_t>(devices));
  Tightest tightest("leaf group cut");
  for (std::size_t group = 0; group < devices; ++group) {
    // Without a switch, the group is a node and has its bound already.
    if (leaf_of[group]) {
      tightest.consider(call, sets[group], cuts[group], group);
    }
  }
  tightest.add_to(bounds, [&](std::size_t group) { return graph.name(DeviceId(*leaf_of[group])); });
}

/// All that must be sent over all that the GPUs can send.
void add_total_sent(std::vector<Bound>& bounds, const std::vector<Cut>& cuts,
                    const CollectiveCall& call) {
  const std::optional<U128> sent = detail::must_be_sent(call);
  if (!sent) {
    return;
  }
  U128 capacity = 0;
  for (const Cut& cut : cuts) {
    capacity += static_cast<U128>(cut.out.units());
  }
  if (capacity == 0) {
    return;
  }
  // Very large machines have more capacity than a Bandwidth holds. Halving the capacity (rounded up)
  // and the data (rounded down) leaves a bound.
  U128 fine = *sent;
  while (capacity > static_cast<U128>(std::numeric_limits<std::int64_t>::max())) {
    capacity = capacity / 2 + 1;
    fine /= 2;
  }
  const Rate rate(static_cast<std::int64_t>(capacity), 1);
  bounds.push_back(Bound{"total sent", "", transfer_time_fine(fine, rate)});
}

/// Latency of the quickest way that data can take. GPUs forward too: an algorithm may send in several
/// hops.
std::vector<std::optional<Duration>> quickest(const Graph& graph, DeviceId start,
                                              SearchDirection direction) {
  return shortest_latencies(graph, start, direction, GpusForward::Yes);
}

Duration longest(const std::vector<std::optional<Duration>>& latencies,
                 std::span<const DeviceId> gpus) {
  Duration result{};
  for (const DeviceId gpu : gpus) {
    result = std::max(result, latencies[gpu.index()].value_or(Duration{}));
  }
  return result;
}

/// A search costs one visit a link. Above this many visits only every k-th rank is a source; the
/// result is then a bound that may be less tight.
constexpr std::size_t most_link_visits = 1'000'000;

Duration longest_latency(const Graph& graph, std::span<const DeviceId> gpus,
                         const CollectiveCall& call) {
  if (has_root(call.kind)) {
    const bool from_root =
        call.kind == CollectiveKind::Broadcast || call.kind == CollectiveKind::Scatter;
    return longest(quickest(graph, gpus[call.root.index()],
                            from_root ? SearchDirection::Outward : SearchDirection::Inward),
                   gpus);
  }
  const std::size_t searches =
      std::max<std::size_t>(1, most_link_visits / std::max<std::size_t>(1, graph.links().size()));
  const std::size_t stride = (gpus.size() + searches - 1) / searches;
  Duration result{};
  for (std::size_t rank = 0; rank < gpus.size(); rank += stride) {
    const auto latencies = quickest(graph, gpus[rank], SearchDirection::Outward);
    const std::span<const DeviceId> targets =
        call.kind == CollectiveKind::SendRecv ? gpus.subspan((rank + 1) % gpus.size(), 1) : gpus;
    result = std::max(result, longest(latencies, targets));
  }
  return result;
}

std::vector<Bound> all_bounds(const Graph& graph, std::span<const DeviceId> gpus,
                              const CollectiveCall& call, Reduction reduction) {
  std::vector<Bound> bounds;
  const std::vector<Cut> cuts = gpu_cuts(graph, gpus);
  add_gpu_cut(bounds, graph, gpus, cuts, call);
  add_node_cut(bounds, graph, gpus, call);
  add_leaf_group_cut(bounds, graph, gpus, call);
  if (reduction == Reduction::AtRanks) {
    add_total_sent(bounds, cuts, call);
  }
  bounds.push_back(Bound{"latency", "", longest_latency(graph, gpus, call)});
  std::stable_sort(bounds.begin(), bounds.end(),
                   [](const Bound& a, const Bound& b) { return a.time > b.time; });
  return bounds;
}

}  // namespace

std::vector<Bound> lower_bounds(const Cluster& cluster, std::span<const DeviceId> gpus,
                                const CollectiveCall& call, Reduction reduction) {
  COLLSIM_ENSURE(gpus.size() == call.ranks, "one GPU a rank");
  if (call.ranks <= 1 || call.count == 0) {
    return {};
  }
  try {
    return all_bounds(cluster.graph(), gpus, call, reduction);
  } catch (const std::overflow_error& error) {
    throw out_of_exact_range(error);
  }
}

}  // namespace collsim
