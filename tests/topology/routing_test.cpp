#include "topology/routing.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"
#include "tests/topology/random_graph.hpp"

using namespace collsim;

namespace {

using Words = std::vector<std::string>;

Route route(const Cluster& cluster, const std::string& from, const std::string& to) {
  const Graph& graph = cluster.graph();
  return cluster.router().route(test::device(graph, from), test::device(graph, to));
}

/// The names of the links, with their share where it is not all.
Words hops(const Cluster& cluster, const Route& route) {
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

bool same(Rate a, Rate b) { return compare(a, b) == 0; }

Words hops(const Cluster& cluster, const std::string& from, const std::string& to) {
  return hops(cluster, route(cluster, from, to));
}

}  // namespace

TEST_CASE("a route in a star crosses the switch") {
  const Cluster cluster(test::star(8));
  const Route found = route(cluster, "gpu2", "gpu7");
  CHECK(hops(cluster, found) == Words{"gpu2 -> switch", "switch -> gpu7"});
  CHECK(found.latency == std::chrono::microseconds(1));
  CHECK(same(found.full_rate(cluster.graph()), Rate(test::textbook_bandwidth)));
}

TEST_CASE("a route in a mesh is the direct link") {
  const Cluster cluster(test::mesh(8));
  CHECK(hops(cluster, "gpu5", "gpu1") == Words{"gpu5 -> gpu1"});
}

TEST_CASE("traffic between nodes goes by NIC and network switch") {
  const Cluster cluster(test::textbook_nodes(2));
  const Route found = route(cluster, "node0.gpu1", "node1.gpu3");
  CHECK(hops(cluster, found) == Words{"node0.gpu1 -> node0.switch", "node0.switch -> node0.nic",
                                      "node0.nic -> switch", "switch -> node1.nic",
                                      "node1.nic -> node1.switch", "node1.switch -> node1.gpu3"});
  // Twice 500 ns + 1 us + 1 us.
  CHECK(found.latency == std::chrono::microseconds(5));
  CHECK(cluster.graph().name(found.narrowest(cluster.graph())) == "node0.switch -> node0.nic");
}

TEST_CASE("NVLink wins over PCIe, and each GPU has its own NIC or the first of equals") {
  const Cluster cluster(test::dgx(2));
  CHECK(hops(cluster, "node1.gpu0", "node1.gpu1") ==
        Words{"node1.gpu0 -> node1.nvswitch", "node1.nvswitch -> node1.gpu1"});
  // GPUs 2p and 2p + 1 and NICs 2p and 2p + 1 are on PCIe switch p: both NICs are as near.
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
    const auto nic = cluster.router().nic_of(cluster.graph().gpus()[gpu]);
    REQUIRE(nic.has_value());
    CHECK(cluster.graph().name(*nic) == "node0.nic" + std::to_string(gpu / 2 * 2));
  }
  CHECK(hops(cluster, "node0.gpu5", "node1.gpu2") ==
        Words{"node0.gpu5 -> node0.pcie2", "node0.pcie2 -> node0.nic4", "node0.nic4 -> switch",
              "switch -> node1.nic2", "node1.nic2 -> node1.pcie1", "node1.pcie1 -> node1.gpu2"});
}

TEST_CASE("uplinks are chosen by the destination's index within its leaf") {
  // 8 ports at 1:1 are 4 down and 4 up: 4 nodes with one NIC each on a leaf.
  ClusterSpec spec = test::textbook_nodes(8);
  spec.fabric.kind = FabricKind::leaf_spine;
  spec.fabric.leaf.ports = 8;
  const Cluster cluster(spec);
  // Node 6 is number 2 on leaf 1.
  CHECK(hops(cluster, "node0.gpu0", "node6.gpu0") ==
        Words{"node0.gpu0 -> node0.switch", "node0.switch -> node0.nic", "node0.nic -> leaf0",
              "leaf0 -> spine2", "spine2 -> leaf1", "leaf1 -> node6.nic",
              "node6.nic -> node6.switch", "node6.switch -> node6.gpu0"});
  // Under one leaf, no spine.
  CHECK(hops(cluster, "node1.gpu0", "node3.gpu0").at(3) == "leaf0 -> node3.nic");
}

