// Laws that hold for every route.

#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"
#include "tests/topology/fabrics.hpp"
#include "tests/topology/random_graph.hpp"
#include "tests/topology/routes.hpp"
#include "topology/routing.hpp"

using namespace collsim;

namespace {

bool same(Rate a, Rate b) { return compare(a, b) == 0; }

/// Calls with every two GPUs.
template <class Function>
void for_each_pair(const Graph& graph, Function function) {
  for (const DeviceId from : graph.gpus()) {
    for (const DeviceId to : graph.gpus()) {
      if (from != to) {
        function(from, to);
      }
    }
  }
}

test::Path links_of(const Route& route) {
  test::Path path;
  for (const RouteHop& hop : route.hops) {
    path.push_back(hop.link);
  }
  return path;
}

/// The part of the bytes on each link when every path carries the same, as (numerator, all paths).
std::map<LinkId, std::uint64_t> paths_over(const std::vector<test::Path>& paths) {
  std::map<LinkId, std::uint64_t> count;
  for (const test::Path& path : paths) {
    for (const LinkId link : path) {
      ++count[link];
    }
  }
  return count;
}

Duration latency_of(const Graph& graph, const test::Path& path) {
  Duration sum{};
  for (const LinkId link : path) {
    sum += graph.link(link).latency;
  }
  return sum;
}

}  // namespace

TEST_CASE("a static route is one of the widest shortest paths") {
  CHECK(rc::check("on random graphs", [] {
    const Graph graph = test::random_graph({});
    const Router router(graph, {RoutingKind::Fixed});
    for_each_pair(graph, [&](DeviceId from, DeviceId to) {
      const auto paths = test::widest_shortest_paths(graph, from, {to});
      if (paths.empty()) {
        RC_ASSERT_THROWS_AS(static_cast<void>(router.route(from, to)), InputError);
        return;
      }
      const Route route = router.route(from, to);
      RC_ASSERT(std::ranges::count(paths, links_of(route)) == 1);
      RC_ASSERT(route.latency == latency_of(graph, links_of(route)));
      RC_ASSERT(same(route.full_rate(graph), Rate(test::width_of(graph, paths.front()))));
    });
  }));
}

TEST_CASE("a sprayed route is all widest shortest paths in equal parts") {
  CHECK(rc::check("on random graphs", [] {
    const Graph graph = test::random_graph({});
    const Router router(graph, {RoutingKind::Spray});
    for_each_pair(graph, [&](DeviceId from, DeviceId to) {
      const auto paths = test::widest_shortest_paths(graph, from, {to});
      if (paths.empty()) {
        return;
      }
      const Route route = router.route(from, to);
      auto expected = paths_over(paths);
      for (const RouteHop& hop : route.hops) {
        RC_ASSERT(std::gcd(hop.share_numerator, hop.share_denominator) == 1U);
        RC_ASSERT(std::uint64_t{hop.share_numerator} * paths.size() ==
                  hop.share_denominator * expected[hop.link]);
        expected.erase(hop.link);  // so that a second hop over the link would fail
      }
      RC_ASSERT(expected.empty());
      Duration slowest{};
      for (const auto& path : paths) {
        slowest = std::max(slowest, latency_of(graph, path));
      }
      RC_ASSERT(route.latency == slowest);
    });
  }));
}

TEST_CASE("static forwards by destination: routes to one GPU never part once they have met") {
  CHECK(rc::check("on random graphs with links of one width", [] {
    const Graph graph = test::random_graph({.one_bandwidth = true});
    const Router router(graph, {RoutingKind::Fixed});
    for (const DeviceId to : graph.gpus()) {
      std::map<DeviceId, LinkId> next;
      for (const DeviceId from : graph.gpus()) {
        if (from == to || test::shortest_paths(graph, from, {to}).empty()) {
          continue;
        }
        for (const LinkId link : links_of(router.route(from, to))) {
          const auto [known, is_new] = next.emplace(graph.link(link).source, link);
          RC_ASSERT(known->second == link);
        }
      }
    }
  }));
}

TEST_CASE("a GPU's NIC has the fewest links to it, then the widest way, then the lowest number") {
  CHECK(rc::check("on random graphs", [] {
    const Graph graph = test::random_graph({.most_nics = 5});
    const Router router(graph, {RoutingKind::Fixed});
    for (const DeviceId gpu : graph.gpus()) {
      std::optional<DeviceId> best;
      test::Path way;
      for (const DeviceId nic : graph.nics(NodeId(0))) {
        const auto paths = test::widest_shortest_paths(graph, gpu, {nic, false});
        if (paths.empty()) {
          continue;
        }
        const test::Path& path = paths.front();
        if (best && path.size() > way.size()) {
          continue;
        }
        if (best && path.size() == way.size() &&
            test::width_of(graph, path) <= test::width_of(graph, way)) {
          continue;
        }
        best = nic;
        way = path;
      }
      const std::span<const DeviceId> nics = router.nics_of(gpu);
      RC_ASSERT(std::vector(nics.begin(), nics.end()) ==
                (best ? std::vector{*best} : std::vector<DeviceId>{}));
    }
  }));
}

