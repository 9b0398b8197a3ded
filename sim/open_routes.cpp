#include "sim/open_routes.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "topology/error.hpp"

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

}  // namespace

OpenRoutes::OpenRoutes(const Cluster& cluster, Network& network)
    : graph_(&cluster.graph()),
      router_(&cluster.router()),
      network_(&network),
      levels_(cluster.graph().levels().size()),
      expected_(cluster.graph().links().size()) {}

PathId OpenRoutes::open(DeviceId from, DeviceId to, std::uint32_t connection) {
  Route route = router_->route(from, to, connection);
  const PathId id = network_->open(route);
  if (id.index() >= paths_.size()) {
    paths_.resize(id.index() + 1);
    latencies_.resize(paths_.size() * levels_);
  }
  Path& path = paths_[id.index()];
  COLLSIM_ENSURE(path.users == 0, "the network opened a path twice");
  path.sprayed = std::any_of(route.hops.begin(), route.hops.end(), [](const RouteHop& hop) {
    return hop.share_numerator != hop.share_denominator;
  });
  path.route = std::move(route);
  if (path.sprayed) {
    path.route.hops.shrink_to_fit();  // there may be thousands
  }
  path.users = 1;
  attribute_latency(id);
  return id;
}

void OpenRoutes::attribute_latency(PathId id) {
  const Path& path = paths_[id.index()];
  const auto begin = latencies_.begin() + static_cast<std::ptrdiff_t>(id.index() * levels_);
  std::fill_n(begin, levels_, Duration{});
  Duration sum{};
  const auto add = [&](const RouteHop& hop) {
    const Link& link = graph_->link(hop.link);
    begin[static_cast<std::ptrdiff_t>(link.level.index())] += link.latency;
    sum += link.latency;
  };
  if (path.sprayed) {
    for (const std::size_t hop : slowest_path(*graph_, path.route)) {
      add(path.route.hops[hop]);
    }
  } else {
    for (const RouteHop& hop : path.route.hops) {
      add(hop);
    }
  }
  COLLSIM_ENSURE(sum == path.route.latency, "a route's latency is not the sum of its links'");
}

void OpenRoutes::release(PathId id) {
  Path& path = paths_[id.index()];
  if (--path.users != 0) {
    return;
  }
  settle_sent(path);
  network_->close(id);
  path.route = Route{};
}

void OpenRoutes::count(PathId id, Bytes bytes) {
  Path& path = paths_[id.index()];
  if (!path.sprayed) {
    path.sent += bytes;
    return;
  }
  for (const RouteHop& hop : path.route.hops) {
    expected_[hop.link.index()] += fine_bytes_on(bytes, hop);
  }
}

void OpenRoutes::settle_sent(Path& path) {
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
