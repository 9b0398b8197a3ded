#include "sim/connection_route.hpp"

#include <algorithm>
#include <utility>

#include "sim/connection_stops.hpp"
#include "sim/fabric_reduction.hpp"
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

/// Along the links of a route in their order.
std::vector<Duration> latency_by_level(const Graph& graph, const Route& route) {
  std::vector<Duration> latencies(graph.levels().size());
  Duration sum{};
  const auto add = [&](const RouteHop& hop) {
    const Link& link = graph.link(hop.link);
    latencies[link.level.index()] += link.latency;
    sum += link.latency;
  };
  if (is_sprayed(route)) {
    for (const std::size_t hop : slowest_path(graph, route)) {
      add(route.hops[hop]);
    }
  } else {
    for (const RouteHop& hop : route.hops) {
      add(hop);
    }
  }
  COLLSIM_ENSURE(sum == route.latency, "a route's latency is not the sum of its links'");
  return latencies;
}

}  // namespace

bool is_sprayed(const Route& route) {
  return std::any_of(route.hops.begin(), route.hops.end(), [](const RouteHop& hop) {
    return hop.share_numerator != hop.share_denominator;
  });
}

ConnectionRoute connection_route(const Cluster& cluster, DeviceId from, DeviceId to,
                                 std::span<const DeviceId> stops, std::uint32_t connection,
                                 WireProtocol protocol, LegMemory* legs) {
  const Graph& graph = cluster.graph();
  const Router& router = cluster.router();
  ConnectionRoute result;
  result.sender = from;
  if (stops.empty()) {
    Route route = router.route(from, to, connection, legs);
    result.kind = kind_of(graph, route);
    result.latency_by_level = latency_by_level(graph, route);
    result.route = carrying(std::move(route), wire_factor(protocol));
    return result;
  }
  const Route route = router.route_through(from, to, stops, connection, legs);
  result.kind = kind_of(graph, route);
  result.latency_by_level = latency_by_level(graph, route);
  result.route = carrying(each_link_once(route), wire_factor(protocol));
  const auto is_cpu = [&graph](DeviceId stop) {
    return graph.device(stop).kind == DeviceKind::Cpu;
  };
  if (const auto cpu = std::ranges::find_if(stops, is_cpu);
      result.kind == PathKind::Pcie && cpu != stops.end()) {
    result.kind = PathKind::Host;
    if (protocol != WireProtocol::None) {
      result.host = *cpu;
    }
  }
  for (const DeviceId stop : stops) {
    if (graph.device(stop).kind == DeviceKind::Gpu) {
      result.sender = stop;
    }
  }
  return result;
}

namespace {

/// What a send slot's messages go through; nothing: as routed.
std::vector<DeviceId> stops_to(const LaneOnGpus& from, std::uint32_t send_slot, Rank peer) {
  const Waypoints waypoints = from.program->waypoints(from.rank, from.lane, send_slot);
  return waypoints == Waypoints{}
             ? std::vector<DeviceId>{}
             : stops_of(*from.cluster, *from.communicator, from.rank, peer, waypoints);
}

}  // namespace

ConnectionRoute connection_route(const LaneOnGpus& from, std::uint32_t send_slot,
                                 WireProtocol protocol) {
  const Rank peer = from.program->send_to(from.rank, from.lane, send_slot).peer;
  const std::uint32_t channel = from.program->lane(from.rank, from.lane).channel;
  return connection_route(*from.cluster, from.gpu(from.rank), from.gpu(peer),
                          stops_to(from, send_slot, peer), channel, protocol, from.legs);
}

