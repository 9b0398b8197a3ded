#include "topology/routing.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>

#include "topology/error.hpp"
#include "topology/nearest_nic.hpp"
#include "topology/path_search.hpp"

namespace collsim {

using detail::PathLayers;
using detail::PathLink;
using detail::Scope;

namespace {

bool is_switch(const Device& device) {
  return device.kind == DeviceKind::Nvswitch || device.kind == DeviceKind::PcieSwitch ||
         device.kind == DeviceKind::NetworkSwitch;
}

/// The switch through which a device is reached: the first of no node that has a link to it, else
/// the first.
std::optional<DeviceId> leaf_of(const Graph& graph, DeviceId device) {
  std::optional<DeviceId> first;
  for (const LinkId id : graph.links_in(device)) {
    const DeviceId source = graph.link(id).source;
    if (!is_switch(graph.device(source))) {
      continue;
    }
    if (!graph.device(source).node) {
      return source;
    }
    if (!first) {
      first = source;
    }
  }
  return first;
}

/// By device: its place among the GPUs and NICs of its leaf; GPUs without one: of their node.
std::vector<std::uint32_t> indices_within_leaves(const Graph& graph) {
  std::vector<std::uint32_t> index(graph.devices().size(), 0);
  std::vector<std::uint32_t> attached(graph.devices().size(), 0);
  std::vector<std::uint32_t> in_node(std::size_t{graph.nodes()} + 1, 0);
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    const Device& device = graph.devices()[i];
    if (device.kind != DeviceKind::Gpu && device.kind != DeviceKind::Nic) {
      continue;
    }
    if (const auto leaf = leaf_of(graph, DeviceId(i))) {
      index[i] = attached[leaf->index()]++;
    } else if (device.kind == DeviceKind::Gpu) {
      index[i] = in_node[device.node ? device.node->index() : graph.nodes()]++;
    }
  }
  return index;
}

bool nodes_meet_without_nics(const Graph& graph) {
  return std::ranges::any_of(graph.links(), [&](const Link& link) {
    const Device& source = graph.device(link.source);
    const Device& target = graph.device(link.target);
    return source.node != target.node && source.kind != DeviceKind::Nic &&
           target.kind != DeviceKind::Nic;
  });
}

RouteHop hop_with_share(LinkId link, std::uint64_t part, std::uint64_t whole) {
  const std::uint64_t divisor = std::gcd(part, whole);
  return {link, static_cast<std::uint32_t>(part / divisor),
          static_cast<std::uint32_t>(whole / divisor)};
}

Rate rate_of(const Graph& graph, const RouteHop& hop) {
  const std::int64_t units = graph.link(hop.link).bandwidth.units();
  const std::int64_t divisor = std::gcd(units, std::int64_t{hop.share_numerator});
  std::int64_t numerator = 0;
  if (__builtin_mul_overflow(units / divisor, std::int64_t{hop.share_denominator}, &numerator)) {
    throw std::overflow_error("the rate of a sprayed route exceeds 64 bits");
  }
  return {numerator, hop.share_numerator / divisor};
}

/// For each device on the paths, the number of ways from the source to it, or from it to the
/// target.
struct PathCounts {
  std::vector<std::uint64_t> from_source;
  std::vector<std::uint64_t> to_target;
};

PathCounts count_paths(const PathLayers& paths) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  PathCounts counts{std::vector<std::uint64_t>(paths.devices(), 0),
                    std::vector<std::uint64_t>(paths.devices(), 0)};
  counts.from_source[PathLayers::source()] = 1;
  counts.to_target[PathLayers::target()] = 1;
  // A count never exceeds the number of paths from end to end, so checking against `most` at each
  // addition keeps 64 bits from overflowing and finds every route with too many paths.
  const auto add = [](std::uint64_t& sum, std::uint64_t part) {
    sum += part;
    if (sum > most) {
      throw InputError("spray would split a route over more than 4294967295 paths");
    }
  };
  for (std::size_t i = 0; i < paths.length(); ++i) {
    for (const PathLink& link : paths.layer(i)) {
      add(counts.from_source[link.target], counts.from_source[link.source]);
    }
  }
  for (std::size_t i = paths.length(); i-- > 0;) {
    for (const PathLink& link : paths.layer(i)) {
      add(counts.to_target[link.source], counts.to_target[link.target]);
    }
  }
  return counts;
}

}  // namespace

