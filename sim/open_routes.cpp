#include "sim/open_routes.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "topology/error.hpp"

namespace collsim::detail {

namespace {

/// Of what a route's hop is crossed by one, how many.
std::uint32_t crowd_of(const std::vector<std::uint32_t>& crowds, std::size_t hop) {
  return crowds.empty() ? 1 : crowds[hop];
}

}  // namespace

OpenRoutes::OpenRoutes(const Cluster& cluster, Network& network, const CostParameters* costs,
                       const LinkClasses* classes)
    : graph_(&cluster.graph()),
      classes_(classes),
      network_(&network),
      hosts_(cluster.graph(), network, costs),
      levels_(cluster.graph().levels().size()),
      expected_(cluster.graph().links().size()) {}

CrowdedRoute OpenRoutes::crowded(Route&& route, std::uint32_t flows) const {
  return classes_ == nullptr ? CrowdedRoute{std::move(route), {}} : classes_->folded(route, flows);
}

PathId OpenRoutes::open(ConnectionRoute&& connection, std::uint32_t flows) {
  std::optional<LinkId> host;
  if (connection.host) {
    host = hosts_.enter(*connection.host, connection.sender);
  }
  const PathId id = take(crowded(std::move(connection.route), flows), connection.kind, host);
  std::ranges::copy(connection.latency_by_level,
                    latencies_.begin() + static_cast<std::ptrdiff_t>(id.index() * levels_));
  paths_[id.index()].sender = connection.sender;
  return id;
}

PathId OpenRoutes::open_switch(SwitchRoute&& path, std::uint32_t flows) {
  return take(crowded(std::move(path.route), flows), path.kind);
}

PathId OpenRoutes::open_resource(LinkId resource, std::uint32_t crowd) {
  CrowdedRoute route;
  route.route.hops.push_back({resource, 1, 1});
  route.crowds.push_back(crowd);
  return take(std::move(route), PathKind::Network);
}

PathId OpenRoutes::take(CrowdedRoute route, PathKind kind, std::optional<LinkId> host) {
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
    latencies_.resize(paths_.size() * levels_);
  }
  Path& path = paths_[id.index()];
  COLLSIM_ENSURE(path.users == 0, "the network opened a path twice");
  path.sprayed = is_sprayed(route.route);
  path.route = std::move(route.route);
  path.crowds = std::move(route.crowds);
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
  for (std::size_t i = 0; i < path.route.hops.size(); ++i) {
    const RouteHop& hop = path.route.hops[i];
    expected_[hop.link.index()] +=
        fine_bytes_on(bytes, hop) * multiplicity * crowd_of(path.crowds, i);
  }
}

void OpenRoutes::settle_sent(Path& path) {
  if (path.sent == Bytes{}) {
    return;
  }
  for (std::size_t i = 0; i < path.route.hops.size(); ++i) {
    expected_[path.route.hops[i].link.index()] += to_fine(path.sent) * crowd_of(path.crowds, i);
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