TEST_CASE("every two GPUs of a cluster are joined by a route that loses no bytes") {
  for (const RoutingKind routing : {RoutingKind::Fixed, RoutingKind::Spray}) {
    std::vector<ClusterSpec> specs{test::star(5),
                                   test::mesh(5),
                                   test::textbook_nodes(3),
                                   test::dgx(3),
                                   test::dgx_leaf_spine(5, 32, 1, routing),
                                   test::dgx_leaf_spine(5, 18, 2, routing)};
    for (ClusterSpec& spec : specs) {
      spec.fabric.routing = routing;
      const Cluster cluster(spec);
      for_each_pair(cluster.graph(), [&](DeviceId from, DeviceId to) {
        test::require_sound(cluster.graph(), cluster.router().route(from, to), from, to);
      });
    }
  }
}

TEST_CASE("a router with a memory of legs gives the routes that it gives without") {
  for (const RoutingKind routing : {RoutingKind::Fixed, RoutingKind::Spray, RoutingKind::Ecmp}) {
    std::vector<ClusterSpec> specs{test::star(5),
                                   test::mesh(5),
                                   test::textbook_nodes(3),
                                   test::dgx_leaf_spine(5, 18, 2, routing),
                                   test::rail_optimized(12, 2, 3, 6),
                                   test::dragonfly(8, 2, 2, 2, 2),
                                   test::torus({3, 2, 2})};
    for (ClusterSpec& spec : specs) {
      spec.fabric.routing = routing;
      const Cluster cluster(spec);
      // One that forgets nearly everything at once, and one of the usual size.
      LegMemory small(0);
      LegMemory large(cluster.graph().gpus().size());
      for (std::uint32_t connection = 0; connection < 3; ++connection) {
        for_each_pair(cluster.graph(), [&](DeviceId from, DeviceId to) {
          const Route searched = cluster.router().route(from, to, connection);
          for (LegMemory* const memory : {&small, &large, &large}) {
            const Route known = cluster.router().route(from, to, connection, memory);
            REQUIRE(test::hops(cluster, known) == test::hops(cluster, searched));
            REQUIRE(known.latency == searched.latency);
          }
        });
      }
    }
  }
}

namespace {

/// Moves every node by one leaf, cyclically, and the leaf with it; spines stay.
struct LeafShift {
  const Graph& graph;
  std::uint32_t nodes_per_leaf;
  std::uint32_t leaves;

  DeviceId operator()(DeviceId id) const {
    std::string name = graph.name(id);
    const auto moved = [&](std::size_t begin, std::uint32_t by, std::uint32_t count) {
      const std::size_t end = std::min(name.find('.'), name.size());
      const auto number = static_cast<std::uint32_t>(std::stoul(name.substr(begin, end - begin)));
      return name.substr(0, begin) + std::to_string((number + by) % count) + name.substr(end);
    };
    if (name.starts_with("node")) {
      name = moved(4, nodes_per_leaf, nodes_per_leaf * leaves);
    }
    if (name.starts_with("leaf")) {
      name = moved(4, 1, leaves);
    }
    return test::device(graph, name);
  }
};

}  // namespace

TEST_CASE("routes commute with a shift by whole leaves") {
  for (const RoutingKind routing : {RoutingKind::Fixed, RoutingKind::Spray}) {
    // 32 ports at 1:1 hold two nodes of 8 NICs; three full leaves.
    const Cluster cluster(test::dgx_leaf_spine(6, 32, 1, routing));
    const Graph& graph = cluster.graph();
    const LeafShift shift{graph, 2, 3};
    std::vector<DeviceId> image;
    for (std::size_t i = 0; i < graph.devices().size(); ++i) {
      image.push_back(shift(DeviceId(i)));
    }
    for_each_pair(graph, [&](DeviceId from, DeviceId to) {
      const Route route = cluster.router().route(from, to);
      const Route moved = cluster.router().route(image[from.index()], image[to.index()]);
      REQUIRE(route.hops.size() == moved.hops.size());
      bool same_way = route.latency == moved.latency;
      for (std::size_t i = 0; i < route.hops.size(); ++i) {
        const Link& link = graph.link(route.hops[i].link);
        const Link& other = graph.link(moved.hops[i].link);
        same_way = same_way && image[link.source.index()] == other.source &&
                   image[link.target.index()] == other.target &&
                   route.hops[i].share_denominator == moved.hops[i].share_denominator;
      }
      REQUIRE(same_way);
    });
  }
}