TEST_CASE("spray splits evenly over the uplinks") {
  ClusterSpec spec = test::textbook_nodes(4);
  spec.fabric.kind = FabricKind::leaf_spine;
  spec.fabric.routing = RoutingKind::spray;
  spec.fabric.leaf.ports = 4;
  spec.fabric.spine.latency = std::chrono::nanoseconds(7);
  spec.fabric.leaf.latency = std::chrono::nanoseconds(11);
  const Cluster cluster(spec);
  const Route found = route(cluster, "node0.gpu0", "node2.gpu3");
  CHECK(hops(cluster, found) == Words{"node0.gpu0 -> node0.switch", "node0.switch -> node0.nic",
                                      "node0.nic -> leaf0", "leaf0 -> spine0 1/2",
                                      "leaf0 -> spine1 1/2", "spine0 -> leaf1 1/2",
                                      "spine1 -> leaf1 1/2", "leaf1 -> node2.nic",
                                      "node2.nic -> node2.switch", "node2.switch -> node2.gpu3"});
  // Six links of 1 us but for two of 500 ns at the ends, two leaves left and one spine.
  CHECK(found.latency == std::chrono::nanoseconds(6 * 1000 + 2 * 500 + 2 * 11 + 7));
  // All links of the network carry 12.5 GB/s; halves leave room on the uplinks.
  CHECK(same(found.full_rate(cluster.graph()), Rate(Bandwidth::bytes_per_second(12'500'000'000))));
}

TEST_CASE("parallel links: static takes one by destination, spray all") {
  ClusterSpec spec = test::star(4);
  spec.node.links[0].count = 2;
  const Cluster fixed(spec);
  CHECK(hops(fixed, "gpu0", "gpu2") == Words{"gpu0 -> switch", "switch -> gpu2"});
  CHECK(hops(fixed, "gpu0", "gpu3") == Words{"gpu0 -> switch#1", "switch -> gpu3#1"});
  spec.fabric.routing = RoutingKind::spray;
  const Cluster sprayed(spec);
  const Route found = route(sprayed, "gpu0", "gpu3");
  CHECK(hops(sprayed, found) == Words{"gpu0 -> switch 1/2", "gpu0 -> switch#1 1/2",
                                      "switch -> gpu3 1/2", "switch -> gpu3#1 1/2"});
  // Both links together.
  CHECK(same(found.full_rate(sprayed.graph()), Rate(test::textbook_bandwidth * 2)));
}

namespace {

ExplicitGraphSpec graph_of(std::vector<ExplicitDeviceSpec> devices,
                           const std::vector<std::pair<std::string, std::string>>& cables) {
  ExplicitGraphSpec graph;
  graph.devices = std::move(devices);
  for (const auto& [from, to] : cables) {
    graph.links.push_back(test::link(from, to, test::textbook_bandwidth, Duration(1)));
  }
  return graph;
}

Cluster cluster_of(ExplicitGraphSpec graph) {
  ClusterSpec spec;
  spec.name = "explicit";
  spec.graph = std::move(graph);
  return Cluster(spec);
}

}  // namespace

TEST_CASE("GPUs forward nothing, CPUs do") {
  const Cluster cluster =
      cluster_of(graph_of({{"a", DeviceKind::gpu, {}},
                           {"b", DeviceKind::gpu, {}},
                           {"c", DeviceKind::gpu, {}},
                           {"x", DeviceKind::cpu, {}},
                           {"y", DeviceKind::cpu, {}}},
                          {{"a", "b"}, {"b", "c"}, {"a", "x"}, {"x", "y"}, {"y", "c"}}));
  CHECK(hops(cluster, "a", "c") == Words{"a -> x", "x -> y", "y -> c"});
}

TEST_CASE("NICs forward where there is no other way") {
  const Cluster cluster = cluster_of(
      graph_of({{"a", DeviceKind::gpu, {}}, {"b", DeviceKind::gpu, {}}, {"n", DeviceKind::nic, {}}},
               {{"a", "n"}, {"n", "b"}}));
  CHECK(hops(cluster, "a", "b") == Words{"a -> n", "n -> b"});
}

TEST_CASE("a switch that spans nodes wins over the NICs") {
  const Cluster cluster = cluster_of(graph_of(
      {{"a", DeviceKind::gpu, 0},
       {"b", DeviceKind::gpu, 1},
       {"nic_a", DeviceKind::nic, 0},
       {"nic_b", DeviceKind::nic, 1},
       {"nvswitch", DeviceKind::nvswitch, {}}},
      {{"a", "nic_a"}, {"nic_a", "nic_b"}, {"nic_b", "b"}, {"a", "nvswitch"}, {"nvswitch", "b"}}));
  CHECK(hops(cluster, "a", "b") == Words{"a -> nvswitch", "nvswitch -> b"});
}

TEST_CASE("where the nearest NICs do not meet, any way will do") {
  // a's nearest NIC is on plane p, b has none there.
  const Cluster cluster = cluster_of(graph_of({{"a", DeviceKind::gpu, 0},
                                               {"c", DeviceKind::gpu, 0},
                                               {"b", DeviceKind::gpu, 1},
                                               {"a_p", DeviceKind::nic, 0},
                                               {"a_q", DeviceKind::nic, 0},
                                               {"b_q", DeviceKind::nic, 1},
                                               {"cpu", DeviceKind::cpu, 0},
                                               {"p", DeviceKind::network_switch, {}},
                                               {"q", DeviceKind::network_switch, {}}},
                                              {{"a", "a_p"},
                                               {"a", "cpu"},
                                               {"c", "cpu"},
                                               {"cpu", "a_q"},
                                               {"a_p", "p"},
                                               {"a_q", "q"},
                                               {"b_q", "q"},
                                               {"b_q", "b"}}));
  CHECK(hops(cluster, "a", "b") ==
        Words{"a -> cpu", "cpu -> a_q", "a_q -> q", "q -> b_q", "b_q -> b"});
}

TEST_CASE("a router names the GPUs between which there is no path") {
  const Graph graph = detail::build_explicit(
      graph_of({{"a", DeviceKind::gpu, {}}, {"b", DeviceKind::gpu, {}}}, {}));
  const Router router(graph, RoutingKind::fixed);
  CHECK_THROWS_WITH(router.route(DeviceId(0), DeviceId(1)), "there is no path from a to b");
  CHECK_THROWS_AS(router.route(DeviceId(0), DeviceId(0)), InternalError);
}

TEST_CASE("spray refuses more paths than it can count exactly") {
  // 2^11 parallel links, three times in a row: 2^33 paths.
  ExplicitGraphSpec graph = graph_of({{"a", DeviceKind::gpu, {}},
                                      {"b", DeviceKind::gpu, {}},
                                      {"x", DeviceKind::nvswitch, {}},
                                      {"y", DeviceKind::nvswitch, {}}},
                                     {{"a", "x"}, {"x", "y"}, {"y", "b"}});
  for (LinkSpec& link : graph.links) link.count = 1U << 11U;
  const Graph built = detail::build_explicit(graph);
  const Router router(built, RoutingKind::spray);
  CHECK_THROWS_AS(router.route(DeviceId(0), DeviceId(1)), InputError);
}

TEST_CASE("a sprayed rate that 64 bits cannot hold throws") {
  GraphBuilder builder;
  const std::uint32_t stem = builder.add_stem("gpu", true);
  const DeviceId a = builder.add_device(DeviceKind::gpu, NodeId(0), stem, 0);
  const DeviceId b = builder.add_device(DeviceKind::gpu, NodeId(0), stem, 1);
  const Bandwidth widest = Bandwidth::from_units(std::numeric_limits<std::int64_t>::max());
  const Link link{a, b, widest, Duration(1), LinkKind::generic, builder.add_level("link")};
  builder.add_cable(link);
  builder.add_cable(link);
  const Graph graph = std::move(builder).freeze();
  const Route route = Router(graph, RoutingKind::spray).route(a, b);
  CHECK_THROWS_AS(route.full_rate(graph), std::overflow_error);
}

namespace {

/// Calls with every two GPUs.
template <class Function>
void for_each_pair(const Graph& graph, Function function) {
  for (const DeviceId from : graph.gpus()) {
    for (const DeviceId to : graph.gpus()) {
      if (from != to) function(from, to);
    }
  }
}

test::Path links_of(const Route& route) {
  test::Path path;
  for (const RouteHop& hop : route.hops) path.push_back(hop.link);
  return path;
}

/// The part of the bytes on each link when every path carries the same, as (numerator, all paths).
std::map<LinkId, std::uint64_t> paths_over(const std::vector<test::Path>& paths) {
  std::map<LinkId, std::uint64_t> count;
  for (const test::Path& path : paths) {
    for (const LinkId link : path) ++count[link];
  }
  return count;
}

Duration latency_of(const Graph& graph, const test::Path& path) {
  Duration sum{};
  for (const LinkId link : path) sum += graph.link(link).latency;
  return sum;
}

}  // namespace

TEST_CASE("a static route is one of the widest shortest paths") {
  CHECK(rc::check("on random graphs", [] {
    const Graph graph = test::random_graph({});
    const Router router(graph, RoutingKind::fixed);
    for_each_pair(graph, [&](DeviceId from, DeviceId to) {
      const auto paths = test::widest_shortest_paths(graph, from, {to});
      if (paths.empty()) {
        RC_ASSERT_THROWS_AS(router.route(from, to), InputError);
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
    const Router router(graph, RoutingKind::spray);
    for_each_pair(graph, [&](DeviceId from, DeviceId to) {
      const auto paths = test::widest_shortest_paths(graph, from, {to});
      if (paths.empty()) return;
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
      for (const auto& path : paths) slowest = std::max(slowest, latency_of(graph, path));
      RC_ASSERT(route.latency == slowest);
    });
  }));
}

TEST_CASE("static forwards by destination: routes to one GPU never part once they have met") {
  CHECK(rc::check("on random graphs with links of one width", [] {
    const Graph graph = test::random_graph({.one_bandwidth = true});
    const Router router(graph, RoutingKind::fixed);
    for (const DeviceId to : graph.gpus()) {
      std::map<DeviceId, LinkId> next;
      for (const DeviceId from : graph.gpus()) {
        if (from == to || test::shortest_paths(graph, from, {to}).empty()) continue;
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
    const Graph graph = test::random_graph({.most_nics = 3});
    const Router router(graph, RoutingKind::fixed);
    for (const DeviceId gpu : graph.gpus()) {
      std::optional<DeviceId> best;
      test::Path way;
      for (const DeviceId nic : graph.nics(NodeId(0))) {
        const auto paths = test::widest_shortest_paths(graph, gpu, {nic, false});
        if (paths.empty()) continue;
        const test::Path& path = paths.front();
        if (best && path.size() > way.size()) continue;
        if (best && path.size() == way.size() &&
            test::width_of(graph, path) <= test::width_of(graph, way)) {
          continue;
        }
        best = nic;
        way = path;
      }
      RC_ASSERT(router.nic_of(gpu) == best);
    }
  }));
}

namespace {

/// Checks that a route's bytes leave `from`, arrive at `to`, and are conserved on the way.
void require_conserved(const Graph& graph, const Route& route, DeviceId from, DeviceId to) {
  std::map<DeviceId, double> balance;
  for (const RouteHop& hop : route.hops) {
    const double share = static_cast<double>(hop.share_numerator) / hop.share_denominator;
    balance[graph.link(hop.link).source] -= share;
    balance[graph.link(hop.link).target] += share;
  }
  for (const auto& [device, sum] : balance) {
    const double expected = device == from ? -1.0 : device == to ? 1.0 : 0.0;
    REQUIRE(std::abs(sum - expected) < 1e-12);
  }
}

}  // namespace

TEST_CASE("every two GPUs of a cluster are joined by a route that loses no bytes") {
  for (const RoutingKind routing : {RoutingKind::fixed, RoutingKind::spray}) {
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
        require_conserved(cluster.graph(), cluster.router().route(from, to), from, to);
      });
    }
  }
}

TEST_CASE("static spreads the destinations of a leaf evenly over the uplinks") {
  // 12 ports at 2:1 are 8 down and 4 up; one NIC a node.
  ClusterSpec spec = test::textbook_nodes(24);
  spec.fabric.kind = FabricKind::leaf_spine;
  spec.fabric.leaf.ports = 12;
  spec.fabric.oversubscription = 2;
  const Cluster cluster(spec);
  const Graph& graph = cluster.graph();
  for (std::uint32_t leaf = 1; leaf < 3; ++leaf) {
    std::map<LinkId, int> destinations;
    for (std::uint32_t node = 8 * leaf; node < 8 * leaf + 8; ++node) {
      const Route found = route(cluster, "node0.gpu0", "node" + std::to_string(node) + ".gpu0");
      REQUIRE(found.hops.size() == 8);
      ++destinations[found.hops[3].link];
    }
    CHECK(destinations.size() == 4);
    for (const auto& [link, count] : destinations) {
      CHECK(graph.name(graph.link(link).source) == "leaf0");
      CHECK(count == 2);
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
    if (name.starts_with("node")) name = moved(4, nodes_per_leaf, nodes_per_leaf * leaves);
    if (name.starts_with("leaf")) name = moved(4, 1, leaves);
    return test::device(graph, name);
  }
};

}  // namespace

TEST_CASE("routes commute with a shift by whole leaves") {
  for (const RoutingKind routing : {RoutingKind::fixed, RoutingKind::spray}) {
    // 32 ports at 1:1 hold two nodes of 8 NICs; three full leaves.
    const Cluster cluster(test::dgx_leaf_spine(6, 32, 1, routing));
    const Graph& graph = cluster.graph();
    const LeafShift shift{graph, 2, 3};
    std::vector<DeviceId> image;
    for (std::size_t i = 0; i < graph.devices().size(); ++i) image.push_back(shift(DeviceId(i)));
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