Rate Route::full_rate(const Graph& graph) const {
  COLLSIM_ENSURE(!hops.empty(), "a route without hops has no rate");
  Rate least = rate_of(graph, hops.front());
  for (const RouteHop& hop : hops) {
    const Rate rate = rate_of(graph, hop);
    if (compare(rate, least) < 0) {
      least = rate;
    }
  }
  return least;
}

LinkId Route::narrowest(const Graph& graph) const {
  const Rate least = full_rate(graph);
  for (const RouteHop& hop : hops) {
    if (compare(rate_of(graph, hop), least) == 0) {
      return hop.link;
    }
  }
  COLLSIM_ENSURE(false, "some hop sets the rate of a route");
}

Router::Router(const Graph& graph, RoutingKind routing)
    : graph_(&graph),
      routing_(routing),
      nic_of_gpu_(detail::nearest_nics(graph)),
      index_within_leaf_(indices_within_leaves(graph)),
      nodes_meet_without_nics_(nodes_meet_without_nics(graph)) {}

std::optional<DeviceId> Router::nic_of(DeviceId gpu) const { return nic_of_gpu_[gpu.index()]; }

Route Router::route(DeviceId from, DeviceId to) const {
  const bool same_node = graph_->device(from).node == graph_->device(to).node;
  if (same_node || nodes_meet_without_nics_) {
    const PathLayers paths(*graph_, Scope::without_nics(), from, to);
    if (paths.found()) {
      Route route;
      append(route, paths, to);
      return route;
    }
  }
  if (auto route = route_by_nics(from, to)) {
    return *std::move(route);
  }
  const PathLayers paths(*graph_, Scope::everywhere(), from, to);
  if (!paths.found()) {
    throw InputError("there is no path from " + graph_->name(from) + " to " + graph_->name(to));
  }
  Route route;
  append(route, paths, to);
  return route;
}

std::optional<Route> Router::route_by_nics(DeviceId from, DeviceId to) const {
  const auto nic_out = nic_of(from);
  const auto nic_in = nic_of(to);
  if (!nic_out || !nic_in) {
    return std::nullopt;
  }
  struct Leg {
    DeviceId from;
    DeviceId to;
    Scope scope;
  };
  const std::array<Leg, 3> legs{{{from, *nic_out, Scope::within(graph_->device(from).node)},
                                 {*nic_out, *nic_in, Scope::fabric()},
                                 {*nic_in, to, Scope::within(graph_->device(to).node)}}};
  Route route;
  for (const Leg& leg : legs) {
    if (leg.from == leg.to) {
      continue;
    }
    const PathLayers paths(*graph_, leg.scope, leg.from, leg.to);
    if (!paths.found()) {
      return std::nullopt;
    }
    append(route, paths, leg.to);
  }
  return route;
}

void Router::append(Route& route, const PathLayers& paths, DeviceId to) const {
  switch (routing_) {
    case RoutingKind::Fixed:
      return append_fixed(route, paths, to);
    case RoutingKind::Spray:
      return append_sprayed(route, paths);
  }
}

void Router::append_fixed(Route& route, const PathLayers& paths, DeviceId to) const {
  std::uint32_t here = PathLayers::source();
  for (std::size_t i = 0; i < paths.length(); ++i) {
    const auto leaves_here = [here](const PathLink& link) { return link.source == here; };
    const auto layer = paths.layer(i);
    const auto choices = static_cast<std::uint32_t>(std::ranges::count_if(layer, leaves_here));
    std::uint32_t skip = index_within_leaf_[to.index()] % choices;
    const auto chosen = std::ranges::find_if(
        layer, [&](const PathLink& link) { return leaves_here(link) && skip-- == 0; });
    route.hops.push_back({chosen->link});
    route.latency = checked_add(route.latency, graph_->link(chosen->link).latency);
    here = chosen->target;
  }
}

void Router::append_sprayed(Route& route, const PathLayers& paths) const {
  const PathCounts counts = count_paths(paths);
  const std::uint64_t all = counts.from_source[PathLayers::target()];
  std::vector<Duration> latency(paths.devices(), Duration::zero());
  for (std::size_t i = 0; i < paths.length(); ++i) {
    for (const PathLink& link : paths.layer(i)) {
      const std::uint64_t part = counts.from_source[link.source] * counts.to_target[link.target];
      route.hops.push_back(hop_with_share(link.link, part, all));
      const Duration through = checked_add(latency[link.source], graph_->link(link.link).latency);
      latency[link.target] = std::max(latency[link.target], through);
    }
  }
  route.latency = checked_add(route.latency, latency[PathLayers::target()]);
}

}  // namespace collsim
