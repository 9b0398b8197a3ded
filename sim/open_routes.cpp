#include "sim/open_routes.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/path_table.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

OpenRoutes::OpenRoutes(const Cluster& cluster, Network& network, const CostParameters* costs,
                       const LinkClasses* classes)
    : graph_(&cluster.graph()),
      classes_(classes),
      network_(&network),
      hosts_(cluster.graph(), network, costs),
      levels_(cluster.graph().levels().size()),
      latencies_(levels_),
      expected_(cluster.graph().links().size()) {}

void OpenRoutes::expect(std::size_t paths) {
  paths_.reserve(paths);
  network_->expect(paths);
}

CrowdedRoute OpenRoutes::crowded(Route&& route, std::uint32_t flows) const {
  return classes_ == nullptr ? CrowdedRoute{std::move(route), {}} : classes_->folded(route, flows);
}

PathId OpenRoutes::open(ConnectionRoute&& connection, std::uint32_t flows) {
  std::optional<LinkId> host;
  if (connection.host) {
    host = hosts_.enter(*connection.host, connection.sender);
  }
  const PathId id = take(crowded(std::move(connection.route), flows), connection.kind, host);
  paths_[id.index()].latency_row = row_of(connection.latency_by_level);
  paths_[id.index()].sender = connection.sender;
  return id;
}

/// The row of latencies_ that says this, a new one if there is none yet.
std::uint32_t OpenRoutes::row_of(std::span<const Duration> latency_by_level) {
  constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15U;  // Fibonacci hashing: 2^64 / golden ratio
  std::uint64_t hash = 0;
  for (const Duration latency : latency_by_level) {
    hash = (hash ^ (hash >> 32U) ^ static_cast<std::uint64_t>(latency.count())) * odd;
  }
  const auto next = static_cast<std::uint32_t>(latencies_.size() / levels_);
  const std::uint32_t row = rows_.try_emplace(hash, next).first->second;
  const auto begin = latencies_.begin() + static_cast<std::ptrdiff_t>(row * levels_);
  if (row != next && std::ranges::equal(latency_by_level, std::span(begin, levels_))) {
    return row;
  }
  latencies_.insert(latencies_.end(), latency_by_level.begin(), latency_by_level.end());
  return next;
}

Route OpenRoutes::route(PathId path) const {
  Route route;
  route.latency = paths_[path.index()].latency;
  for (const ResourceUse& hop : network_->hops(path)) {
    if (hop.resource < expected_.size()) {
      route.hops.push_back({LinkId(hop.resource), hop.numerator, hop.denominator});
    }
  }
  return route;
}

PathId OpenRoutes::open_switch(SwitchRoute&& path, std::uint32_t flows) {
  return take(crowded(std::move(path.route), flows), path.kind);
}

PathId OpenRoutes::open_resource(LinkId resource, std::uint32_t crowd) {
  CrowdedRoute route;
  route.route.hops.push_back({resource, 1, 1});
  route.crowds.push_back(crowd);
  return take(route, PathKind::Network);
}

PathId OpenRoutes::take(const CrowdedRoute& route, PathKind kind, std::optional<LinkId> host) {
  PathId id;
  if (host) {
    Route with_host = route.route;
    RouteHop hop = with_host.hops.front();
    hop.link = *host;
    with_host.hops.push_back(hop);
    id = network_->open(with_host, route.crowds);
  } else {
    id = network_->open(route.route, route.crowds);
  }
  if (id.index() >= paths_.size()) {
    paths_.resize(id.index() + 1);
  }
  Path& path = paths_[id.index()];
  COLLSIM_ENSURE(path.users == 0, "the network opened a path twice");
  path = Path{};
  path.latency = route.route.latency;
  path.kind = kind;
  path.host = host;
  path.sprayed = is_sprayed(route.route);
  path.users = 1;
  return id;
}

void OpenRoutes::release(PathId id) {
  Path& path = paths_[id.index()];
  if (--path.users != 0) {
    return;
  }
  settle_sent(id);
  network_->close(id);
  if (path.host) {
    hosts_.leave(*path.host, path.sender);
  }
}

void OpenRoutes::count(PathId id, Bytes bytes, std::uint32_t multiplicity) {
  Path& path = paths_[id.index()];
  if (!path.sprayed) {
    path.sent += bytes * multiplicity;
    return;
  }
  for (const ResourceUse& hop : network_->hops(id)) {
    expect_on(hop, fine_bytes_of(bytes, hop) * multiplicity * hop.crowd);
  }
}

void OpenRoutes::settle_sent(PathId id) {
  const Bytes sent = std::exchange(paths_[id.index()].sent, Bytes{});
  if (sent == Bytes{}) {
    return;
  }
  for (const ResourceUse& hop : network_->hops(id)) {
    expect_on(hop, to_fine(sent) * hop.crowd);
  }
}

/// What is no link is not counted.
void OpenRoutes::expect_on(const ResourceUse& hop, U128 fine_bytes) {
  if (hop.resource < expected_.size()) {
    expected_[hop.resource] += fine_bytes;
  }
}

void OpenRoutes::check_links() {
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    if (paths_[i].users != 0) {
      settle_sent(PathId(i));
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