namespace {

/// The links up to the switch and down from it by which one GPU reaches another.
struct SwitchHops {
  LinkId up;
  LinkId down;
};

SwitchHops hops_over_switch(const Cluster& cluster, DeviceId from, DeviceId to) {
  const Route route = cluster.router().route(from, to);
  constexpr std::size_t over_a_switch = 2;
  if (route.hops.size() != over_a_switch) {
    throw InputError("no switch joins " + cluster.graph().name(from) + " and " +
                     cluster.graph().name(to) + " directly, as NVLink SHARP needs");
  }
  return {route.hops[0].link, route.hops[1].link};
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

Route node_switch_route(const Cluster& cluster, DeviceId gpu, std::span<const DeviceId> read_from,
                        std::span<const DeviceId> write_to) {
  const auto is_other = [gpu](DeviceId device) { return device != gpu; };
  const auto reader = std::ranges::find_if(read_from, is_other);
  const auto writer = std::ranges::find_if(write_to, is_other);
  COLLSIM_ENSURE(reader != read_from.end() || writer != write_to.end(),
                 "a step through the switch without a peer");
  const DeviceId peer = reader != read_from.end() ? *reader : *writer;
  const LinkId own_up = hops_over_switch(cluster, gpu, peer).up;
  const LinkId own_down = hops_over_switch(cluster, peer, gpu).down;

  Route route;
  for (const DeviceId device : read_from) {
    add_once(route, device == gpu ? own_up : hops_over_switch(cluster, device, gpu).up);
  }
  if (!read_from.empty()) {
    add_once(route, own_down);
  }
  if (!write_to.empty()) {
    add_once(route, own_up);
  }
  for (const DeviceId device : write_to) {
    add_once(route, device == gpu ? own_down : hops_over_switch(cluster, gpu, device).down);
  }
  return route;
}

/// Whether the first that a step reads from is in another node.
bool goes_through_fabric(const LaneOnGpus& from, const SwitchPeers& peers) {
  if (peers.receives.count == 0) {
    return false;
  }
  const Rank peer = from.program->receive_from(from.rank, from.lane, peers.receives.first).peer;
  const Graph& graph = from.cluster->graph();
  return graph.device(from.gpu(peer)).node != graph.device(from.gpu(from.rank)).node;
}

Route fabric_route(const LaneOnGpus& root, const SwitchPeers& peers) {
  const Router& router = root.cluster->router();
  const std::uint32_t channel = root.program->lane(root.rank, root.lane).channel;
  std::vector<Route> to_root;
  for (std::uint32_t slot = 0; slot < peers.receives.count; ++slot) {
    const Connection sender =
        root.program->receive_from(root.rank, root.lane, peers.receives.first + slot);
    LaneOnGpus from = root;
    from.rank = sender.peer;
    from.lane = sender.lane;
    const std::vector<DeviceId> stops = stops_to(from, sender.slot, root.rank);
    const DeviceId gpu = root.gpu(sender.peer);
    to_root.push_back(stops.empty()
                          ? router.route(gpu, root.gpu(root.rank), channel)
                          : router.route_through(gpu, root.gpu(root.rank), stops, channel));
  }
  return reduction_tree(root.cluster->graph(), to_root);
}

}  // namespace

SwitchRoute switch_route(const LaneOnGpus& from, const SwitchPeers& peers) {
  if (goes_through_fabric(from, peers)) {
    return {fabric_route(from, peers), PathKind::Network};
  }
  std::vector<DeviceId> read_from;
  std::vector<DeviceId> write_to;
  for (std::uint32_t slot = 0; slot < peers.receives.count; ++slot) {
    const Connection reader =
        from.program->receive_from(from.rank, from.lane, peers.receives.first + slot);
    read_from.push_back(from.gpu(reader.peer));
  }
  for (std::uint32_t slot = 0; slot < peers.sends.count; ++slot) {
    const Connection writer = from.program->send_to(from.rank, from.lane, peers.sends.first + slot);
    write_to.push_back(from.gpu(writer.peer));
  }
  const DeviceId own = from.gpu(from.rank);
  if (peers.reads_own && !read_from.empty()) {
    read_from.push_back(own);
  }
  if (peers.writes_own && !write_to.empty()) {
    write_to.push_back(own);
  }
  return {node_switch_route(*from.cluster, own, read_from, write_to), PathKind::Nvlink};
}

}  // namespace collsim::detail
