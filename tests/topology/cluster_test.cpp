#include "topology/cluster.hpp"

#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"

using namespace collsim;

namespace {

using Words = std::vector<std::string>;

Words targets(const Graph& graph, const std::string& from) {
  Words names;
  for (const LinkId id : graph.links_out(test::device(graph, from))) {
    names.push_back(graph.name(graph.link(id).target));
  }
  return names;
}

}  // namespace

TEST_CASE("connect: all joins every device of one family with every one of the other") {
  const Graph graph = build_graph(test::with_link(Connect::All, "gpu", "sw"));
  CHECK(targets(graph, "gpu2") == Words{"switch", "sw0", "sw1"});
  CHECK(targets(graph, "sw1") == Words{"gpu0", "gpu1", "gpu2", "gpu3"});
}

TEST_CASE("connect: one_to_one joins devices of the same number") {
  ClusterSpec spec = test::with_link(Connect::OneToOne, "gpu", "sw");
  spec.node.devices[1].count = 4;
  const Graph graph = build_graph(spec);
  CHECK(targets(graph, "sw3") == Words{"gpu3"});
}

TEST_CASE("connect: grouped gives each device of `to` its share of `from`") {
  const Graph graph = build_graph(test::with_link(Connect::Grouped, "gpu", "sw"));
  CHECK(targets(graph, "sw0") == Words{"gpu0", "gpu1"});
  CHECK(targets(graph, "sw1") == Words{"gpu2", "gpu3"});
}

TEST_CASE("connect: mesh joins every pair of a family, both ways or one link each way") {
  for (const Duplex duplex : {Duplex::BothWays, Duplex::OneWay}) {
    const Graph graph = build_graph(test::with_link(Connect::Mesh, "gpu", "gpu", duplex));
    CHECK(targets(graph, "gpu1") == Words{"switch", "gpu0", "gpu2", "gpu3"});
    // 4 cables of the star and 4·3 ordered pairs.
    CHECK(graph.links().size() == 8 + 12);
  }
}

TEST_CASE("a link entry may name single devices and have one way") {
  const Graph graph = build_graph(test::with_link(Connect::All, "gpu3", "sw1", Duplex::OneWay));
  CHECK(targets(graph, "gpu3") == Words{"switch", "sw1"});
  CHECK(targets(graph, "sw1").empty());
}

TEST_CASE("a switch's forwarding latency counts on the links that leave it") {
  const Graph graph = build_graph(test::dgx_leaf_spine(4, 32, 1, RoutingKind::Fixed));
  const auto latency = [&](const char* from, const char* to) {
    const auto links = graph.links_between(test::device(graph, from), test::device(graph, to));
    REQUIRE(links.size() == 1);
    return graph.link(links[0]).latency;
  };
  // Cables of 30 ns, leaves of 230 ns, spines of 240 ns.
  CHECK(latency("node0.nic0", "leaf0") == std::chrono::nanoseconds(30));
  CHECK(latency("leaf0", "node0.nic0") == std::chrono::nanoseconds(260));
  CHECK(latency("leaf0", "spine3") == std::chrono::nanoseconds(260));
  CHECK(latency("spine3", "leaf1") == std::chrono::nanoseconds(270));
}

TEST_CASE("leaves take as many whole nodes as fit, and have a link to each spine") {
  // 48 ports at 2:1 are 32 down and 16 up: 4 nodes of 8 NICs on a leaf; 9 nodes need 3 leaves.
  ClusterSpec spec = test::dgx_leaf_spine(9, 48, 2, RoutingKind::Fixed);
  spec.fabric.tiers[1].link =
      FabricLinkSpec{LinkKind::Ethernet, test::textbook_bandwidth, Duration(5)};
  const Graph graph = build_graph(spec);
  CHECK(targets(graph, "node3.nic7").back() == "leaf0");
  CHECK(targets(graph, "node4.nic0").back() == "leaf1");
  CHECK(targets(graph, "node8.nic0").back() == "leaf2");
  CHECK(targets(graph, "leaf2").size() == 8 + 16);
  CHECK(targets(graph, "spine15") == Words{"leaf0", "leaf1", "leaf2"});
  CHECK_FALSE(graph.find_device("spine16").has_value());
  CHECK_FALSE(graph.find_device("leaf3").has_value());
  const Link& up = graph.link(graph.links_out(test::device(graph, "spine0"))[0]);
  CHECK(up.kind == LinkKind::Ethernet);
  CHECK(up.bandwidth == test::textbook_bandwidth);
  CHECK(graph.levels()[up.level.index()] == "spine");
}

TEST_CASE("one node beside a fabric keeps its device names apart from the switches'") {
  const Graph graph = build_graph(test::textbook_nodes(1));
  CHECK(targets(graph, "nic") == Words{"switch", "fabric_switch"});
  CHECK(targets(graph, "fabric_switch") == Words{"nic"});
}

TEST_CASE("an explicit graph has the devices, names and links it lists") {
  ClusterSpec spec;
  spec.graph.emplace();
  spec.graph->devices = {{"left", DeviceKind::Gpu, {}},
                         {"hub", DeviceKind::NetworkSwitch, {}},
                         {"right", DeviceKind::Gpu, 1}};
  spec.graph->links = {test::link("left", "hub", test::textbook_bandwidth, Duration(3)),
                       test::link("hub", "right", test::textbook_bandwidth, Duration(4))};
  spec.graph->links[1].count = 2;
  const Graph graph = build_graph(spec);
  CHECK(graph.nodes() == 2);
  CHECK(graph.device(test::device(graph, "left")).node == NodeId(0));
  CHECK_FALSE(graph.device(test::device(graph, "hub")).node.has_value());
  CHECK(targets(graph, "hub") == Words{"left", "right", "right"});
  CHECK(graph.name(LinkId(4)) == "hub -> right#1");
}

TEST_CASE("a hundred thousand GPUs build, and routes among them are found at once") {
  const Cluster star(test::star(131'072));
  CHECK(star.graph().links().size() == 262'144);
  const auto gpus = star.graph().gpus();
  CHECK(star.router().route(gpus.front(), gpus.back()).hops.size() == 2);
  const Cluster mesh(test::mesh(256));
  CHECK(mesh.router().route(mesh.graph().gpus()[255], mesh.graph().gpus()[0]).hops.size() == 1);
}

TEST_CASE("a cluster's router works after the cluster has moved") {
  Cluster first(test::star(3));
  const Cluster second(std::move(first));
  const auto gpus = second.graph().gpus();
  CHECK(second.name() == "textbook-star");
  CHECK(second.router().route(gpus[0], gpus[2]).hops.size() == 2);
}
