#include "sim/open_routes.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "topology/error.hpp"
#include "topology/route_shares.hpp"

namespace collsim::detail {

namespace {

/// The hops of the slowest of a route's paths, last one first. A sprayed route lists the links of
/// all its paths in order of distance, so a hop's predecessors stand before it.
std::vector<std::size_t> slowest_path(const Graph& graph, const Route& route) {
  const std::size_t count = route.hops.size();
  std::vector<Duration> until(count);
  std::vector<std::optional<std::size_t>> before(count);
  for (std::size_t hop = 0; hop < count; ++hop) {
    const Link& link = graph.link(route.hops[hop].link);
    for (std::size_t other = 0; other < hop; ++other) {
      const bool leads_here = graph.link(route.hops[other].link).target == link.source;
      if (leads_here && (!before[hop] || until[other] > until[*before[hop]])) {
        before[hop] = other;
      }
    }
    until[hop] = link.latency + (before[hop] ? until[*before[hop]] : Duration{});
  }
  std::vector<std::size_t> path;
  std::optional<std::size_t> hop =
      static_cast<std::size_t>(std::max_element(until.begin(), until.end()) - until.begin());
  for (; hop; hop = before[*hop]) {
    path.push_back(*hop);
  }
  return path;
}

/// Whether links carry other parts than the whole.
bool is_sprayed(const Route& route) {
  return std::any_of(route.hops.begin(), route.hops.end(), [](const RouteHop& hop) {
    return hop.share_numerator != hop.share_denominator;
  });
}

/// The same route for so many times the bytes.
Route carrying(Route route, WireFactor factor) {
  if (factor.numerator != factor.denominator) {
    for (RouteHop& hop : route.hops) {
      hop.share_numerator *= factor.numerator;
      hop.share_denominator *= factor.denominator;
    }
  }
  return route;
}

}  // namespace

OpenRoutes::OpenRoutes(const Cluster& cluster, Network& network, const CostParameters* costs)
    : graph_(&cluster.graph()),
      router_(&cluster.router()),
      network_(&network),
      hosts_(cluster.graph(), network, costs),
      levels_(cluster.graph().levels().size()),
      expected_(cluster.graph().links().size()) {}

PathId OpenRoutes::open(DeviceId from, DeviceId to, std::uint32_t connection,
                        WireProtocol protocol) {
  Route route = router_->route(from, to, connection);
  const PathKind kind = kind_of(*graph_, route);
  const PathId id = take(carrying(std::move(route), wire_factor(protocol)), kind);
  attribute_latency(id, paths_[id.index()].route);
  paths_[id.index()].sender = from;
  return id;
}

PathId OpenRoutes::open_through(DeviceId from, DeviceId to, std::span<const DeviceId> stops,
                                std::uint32_t connection, WireProtocol protocol) {
  const Route route = router_->route_through(from, to, stops, connection);
  PathKind kind = kind_of(*graph_, route);
  const auto is_cpu = [this](DeviceId stop) {
    return graph_->device(stop).kind == DeviceKind::Cpu;
  };
  std::optional<LinkId> host;
  if (const auto cpu = std::ranges::find_if(stops, is_cpu);
      kind == PathKind::Pcie && cpu != stops.end()) {
    kind = PathKind::Host;
    if (protocol != WireProtocol::None) {
      host = hosts_.enter(*cpu, from);
    }
  }
  const PathId id = take(carrying(each_link_once(route), wire_factor(protocol)), kind, host);
  attribute_latency(id, route);
  DeviceId& sender = paths_[id.index()].sender;
  sender = from;
  for (const DeviceId stop : stops) {
    if (graph_->device(stop).kind == DeviceKind::Gpu) {
      sender = stop;
    }
  }
  return id;
}

namespace {

/// The links up to the switch and down from it by which one GPU reaches another.
struct SwitchHops {
  LinkId up;
  LinkId down;
};

SwitchHops hops_over_switch(const Graph& graph, const Router& router, DeviceId from, DeviceId to) {
  const Route route = router.route(from, to, 0);
  constexpr std::size_t over_a_switch = 2;
  if (route.hops.size() != over_a_switch) {
    throw InputError("no switch joins " + graph.name(from) + " and " + graph.name(to) +
                     " directly, as NVLink SHARP needs");
  }
  return {route.hops[0].link, route.hops[1].link};
}

/// The link back; of parallel ones that with the same place among them.
LinkId link_against(const Graph& graph, LinkId id) {
  const Link& link = graph.link(id);
  const auto there = graph.links_between(link.source, link.target);
  const auto back = graph.links_between(link.target, link.source);
  const auto place = static_cast<std::size_t>(std::ranges::find(there, id) - there.begin());
  if (place >= back.size()) {
    throw InputError("a reduction in the network needs a link back against " + graph.name(id));
  }
  return back[place];
}

/// Once more over a link.
void add_once(Route& route, LinkId link) {
  const auto hop = std::ranges::find(route.hops, link, &RouteHop::link);
  if (hop == route.hops.end()) {
    route.hops.push_back({link, 1, 1});
  } else {
    ++hop->share_numerator;
  }
}

}  // namespace

PathId OpenRoutes::open_multimem(DeviceId gpu, std::span<const DeviceId> read_from,
                                 std::span<const DeviceId> write_to) {
  const auto is_other = [gpu](DeviceId device) { return device != gpu; };
  const auto reader = std::ranges::find_if(read_from, is_other);
  const auto writer = std::ranges::find_if(write_to, is_other);
  COLLSIM_ENSURE(reader != read_from.end() || writer != write_to.end(),
                 "a step through the switch without a peer");
  const DeviceId peer = reader != read_from.end() ? *reader : *writer;
  const LinkId own_up = hops_over_switch(*graph_, *router_, gpu, peer).up;
  const LinkId own_down = hops_over_switch(*graph_, *router_, peer, gpu).down;

  Route route;
  for (const DeviceId device : read_from) {
    add_once(route, device == gpu ? own_up : hops_over_switch(*graph_, *router_, device, gpu).up);
  }
  if (!read_from.empty()) {
    add_once(route, own_down);
  }
  if (!write_to.empty()) {
    add_once(route, own_up);
  }
  for (const DeviceId device : write_to) {
    add_once(route,
             device == gpu ? own_down : hops_over_switch(*graph_, *router_, gpu, device).down);
  }
  return take(std::move(route), PathKind::Nvlink);
}

PathId OpenRoutes::open_reduction(std::span<const Route> to_root) {
  std::vector<LinkId> up;
  bool forks = false;
  for (const Route& route : to_root) {
    forks = forks || is_sprayed(route);
    for (const RouteHop& hop : route.hops) {
      up.push_back(hop.link);
    }
  }
  const auto place = [this](LinkId id) { return std::pair(graph_->link(id).source, id); };
  std::ranges::sort(up, {}, place);
  const auto again = std::ranges::unique(up);
  up.erase(again.begin(), again.end());
  const auto source = [this](LinkId id) { return graph_->link(id).source; };
  forks = forks || std::ranges::adjacent_find(up, {}, source) != up.end();
  if (forks) {
    throw InputError("a reduction in the network takes one tree, and the routes to " +
                         graph_->name(graph_->link(to_root.front().hops.back().link).target) +
                         " fork",
                     "fabric.routing", "static routing, as InfiniBand has it");
  }
  Route tree;
  for (const LinkId id : up) {
    tree.hops.push_back({id, 1, 1});
    tree.hops.push_back({link_against(*graph_, id), 1, 1});
  }
  return take(std::move(tree), PathKind::Network);
}

PathId OpenRoutes::open_resource(LinkId resource) {
  Route route;
  route.hops.push_back({resource, 1, 1});
  return take(std::move(route), PathKind::Network);
}

PathId OpenRoutes::take(Route route, PathKind kind, std::optional<LinkId> host) {
  Route with_host = route;
  if (host) {
    RouteHop hop = route.hops.front();
    hop.link = *host;
    with_host.hops.push_back(hop);
  }
  const PathId id = network_->open(with_host);
  if (id.index() >= paths_.size()) {
    paths_.resize(id.index() + 1);
    latencies_.resize(paths_.size() * levels_);
  }
  Path& path = paths_[id.index()];
  COLLSIM_ENSURE(path.users == 0, "the network opened a path twice");
  path.sprayed = is_sprayed(route);
  path.route = std::move(route);
  path.kind = kind;
  path.host = host;
  if (path.sprayed) {
    path.route.hops.shrink_to_fit();  // there may be thousands
  }
  path.users = 1;
  std::fill_n(latencies_.begin() + static_cast<std::ptrdiff_t>(id.index() * levels_), levels_,
              Duration{});
  return id;
}

void OpenRoutes::attribute_latency(PathId id, const Route& route) {
  const auto begin = latencies_.begin() + static_cast<std::ptrdiff_t>(id.index() * levels_);
  Duration sum{};
  const auto add = [&](const RouteHop& hop) {
    const Link& link = graph_->link(hop.link);
    begin[static_cast<std::ptrdiff_t>(link.level.index())] += link.latency;
    sum += link.latency;
  };
  if (is_sprayed(route)) {
    for (const std::size_t hop : slowest_path(*graph_, route)) {
      add(route.hops[hop]);
    }
  } else {
    for (const RouteHop& hop : route.hops) {
      add(hop);
    }
  }
  COLLSIM_ENSURE(sum == route.latency, "a route's latency is not the sum of its links'");
}

void OpenRoutes::release(PathId id) {
  Path& path = paths_[id.index()];
  if (--path.users != 0) {
    return;
  }
  settle_sent(path);
  network_->close(id);
  if (path.host) {
    hosts_.leave(*path.host, path.sender);
  }
  path.route = Route{};
}

void OpenRoutes::count(PathId id, Bytes bytes, std::uint32_t multiplicity) {
  Path& path = paths_[id.index()];
  if (!path.sprayed) {
    path.sent += bytes * multiplicity;
    return;
  }
  for (const RouteHop& hop : path.route.hops) {
    expected_[hop.link.index()] += fine_bytes_on(bytes, hop) * multiplicity;
  }
}

void OpenRoutes::settle_sent(Path& path) {
  if (path.sent == Bytes{}) {
    return;
  }
  for (const RouteHop& hop : path.route.hops) {
    expected_[hop.link.index()] += to_fine(path.sent);
  }
  path.sent = Bytes{};
}

void OpenRoutes::check_links() {
  for (Path& path : paths_) {
    if (path.users != 0) {
      settle_sent(path);
    }
  }
  const std::span<const LinkUse> moved = network_->link_use();
  for (std::size_t link = 0; link < expected_.size(); ++link) {
    COLLSIM_ENSURE(moved[link].fine_bytes == expected_[link],
                   "the bytes that crossed " + graph_->name(LinkId(link)) +
                       " are not those that the programs sent over it");
  }
}

}  // namespace collsim::detail
