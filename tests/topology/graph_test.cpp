#include "topology/graph.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"

using namespace collsim;

namespace {

std::vector<std::string> names(const Graph& graph) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    all.push_back(graph.name(DeviceId(i)));
  }
  return all;
}

std::vector<std::string> link_names(const Graph& graph, std::span<const LinkId> links) {
  std::vector<std::string> all;
  for (const LinkId id : links) {
    all.push_back(graph.name(id));
  }
  return all;
}

std::vector<std::string> level_names(const Graph& graph) {
  return {graph.levels().begin(), graph.levels().end()};
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("a star has a switch, and a link each way for every GPU") {
  const Graph graph = build_graph(test::star(3));
  CHECK(names(graph) == Words{"gpu0", "gpu1", "gpu2", "switch"});
  const DeviceId hub = test::device(graph, "switch");
  CHECK(link_names(graph, graph.links_out(hub)) ==
        Words{"switch -> gpu0", "switch -> gpu1", "switch -> gpu2"});
  CHECK(link_names(graph, graph.links_in(hub)) ==
        Words{"gpu0 -> switch", "gpu1 -> switch", "gpu2 -> switch"});
  CHECK(level_names(graph) == Words{"link"});
  CHECK(graph.nodes() == 1);
  CHECK(graph.gpus().size() == 3);
  for (const Link& link : graph.links()) {
    CHECK(link.bandwidth == test::textbook_bandwidth);
    CHECK(link.latency == std::chrono::nanoseconds(500));
  }
}

TEST_CASE("a mesh has one link for every ordered pair of GPUs") {
  const Graph graph = build_graph(test::mesh(4));
  CHECK(graph.links().size() == 12);
  for (const DeviceId from : graph.gpus()) {
    for (const DeviceId to : graph.gpus()) {
      CHECK(graph.links_between(from, to).size() == (from == to ? 0U : 1U));
    }
  }
}

TEST_CASE("nodes come one after the other, then the fabric") {
  const Graph graph = build_graph(test::textbook_nodes(2));
  CHECK(names(graph) == Words{"node0.gpu0", "node0.gpu1", "node0.gpu2", "node0.gpu3",
                              "node0.switch", "node0.nic", "node1.gpu0", "node1.gpu1", "node1.gpu2",
                              "node1.gpu3", "node1.switch", "node1.nic", "switch"});
  CHECK(level_names(graph) == Words{"link", "leaf"});
  // 2 nodes × 5 cables and 2 NIC cables, two links each.
  CHECK(graph.links().size() == 24);
  CHECK(graph.name(LinkId(0)) == "node0.gpu0 -> node0.switch");
  CHECK(graph.name(LinkId(10)) == "node1.gpu0 -> node1.switch");
  CHECK(graph.name(LinkId(20)) == "node0.nic -> switch");
  CHECK(graph.name(LinkId(23)) == "switch -> node1.nic");
  REQUIRE(graph.nics(NodeId(1)).size() == 1);
  CHECK(graph.name(graph.nics(NodeId(1))[0]) == "node1.nic");
}

TEST_CASE("levels stand in the order of link kinds, the fabric's last") {
  ClusterSpec spec = test::dgx(2);
  std::swap(spec.node.links.front(), spec.node.links.back());
  CHECK(level_names(build_graph(spec)) == Words{"nvlink", "pcie", "socket", "leaf"});
}

TEST_CASE("devices are found by the names they show, and by no other") {
  const Graph graph = build_graph(test::dgx(12));
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    CHECK(graph.find_device(graph.name(DeviceId(i))) == DeviceId(i));
  }
  for (const char* unknown : {"", "gpu0", "node1.gpu", "node1.gpu08", "node01.gpu0", "node12.gpu0",
                              "node1.nvswitch0", "node1.gpu0 ", "node1gpu0", "switch0"}) {
    CHECK_FALSE(graph.find_device(unknown).has_value());
  }
}

TEST_CASE("parallel links are told apart by a number behind the name") {
  ClusterSpec spec = test::star(2);
  spec.node.links[0].count = 3;
  const Graph graph = build_graph(spec);
  const auto links =
      graph.links_between(test::device(graph, "gpu1"), test::device(graph, "switch"));
  CHECK(link_names(graph, links) ==
        Words{"gpu1 -> switch", "gpu1 -> switch#1", "gpu1 -> switch#2"});
}

TEST_CASE("the builder refuses what cannot carry data") {
  GraphBuilder builder;
  const std::uint32_t stem = builder.add_stem("gpu", true);
  const DeviceId a = builder.add_device(DeviceKind::Gpu, NodeId(0), stem, 0);
  const DeviceId b = builder.add_device(DeviceKind::Gpu, NodeId(0), stem, 1);
  Link link{
      a, b, test::textbook_bandwidth, Duration(1), LinkKind::Generic, builder.add_level("link")};
  SECTION("no bandwidth") {
    link.bandwidth = Bandwidth();
    CHECK_THROWS_AS(builder.add_link(link), InputError);
  }
  SECTION("a negative latency") {
    link.latency = Duration(-1);
    CHECK_THROWS_AS(builder.add_link(link), InputError);
  }
  SECTION("one end") {
    link.target = a;
    CHECK_THROWS_AS(builder.add_link(link), InputError);
  }
  SECTION("no GPU") {
    GraphBuilder empty;
    CHECK_THROWS_AS(std::move(empty).freeze(), InputError);
  }
}
