// The legs of routes: one by one, and those of a route by NICs one after the other.

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "topology/path_search.hpp"
#include "topology/route_shares.hpp"
#include "topology/routing.hpp"

namespace collsim {

using detail::PathLayers;
using detail::RouteLeg;

namespace {

/// The links of a leg that has one shortest path, of one or two links: the most common ones, and all that
/// a search would find.
struct ShortWay {
  std::array<LinkId, 2> links{};
  std::size_t count{0};  ///< 0: there is none, or not just one
};

ShortWay only_short_way(const Graph& graph, detail::Scope scope, DeviceId from, DeviceId to) {
  // A switch with many cables is better searched from the other end.
  constexpr std::size_t most_links_out = 32;
  if (const auto direct = graph.links_between(from, to); !direct.empty()) {
    return {{direct.front()}, direct.size() == 1 ? std::size_t{1} : std::size_t{0}};
  }
  ShortWay way;
  const auto out = graph.links_out(from);
  if (out.size() > most_links_out) {
    return way;
  }
  for (const LinkId first : out) {
    const DeviceId middle = graph.link(first).target;
    const auto second = graph.links_between(middle, to);
    if (second.empty() || !scope.admits(graph.device(middle))) {
      continue;
    }
    if (way.count != 0 || second.size() > 1) {
      return {};
    }
    way = {{first, second.front()}, 2};
  }
  return way;
}

}  // namespace

/// Between stops of a route, which the two ends are: the scope follows from them. False: no path.
bool Router::append_leg(Route& route, const Flow& leg, LegMemory* memory) const {
  const bool hashed = options_.routing == RoutingKind::Ecmp;
  const bool by_nic = graph_->device(leg.from).kind == DeviceKind::Nic ||
                      graph_->device(leg.to).kind == DeviceKind::Nic;
  // Hashed ones hardly ever come back. A short way from GPU to GPU is found as fast as one is looked up,
  // and there are too many of them.
  if (memory == nullptr || hashed || !by_nic) {
    if (append_short_way(route, leg)) {
      return true;
    }
  }
  if (memory == nullptr) {
    return append_part(route, search_leg(leg));
  }
  const detail::FirstHop first = first_hop(leg);
  const LegMemory::Key key{first.alike, leg.to, hashed ? leg.connection : 0};
  if (const std::optional<LegMemory::Leg> known = memory->find(key)) {
    return append_known(route, *known, first);
  }
  const Route part = search_leg(leg);
  const auto is_whole = [](const RouteHop& hop) { return hop.share_denominator == 1; };
  if (part.hops.size() <= LegMemory::most_links && std::ranges::all_of(part.hops, is_whole)) {
    std::array<LinkId, LegMemory::most_links> links;
    std::ranges::transform(part.hops, links.begin(), &RouteHop::link);
    memory->keep(key, std::span(links).first(part.hops.size()), part.latency);
  }
  return append_part(route, part);
}

/// Adds a leg that has one shortest path, a short one; false: it is not such a leg.
bool Router::append_short_way(Route& route, const Flow& leg) const {
  const ShortWay way = only_short_way(*graph_, scope_between(leg.from, leg.to), leg.from, leg.to);
  for (const LinkId link : std::span(way.links).first(way.count)) {
    route.hops.push_back({link});
    route.latency = checked_add(route.latency, graph_->link(link).latency);
  }
  return way.count > 0;
}

/// A leg, wherever it goes; without hops: there is no path.
Route Router::search_leg(const Flow& leg) const {
  Route part;
  if (append_short_way(part, leg)) {
    return part;
  }
  const PathLayers paths(*graph_, scope_between(leg.from, leg.to), leg.from, leg.to);
  if (paths.found()) {
    append(part, paths, leg);
  }
  return part;
}

bool Router::append_part(Route& route, const Route& part) {
  route.hops.insert(route.hops.end(), part.hops.begin(), part.hops.end());
  route.latency = checked_add(route.latency, part.latency);
  return !part.hops.empty();
}

/// Adds a leg that was found for a device whose ways are alike but for the first link.
bool Router::append_known(Route& route, const LegMemory::Leg& known,
                          const detail::FirstHop& first) const {
  if (known.links.empty()) {
    return false;
  }
  const LinkId begin = first.link.value_or(known.links.front());
  const Duration difference =
      graph_->link(begin).latency - graph_->link(known.links.front()).latency;
  route.hops.push_back({begin});
  for (const LinkId link : known.links.subspan(1)) {
    route.hops.push_back({link});
  }
  route.latency = checked_add(route.latency, known.latency + difference);
  return true;
}

/// By which devices and link a leg may begin. Hashes look at its source, so that no two are alike.
detail::FirstHop Router::first_hop(const Flow& leg) const {
  const bool in_fabric = graph_->device(leg.from).kind == DeviceKind::Nic &&
                         graph_->device(leg.to).kind == DeviceKind::Nic;
  return in_fabric && options_.routing != RoutingKind::Ecmp
             ? first_hops_[leg.from.index()]
             : detail::FirstHop{leg.from, std::nullopt};
}

Router::StripeEnds Router::ends_of(DeviceId from, const Stripe& stripe, DeviceId to) {
  StripeEnds ends{{from}, 1};
  for (const DeviceId next : {stripe.leaves_from, stripe.out, stripe.in, to}) {
    if (next != ends.devices[ends.count - 1]) {
      ends.devices[ends.count++] = next;
    }
  }
  return ends;
}

std::vector<std::vector<RouteLeg>> Router::legs_by_nics(DeviceId from, DeviceId to) const {
  std::vector<std::vector<RouteLeg>> rows;
  for (const Stripe& stripe : stripes(from, to)) {
    const StripeEnds ends = ends_of(from, stripe, to);
    std::vector<RouteLeg>& legs = rows.emplace_back();
    for (std::size_t i = 1; i < ends.count; ++i) {
      const DeviceId here = ends.devices[i - 1];
      legs.push_back({here, ends.devices[i], scope_between(here, ends.devices[i])});
    }
  }
  return rows;
}

std::optional<Route> Router::route_by_nics(const Flow& flow, LegMemory* memory) const {
  const std::vector<Stripe> ways = stripes(flow.from, flow.to);
  if (ways.empty()) {
    return std::nullopt;
  }
  if (ways.size() == 1) {
    Route route;
    return append_stripe(route, ends_of(flow.from, ways.front(), flow.to), flow.connection, memory)
               ? std::optional(std::move(route))
               : std::nullopt;
  }
  std::vector<Route> routes(ways.size());
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (!append_stripe(routes[i], ends_of(flow.from, ways[i], flow.to), flow.connection, memory)) {
      return std::nullopt;
    }
  }
  return detail::side_by_side(routes);
}

bool Router::append_stripe(Route& route, const StripeEnds& ends, std::uint32_t connection,
                           LegMemory* memory) const {
  constexpr std::size_t usual_hops = 8;
  route.hops.reserve(usual_hops);
  for (std::size_t i = 1; i < ends.count; ++i) {
    if (!append_leg(route, {ends.devices[i - 1], ends.devices[i], connection}, memory)) {
      return false;
    }
  }
  return true;
}

}  // namespace collsim
