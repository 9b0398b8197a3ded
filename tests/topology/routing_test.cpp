#include "topology/routing.hpp"

#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"
#include "tests/topology/routes.hpp"
#include "topology/build.hpp"

using namespace collsim;
using test::hops;
using test::route;
using test::Words;

namespace {

bool same(Rate a, Rate b) { return compare(a, b) == 0; }

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
    const auto nics = cluster.router().nics_of(cluster.graph().gpus()[gpu]);
    REQUIRE(nics.size() == 1);
    CHECK(cluster.graph().name(nics.front()) == "node0.nic" + std::to_string(gpu / 2 * 2));
  }
  CHECK(hops(cluster, "node0.gpu5", "node1.gpu2") ==
        Words{"node0.gpu5 -> node0.pcie2", "node0.pcie2 -> node0.nic4", "node0.nic4 -> switch",
              "switch -> node1.nic2", "node1.nic2 -> node1.pcie1", "node1.pcie1 -> node1.gpu2"});
}

TEST_CASE("uplinks are chosen by the destination's index within its leaf") {
  // 8 ports at 1:1 are 4 down and 4 up: 4 nodes with one NIC each on a leaf.
  ClusterSpec spec = test::textbook_nodes(8);
  test::make_leaf_spine(spec, 8);
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
  test::make_leaf_spine(spec, 4);
  spec.fabric.routing = RoutingKind::Spray;
  spec.fabric.tiers[0].latency = std::chrono::nanoseconds(11);
  spec.fabric.tiers[1].latency = std::chrono::nanoseconds(7);
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
  spec.fabric.routing = RoutingKind::Spray;
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
      cluster_of(graph_of({{"a", DeviceKind::Gpu, {}},
                           {"b", DeviceKind::Gpu, {}},
                           {"c", DeviceKind::Gpu, {}},
                           {"x", DeviceKind::Cpu, {}},
                           {"y", DeviceKind::Cpu, {}}},
                          {{"a", "b"}, {"b", "c"}, {"a", "x"}, {"x", "y"}, {"y", "c"}}));
  CHECK(hops(cluster, "a", "c") == Words{"a -> x", "x -> y", "y -> c"});
}

TEST_CASE("NICs forward where there is no other way") {
  const Cluster cluster = cluster_of(
      graph_of({{"a", DeviceKind::Gpu, {}}, {"b", DeviceKind::Gpu, {}}, {"n", DeviceKind::Nic, {}}},
               {{"a", "n"}, {"n", "b"}}));
  CHECK(hops(cluster, "a", "b") == Words{"a -> n", "n -> b"});
}

TEST_CASE("a switch that spans nodes wins over the NICs") {
  const Cluster cluster = cluster_of(graph_of(
      {{"a", DeviceKind::Gpu, 0},
       {"b", DeviceKind::Gpu, 1},
       {"nic_a", DeviceKind::Nic, 0},
       {"nic_b", DeviceKind::Nic, 1},
       {"nvswitch", DeviceKind::Nvswitch, {}}},
      {{"a", "nic_a"}, {"nic_a", "nic_b"}, {"nic_b", "b"}, {"a", "nvswitch"}, {"nvswitch", "b"}}));
  CHECK(hops(cluster, "a", "b") == Words{"a -> nvswitch", "nvswitch -> b"});
}

TEST_CASE("where the nearest NICs do not meet, any way will do") {
  // a's nearest NIC is on plane p, b has none there.
  const Cluster cluster = cluster_of(graph_of({{"a", DeviceKind::Gpu, 0},
                                               {"c", DeviceKind::Gpu, 0},
                                               {"b", DeviceKind::Gpu, 1},
                                               {"a_p", DeviceKind::Nic, 0},
                                               {"a_q", DeviceKind::Nic, 0},
                                               {"b_q", DeviceKind::Nic, 1},
                                               {"cpu", DeviceKind::Cpu, 0},
                                               {"p", DeviceKind::NetworkSwitch, {}},
                                               {"q", DeviceKind::NetworkSwitch, {}}},
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
      graph_of({{"a", DeviceKind::Gpu, {}}, {"b", DeviceKind::Gpu, {}}}, {}));
  const Router router(graph, {RoutingKind::Fixed});
  CHECK_THROWS_WITH(router.route(DeviceId(0), DeviceId(1)), "there is no path from a to b");
  CHECK_THROWS_AS(router.route(DeviceId(0), DeviceId(0)), InternalError);
}

TEST_CASE("spray refuses more paths than it can count exactly") {
  // 2^11 parallel links, three times in a row: 2^33 paths; twice: 2^22; 2^7 and 2^12: just 2^19.
  ExplicitGraphSpec graph = graph_of({{"a", DeviceKind::Gpu, {}},
                                      {"b", DeviceKind::Gpu, {}},
                                      {"x", DeviceKind::Nvswitch, {}},
                                      {"y", DeviceKind::Nvswitch, {}}},
                                     {{"a", "x"}, {"x", "y"}, {"y", "b"}});
  for (LinkSpec& link : graph.links) {
    link.count = 1U << 11U;
  }
  const auto error = [&] {
    const Graph built = detail::build_explicit(graph);
    try {
      return std::to_string(
          Router(built, {RoutingKind::Spray}).route(DeviceId(0), DeviceId(1)).hops.size());
    } catch (const RangeError& refused) {
      return refused.render();
    }
  };
  CHECK(error() ==
        "error: fabric.routing: spray splits a route over at most 524288 paths, and here are "
        "8589934592\nhint: static takes one of the shortest paths, ecmp another one for each "
        "connection");
  graph.links[0].count = 1U << 7U;
  graph.links[1].count = 1U << 12U;
  graph.links[2].count = 1;
  CHECK(error() == std::to_string((1U << 7U) + (1U << 12U) + 1));
}

TEST_CASE("a sprayed rate that 64 bits cannot hold throws") {
  GraphBuilder builder;
  const std::uint32_t stem = builder.add_stem("gpu", true);
  const DeviceId a = builder.add_device(DeviceKind::Gpu, NodeId(0), stem, 0);
  const DeviceId b = builder.add_device(DeviceKind::Gpu, NodeId(0), stem, 1);
  const Bandwidth widest = Bandwidth::from_units(std::numeric_limits<std::int64_t>::max());
  const Link link{a, b, widest, Duration(1), LinkKind::Generic, builder.add_level("link")};
  builder.add_cable(link);
  builder.add_cable(link);
  const Graph graph = std::move(builder).freeze();
  const Route route = Router(graph, {RoutingKind::Spray}).route(a, b);
  try {
    (void)route.full_rate(graph);
    FAIL("expected an error");
  } catch (const FractionOverflow& error) {
    CHECK(error.what() == std::string("the rate of a route of which 1/2 crosses gpu0 -> gpu1 "
                                      "exceeds 64 bits"));
  }
}

TEST_CASE("static spreads the destinations of a leaf evenly over the uplinks") {
  // 12 ports at 2:1 are 8 down and 4 up; one NIC a node.
  ClusterSpec spec = test::textbook_nodes(24);
  test::make_leaf_spine(spec, 12, 2);
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
