#pragma once

// Routes by the names of their ends, as the names of their links, and what must hold for every one.

#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"

namespace collsim::test {

using Words = std::vector<std::string>;

inline Route route(const Cluster& cluster, const std::string& from, const std::string& to,
                   std::uint32_t connection = 0) {
  const Graph& graph = cluster.graph();
  return cluster.router().route(device(graph, from), device(graph, to), connection);
}

/// The names of the links, with their share where it is not all.
inline Words hops(const Cluster& cluster, const Route& route) {
  Words words;
  for (const RouteHop& hop : route.hops) {
    std::string word = cluster.graph().name(hop.link);
    if (hop.share_denominator != 1) {
      word +=
          " " + std::to_string(hop.share_numerator) + "/" + std::to_string(hop.share_denominator);
    }
    words.push_back(word);
  }
  return words;
}

inline Words hops(const Cluster& cluster, const std::string& from, const std::string& to) {
  return hops(cluster, route(cluster, from, to));
}

/// The bytes leave `from`, arrive at `to`, none are lost between, and no link is crossed twice.
inline void require_sound(const Graph& graph, const Route& route, DeviceId from, DeviceId to) {
  std::map<DeviceId, double> balance;
  std::set<LinkId> links;
  for (const RouteHop& hop : route.hops) {
    const double share = static_cast<double>(hop.share_numerator) / hop.share_denominator;
    balance[graph.link(hop.link).source] -= share;
    balance[graph.link(hop.link).target] += share;
    links.insert(hop.link);
  }
  REQUIRE(links.size() == route.hops.size());
  for (const auto& [device, sum] : balance) {
    const double expected = device == from ? -1.0 : device == to ? 1.0 : 0.0;
    REQUIRE(std::abs(sum - expected) < 1e-12);
  }
}

}  // namespace collsim::test
