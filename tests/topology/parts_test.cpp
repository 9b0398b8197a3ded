// Divisions of the machine and the cuts around their parts.

#include "topology/parts.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/fabrics.hpp"

using namespace collsim;

namespace {

Bandwidth gbps(std::int64_t value) { return Bandwidth::bytes_per_second(value * 1'000'000'000); }

std::vector<std::pair<std::string, std::uint32_t>> names(const std::vector<Division>& found) {
  std::vector<std::pair<std::string, std::uint32_t>> result;
  for (const Division& division : found) {
    result.emplace_back(division.name, division.parts);
  }
  return result;
}

using Names = std::vector<std::pair<std::string, std::uint32_t>>;

}  // namespace

TEST_CASE("one node is one part") {
  CHECK(names(divisions(build_graph(test::star(4)))) == Names{{"node", 1}});
}

TEST_CASE("nodes, then leaf groups, then the whole") {
  // Leaves of 32 ports, 16 down: two nodes each.
  const Graph graph = build_graph(test::dgx_leaf_spine(5, 32, 1, RoutingKind::Fixed));
  const std::vector<Division> found = divisions(graph);
  CHECK(names(found) == Names{{"node", 5}, {"leaf", 3}, {"spine", 1}});
  CHECK(found[1].part_of[test::device(graph, "node3.gpu2").index()] == 1);
  CHECK(found[1].part_of[test::device(graph, "leaf1").index()] == 1);
  // Parts without GPUs are numbered behind the others.
  CHECK(found[1].part_of[test::device(graph, "spine0").index()] == 3);
}

TEST_CASE("totals of more links than a bandwidth can hold") {
  // 100,000 cables of 100 GB/s.
  TotalBandwidth total;
  CHECK(total == TotalBandwidth(Bandwidth()));
  for (int i = 0; i < 100'000; ++i) {
    total += gbps(100);
  }
  CHECK_FALSE(total.bandwidth());
  CHECK(total > TotalBandwidth(gbps(9'000'000)));
  CHECK(to_text(total) == "10 PB/s");
  CHECK(total.as_bytes_per_second() == 1e16);
  CHECK(TotalBandwidth(gbps(3)).bandwidth() == gbps(3));
  CHECK(to_text(TotalBandwidth(gbps(3))) == "3 GB/s");
}

TEST_CASE("a torus is halved along its longest dimension") {
  const auto halves = [](const std::vector<std::uint32_t>& dimensions) {
    const ClusterSpec spec = test::torus(dimensions);
    const Graph graph = build_graph(spec);
    const auto division = fabric_halves(graph, spec.fabric);
    REQUIRE(division);
    return part_cuts(graph, *division, nullptr);
  };
  // Four columns of five: between columns 1 and 2, and, around, between 4 and 0; 50 GB/s each.
  const auto odd = halves({5, 4});
  REQUIRE(odd.size() == 2);
  CHECK(odd[0].gpus == 2 * 4);
  CHECK(odd[1].gpus == 3 * 4);
  CHECK(odd[0].cut.out == gbps(2 * 4 * 50));
  CHECK(odd[1].cut.in == gbps(2 * 4 * 50));
  CHECK(odd[1].nodes.out == gbps(3 * 4 * 50));
  // The other way round, and with three dimensions: 2 x 3 x 8 is cut twice through 2 x 3.
  CHECK(halves({4, 5})[0].cut.out == gbps(2 * 4 * 50));
  CHECK(halves({2, 3, 8})[0].cut.out == gbps(2 * 2 * 3 * 50));
  // Two switches have one cable.
  CHECK(halves({2})[0].cut.out == gbps(50));
}

TEST_CASE("a dragonfly is halved between its groups") {
  // One NIC a node, two a switch, three switches a group: 30 nodes are five groups of six nodes. Two of
  // them against three, with 4 links for each pair; 50 GB/s each.
  const ClusterSpec spec = test::dragonfly(30, 1, 2, 3, 4);
  const Graph graph = build_graph(spec);
  const auto division = fabric_halves(graph, spec.fabric);
  REQUIRE(division);
  const auto halves = part_cuts(graph, *division, nullptr);
  REQUIRE(halves.size() == 2);
  CHECK(halves[0].gpus == 12);
  CHECK(halves[1].gpus == 18);
  CHECK(halves[0].cut.out == gbps(2 * 3 * 4 * 50));
  CHECK(halves[1].cut.in == gbps(2 * 3 * 4 * 50));
  CHECK(halves[1].nodes.out == gbps(18 * 50));
}

TEST_CASE("a node between two halves is where its first NIC is") {
  // Three nodes of two NICs on two groups of one switch with three: the second node has one in each. So
  // its cable to the other group is cut, beside the global link.
  const ClusterSpec spec = test::dragonfly(3, 2, 3, 1, 1);
  const Graph graph = build_graph(spec);
  const auto division = fabric_halves(graph, spec.fabric);
  REQUIRE(division);
  const auto halves = part_cuts(graph, *division, nullptr);
  CHECK(halves[0].gpus == 2 * 2);
  CHECK(halves[1].gpus == 2);
  CHECK(halves[0].cut.out == gbps(2 * 50));
  CHECK(halves[1].cut.out == gbps(2 * 50));
  // Two groups, and one node with a NIC in each: one half has no GPU.
  const ClusterSpec both = test::dragonfly(1, 2, 1, 1, 1);
  CHECK_FALSE(fabric_halves(build_graph(both), both.fabric));
}

TEST_CASE("nothing but tori and dragonflies of several groups has halves") {
  const ClusterSpec alone = test::dragonfly(4, 1, 2, 3, 4);  // one group
  CHECK_FALSE(fabric_halves(build_graph(alone), alone.fabric));
  const ClusterSpec one = test::torus({1, 1, 1});
  CHECK_FALSE(fabric_halves(build_graph(one), one.fabric));
  const ClusterSpec tree = test::dgx_leaf_spine(5, 32, 1, RoutingKind::Fixed);
  CHECK_FALSE(fabric_halves(build_graph(tree), tree.fabric));
}

TEST_CASE("the cuts of nodes and leaf groups") {
  // 48 ports, 32 down and 16 up: four nodes a leaf, 2:1.
  const Graph graph = build_graph(test::dgx_leaf_spine(8, 48, 2, RoutingKind::Fixed));
  const std::vector<Division> found = divisions(graph);
  const std::vector<PartCut> nodes = part_cuts(graph, found[0], nullptr);
  REQUIRE(nodes.size() == 8);
  CHECK(nodes[7].gpus == 8);
  CHECK(nodes[7].cut.out == gbps(8 * 50));
  // A GPU has 450 to its NVSwitch and 64 to its PCIe switch.
  CHECK(nodes[7].inside.out == gbps(8 * (450 + 64)));
  const std::vector<PartCut> leaves = part_cuts(graph, found[1], found.data());
  REQUIRE(leaves.size() == 2);
  CHECK(leaves[0].gpus == 32);
  CHECK(leaves[0].inside.out == gbps(4 * 400));
  CHECK(leaves[0].nodes.out == gbps(4 * 400));
  CHECK(leaves[0].cut.out == gbps(16 * 50));
  CHECK(leaves[0].cut.in == gbps(16 * 50));
}

TEST_CASE("NVLink that leaves the nodes divides before the network does") {
  // Two racks of two nodes of one GPU, an NVSwitch a rack; each GPU has a NIC on one switch.
  ClusterSpec spec;
  spec.graph = ExplicitGraphSpec{};
  for (std::uint32_t n = 0; n < 4; ++n) {
    const std::string number = std::to_string(n);
    spec.graph->devices.push_back({"g" + number, DeviceKind::Gpu, n});
    spec.graph->devices.push_back({"n" + number, DeviceKind::Nic, n});
    spec.graph->links.push_back(test::link("g" + number, "n" + number, gbps(60), Duration(1)));
    spec.graph->links.back().kind = LinkKind::Pcie;
    spec.graph->links.push_back(
        test::link("g" + number, "v" + std::to_string(n / 2), gbps(900), Duration(1)));
    spec.graph->links.back().kind = LinkKind::Nvlink;
    spec.graph->links.push_back(test::link("n" + number, "s", gbps(50), Duration(1)));
    spec.graph->links.back().kind = LinkKind::Infiniband;
  }
  spec.graph->devices.push_back({"v0", DeviceKind::Nvswitch, std::nullopt});
  spec.graph->devices.push_back({"v1", DeviceKind::Nvswitch, std::nullopt});
  spec.graph->devices.push_back({"s", DeviceKind::NetworkSwitch, std::nullopt});
  const Graph graph = build_graph(spec);
  const std::vector<Division> found = divisions(graph);
  CHECK(names(found) == Names{{"node", 4}, {"nvlink", 2}, {"infiniband", 1}});
  const std::vector<PartCut> racks = part_cuts(graph, found[1], found.data());
  CHECK(racks[1].gpus == 2);
  CHECK(racks[1].cut.out == gbps(2 * 50));
  // What leaves its two nodes: NVLink and the NIC.
  CHECK(racks[1].inside.out == gbps(2 * (900 + 50)));
}
