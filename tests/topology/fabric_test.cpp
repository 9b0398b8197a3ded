// Fabrics of switches: how many of what, and what is joined with what.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/fabrics.hpp"

using namespace collsim;

namespace {

std::size_t switches(const Graph& graph, const std::string& stem) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    const Device& device = graph.devices()[i];
    const std::string name = graph.name(DeviceId(i));
    if (device.kind == DeviceKind::NetworkSwitch && name.starts_with(stem)) {
      ++count;
    }
  }
  return count;
}

/// Cables (both directions) whose links belong to a level.
std::size_t cables(const Graph& graph, const std::string& level) {
  const auto links = std::ranges::count_if(
      graph.links(), [&](const Link& link) { return graph.levels()[link.level.index()] == level; });
  return static_cast<std::size_t>(links) / 2;
}

/// Names of the switches that a device has cables to, in order of id, once for each cable.
std::vector<std::string> joined_with(const Graph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (const LinkId id : graph.links_out(test::device(graph, name))) {
    const DeviceId target = graph.link(id).target;
    if (graph.device(target).kind == DeviceKind::NetworkSwitch) {
      names.push_back(graph.name(target));
    }
  }
  return names;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("rails of 32 nodes make the DGX SuperPOD's table") {
  // NVIDIA DGX SuperPOD reference architecture: switches and cables by scalable units of 32 nodes.
  struct Row {
    std::uint32_t units;
    std::size_t tiers;
    std::size_t leaves;
    std::size_t spines;
    std::size_t cores;
  };
  for (const Row row :
       {Row{1, 2, 8, 4, 0}, Row{2, 2, 16, 8, 0}, Row{4, 2, 32, 16, 0}, Row{8, 2, 64, 32, 0},
        Row{16, 3, 128, 128, 64}, Row{64, 3, 512, 512, 256}}) {
    CAPTURE(row.units);
    const Graph graph = build_graph(test::rail_optimized(row.units * 32, 8, row.tiers));
    CHECK(switches(graph, "leaf") == row.leaves);
    CHECK(switches(graph, "spine") == row.spines);
    CHECK(switches(graph, "core") == row.cores);
    CHECK(cables(graph, "leaf") == std::size_t{row.units} * 256);
    CHECK(cables(graph, "spine") == std::size_t{row.units} * 256);
    if (row.tiers == 3) {
      CHECK(cables(graph, "core") == std::size_t{row.units} * 256);
    }
    for (std::size_t i = 0; i < graph.devices().size(); ++i) {
      if (graph.devices()[i].kind == DeviceKind::NetworkSwitch) {
        REQUIRE(graph.links_out(DeviceId(i)).size() <= 64);
      }
    }
  }
}

TEST_CASE("leaf r of a group takes NIC r of its nodes") {
  // 8 ports are 4 down: groups of 4 nodes, 2 leaves each.
  const Graph graph = build_graph(test::rail_optimized(8, 2, 2, 8));
  CHECK(joined_with(graph, "node0.nic0") == Words{"leaf0"});
  CHECK(joined_with(graph, "node3.nic1") == Words{"leaf1"});
  CHECK(joined_with(graph, "node4.nic0") == Words{"leaf2"});
  CHECK(joined_with(graph, "node7.nic1") == Words{"leaf3"});
  // 4 leaves of 4 ports up: 16 cables, 2 spines of 8 ports, 2 cables to each.
  CHECK(joined_with(graph, "leaf0") == Words{"spine0", "spine1", "spine0", "spine1"});
}

TEST_CASE("fewer rails than NICs: a leaf takes several NICs of a node") {
  ClusterSpec spec = test::rail_optimized(4, 4, 2, 8);
  spec.fabric.rails = 2;
  const Graph graph = build_graph(spec);
  // Two NICs of a node on each leaf of 4 ports down: groups of 2 nodes.
  CHECK(joined_with(graph, "node0.nic0") == Words{"leaf0"});
  CHECK(joined_with(graph, "node0.nic1") == Words{"leaf1"});
  CHECK(joined_with(graph, "node0.nic2") == Words{"leaf0"});
  CHECK(joined_with(graph, "node2.nic3") == Words{"leaf3"});
}

TEST_CASE("dual ToR: the two ports of a NIC go to two leaves of its group") {
  ClusterSpec spec = test::rail_optimized(4, 2, 2, 8);
  spec.fabric.nic_ports = 2;
  const Graph graph = build_graph(spec);
  CHECK(joined_with(graph, "node0.nic0") == Words{"leaf0", "leaf1"});
  CHECK(joined_with(graph, "node3.nic1") == Words{"leaf2", "leaf3"});
  CHECK(cables(graph, "leaf") == 4 * 2 * 2);
}

TEST_CASE("more planes than ports need links between the GPUs of a node") {
  ClusterSpec spec = test::rail_nodes(8, 2);
  spec.fabric.kind = FabricKind::FatTree;
  spec.fabric.tiers = {test::tier(8), test::tier(std::nullopt)};
  spec.fabric.planes = 4096;
  spec.fabric.nic_choice = NicChoice::RailAligned;
  CHECK(test::error_of(spec) == "none");
  spec.node.links.erase(spec.node.links.begin());  // NVLink
  CHECK(test::error_of(spec) ==
        "fabric.planes: expected a path between any two GPUs, got none from \"node0.gpu0\" to "
        "\"node0.gpu1\": of the 2 NIC ports of a node, port e is in plane e mod 4096\n"
        "hint: fewer planes, so that NICs meet, or links between the GPUs of a node");
}

TEST_CASE("planes are fabrics of their own") {
  // Two NICs, two planes: a tree each. 8 ports are 4 down, so a leaf takes 4 nodes.
  ClusterSpec spec = test::rail_nodes(8, 2);
  spec.fabric.kind = FabricKind::FatTree;
  spec.fabric.tiers = {test::tier(8), test::tier(std::nullopt)};
  spec.fabric.planes = 2;
  // To the other NIC's GPU there is no way but by the GPU next to it.
  CHECK(test::error_of(spec) ==
        "fabric.planes: expected a path between any two GPUs, got none from \"node0.gpu0\" to "
        "\"node1.gpu1\": of the 2 NIC ports of a node, port e is in plane e mod 2\n"
        "hint: nic_choice: rail-aligned goes by the GPU whose NIC is in the receiver's plane, over "
        "links between the GPUs of a node; or fewer planes");
  spec.fabric.nic_choice = NicChoice::RailAligned;
  const Graph graph = build_graph(spec);
  CHECK(switches(graph, "leaf") == 4);
  CHECK(joined_with(graph, "node0.nic0") == Words{"leaf0"});
  CHECK(joined_with(graph, "node0.nic1") == Words{"leaf2"});
  CHECK(joined_with(graph, "node4.nic1") == Words{"leaf3"});
  // Each leaf has a cable to each of the 4 spines of its plane.
  CHECK(joined_with(graph, "leaf0") == Words{"spine0", "spine1", "spine2", "spine3"});
  CHECK(joined_with(graph, "leaf3") == Words{"spine4", "spine5", "spine6", "spine7"});
}

TEST_CASE("the two ports of a NIC in two planes") {
  ClusterSpec spec = test::rail_optimized(4, 2, 2, 8);
  spec.fabric.nic_ports = 2;
  spec.fabric.planes = 2;
  const Graph graph = build_graph(spec);
  // In each plane 2 leaves, one a rail.
  CHECK(joined_with(graph, "node0.nic0") == Words{"leaf0", "leaf2"});
  CHECK(joined_with(graph, "node3.nic1") == Words{"leaf1", "leaf3"});
}

TEST_CASE("a fat tree of three tiers has oversubscription at each") {
  // Leaves: 6 ports at 2:1, 4 down and 2 up. Pods: 2 spines of 8 ports at 1:1, 4 down, so 4 leaves;
  // 2 · 4 ports up. 2 pods, so 8 cores with a cable to each pod.
  ClusterSpec spec = test::rail_nodes(32, 1);
  spec.fabric.kind = FabricKind::FatTree;
  spec.fabric.tiers = {test::tier(6), test::tier(8), test::tier(std::nullopt)};
  spec.fabric.tiers[1].oversubscription = 2;
  const Graph graph = build_graph(spec);
  CHECK(switches(graph, "leaf") == 8);
  CHECK(switches(graph, "spine") == 4);
  CHECK(switches(graph, "core") == 8);
  CHECK(cables(graph, "spine") == 8 * 2);
  CHECK(cables(graph, "core") == 4 * 4);
  CHECK(joined_with(graph, "core0") == Words{"spine0", "spine2"});
}

TEST_CASE("the fourth tier of a fat tree has a name, too") {
  // 4 ports are 2 down and 2 up: 2 nodes a leaf, 2 leaves, then 2 pods, and 2 of these joined by cores.
  ClusterSpec spec = test::rail_nodes(16, 1);
  spec.fabric.kind = FabricKind::FatTree;
  spec.fabric.tiers.assign(4, test::tier(4));
  spec.fabric.tiers[3].ports.reset();
  const Graph graph = build_graph(spec);
  // Each of 8 leaves has 2 cables up, each pod of 2 leaves 4, each two pods 8: 8 at the top.
  CHECK(switches(graph, "tier3_") == 8);
  CHECK(cables(graph, "tier3") == 2 * 8);
  CHECK(graph.levels().back() == "tier3");
}

TEST_CASE("a dragonfly joins every two groups, its global links spread over the switches") {
  // 24 NICs, 2 on a switch, 3 switches a group: 4 groups. 2 links a pair: 6 global ports a group, 2 on
  // each switch.
  const Graph graph = build_graph(test::dragonfly(12, 2, 2, 3, 2));
  CHECK(switches(graph, "switch") == 12);
  CHECK(cables(graph, "local") == 4 * 3);
  CHECK(cables(graph, "global") == 6 * 2);
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> pairs;
  std::map<DeviceId, int> ports;
  for (const Link& link : graph.links()) {
    if (graph.levels()[link.level.index()] != "global") {
      continue;
    }
    ++pairs[{graph.device(link.source).group.value(), graph.device(link.target).group.value()}];
    ++ports[link.source];
  }
  CHECK(pairs.size() == 12);
  CHECK(std::ranges::all_of(pairs, [](const auto& entry) { return entry.second == 2; }));
  CHECK(ports.size() == 12);
  CHECK(std::ranges::all_of(ports, [](const auto& entry) { return entry.second == 2; }));
}

TEST_CASE("with a spread, NICs go to as many switches of a dragonfly by turns") {
  // Nodes of 2 NICs, 2 NICs on a switch: NICs 0 to 3 fill switches 0 and 1 by turns, 4 to 7 switches 2 and 3.
  ClusterSpec flies = test::dragonfly(8, 2, 2, 4, 1);
  flies.fabric.dragonfly.spread = 2;
  const Graph graph = build_graph(flies);
  CHECK(joined_with(graph, "node0.nic0") == Words{"switch0"});
  CHECK(joined_with(graph, "node0.nic1") == Words{"switch1"});
  CHECK(joined_with(graph, "node1.nic0") == Words{"switch0"});
  CHECK(joined_with(graph, "node1.nic1") == Words{"switch1"});
  CHECK(joined_with(graph, "node2.nic0") == Words{"switch2"});
  CHECK(joined_with(graph, "node3.nic1") == Words{"switch3"});
  CHECK(joined_with(graph, "node4.nic0") == Words{"switch4"});

  flies.fabric.dragonfly.spread = 3;
  CHECK(test::error_of(flies) ==
        "fabric.switch.spread: expected a divisor of the group's 4 switches, got 3");
}

TEST_CASE("a torus joins each node with its neighbours, around the edges") {
  const Graph graph = build_graph(test::torus({3, 2, 1}));
  // Rings of 3: 3 cables each, two of them; pairs: one cable each, three.
  CHECK(cables(graph, "torus") == 2 * 3 + 3);
  CHECK(joined_with(graph, "switch0") == Words{"switch1", "switch2", "switch3"});
  CHECK(joined_with(graph, "switch4") == Words{"switch3", "switch5", "switch1"});
}

TEST_CASE("nodes of several kinds stand one behind the other") {
  ClusterSpec spec = test::rail_nodes(2, 4);
  NodeGroupSpec small;
  small.count = 3;
  small.node = test::rail_nodes(1, 1).node;
  spec.more_nodes = {small};
  spec.fabric.kind = FabricKind::LeafSpine;
  spec.fabric.tiers = {test::tier(10), test::tier(std::nullopt)};
  const Graph graph = build_graph(spec);
  CHECK(graph.nodes() == 5);
  CHECK(graph.gpus().size() == 2 * 4 + 3);
  // 5 ports down: node 0 and no more than one of the others fit on a leaf.
  CHECK(joined_with(graph, "node0.nic3") == Words{"leaf0"});
  CHECK(joined_with(graph, "node1.nic0") == Words{"leaf1"});
  CHECK(joined_with(graph, "node2.nic0") == Words{"leaf1"});
  CHECK(joined_with(graph, "node3.nic0") == Words{"leaf2"});
  CHECK(joined_with(graph, "node4.nic0") == Words{"leaf2"});
}

TEST_CASE("an impossible fabric is refused at its place") {
  using Change = void (*)(ClusterSpec&);
  struct Case {
    const char* what;
    Change change;
    const char* error;
  };
  const std::vector<Case> cases{
      {"planes that split a NIC's ports",
       [](ClusterSpec& s) {
         s.fabric.nic_ports = 2;
         s.fabric.planes = 3;
       },
       "fabric.planes: expected 1 plane or a multiple of 2, the ports of a NIC, got 3"},
      {"ports and down", [](ClusterSpec& s) { s.fabric.tiers[0].down = 4; },
       "fabric.leaf.ports: expected either `ports` or `down` and `up`, got both"},
      {"down without up",
       [](ClusterSpec& s) {
         s.fabric.tiers[0].ports.reset();
         s.fabric.tiers[0].down = 4;
       },
       "fabric.leaf: expected both `down` and `up`, got one"},
      {"up from the highest",
       [](ClusterSpec& s) {
         s.fabric.tiers[2].ports.reset();
         s.fabric.tiers[2].up = 3;
       },
       "fabric.core.up: expected no ports up from the highest switches, got 3"},
      {"a count that does not divide", [](ClusterSpec& s) { s.fabric.tiers[1].count = 3; },
       "fabric.spine.count: expected a divisor of the 4 ports up that each leaf has, got 3"},
      {"spines with fewer ports than cables from a leaf",
       [](ClusterSpec& s) {
         s.fabric.tiers[1].count = 1;
         s.fabric.tiers[1].ports = 4;
       },
       "fabric.spine.ports: expected at least 4 ports down, as many as cables from each leaf, got "
       "2"},
      {"cores too small", [](ClusterSpec& s) { s.fabric.tiers[2].ports = 3; },
       "fabric.core.ports: expected at least 4 ports, one for each group below, got 3"},
      // Where the description has `down`, that is the place.
      {"leaves with too few ports down",
       [](ClusterSpec& s) {
         s.fabric.rails = 1;
         s.fabric.tiers[0].ports.reset();
         s.fabric.tiers[0].down = 1;
         s.fabric.tiers[0].up = 4;
       },
       "fabric.leaf.down: expected enough ports for a whole node, 2 down, got 1 down and 4 up"},
      {"spines with too few ports down",
       [](ClusterSpec& s) {
         s.fabric.tiers[1].count = 1;
         s.fabric.tiers[1].ports.reset();
         s.fabric.tiers[1].down = 3;
         s.fabric.tiers[1].up = 3;
       },
       "fabric.spine.down: expected at least 4 ports down, as many as cables from each leaf, got "
       "3"},
      {"cores with too few ports down",
       [](ClusterSpec& s) {
         s.fabric.tiers[2].ports.reset();
         s.fabric.tiers[2].down = 3;
       },
       "fabric.core.down: expected at least 4 ports, one for each group below, got 3"},
  };
  for (const Case& entry : cases) {
    CAPTURE(entry.what);
    // 8 ports are 4 down: 8 groups of 4 nodes and 2 leaves, 4 leaves a pod, 4 pods.
    ClusterSpec spec = test::rail_optimized(32, 2, 3, 8);
    spec.fabric.tiers[2].ports = 8;
    REQUIRE(test::error_of(spec) == "none");
    entry.change(spec);
    CHECK(test::error_of(spec) == entry.error);
  }
}

TEST_CASE("an impossible dragonfly or torus is refused at its place") {
  ClusterSpec flies = test::dragonfly(12, 2, 2, 3, 2);
  // 2 NICs, 2 local links, 6 / 3 global ones.
  flies.fabric.tiers[0].ports = 5;
  CHECK(
      test::error_of(flies) ==
      "fabric.switch.ports: expected at least 6 ports (2 NICs, 2 local links and a share of the 6 "
      "global links of a group), got 5");
  flies.fabric.tiers[0].ports = 6;
  CHECK(test::error_of(flies) == "none");
  // More local links than 32 bits count: 2^20 others · 2^12, and 6 global links on 2^20 + 1 switches.
  ClusterSpec large = flies;
  large.fabric.dragonfly.switches = (1U << 20U) + 1;
  large.fabric.dragonfly.local_links = 1U << 12U;
  CHECK(test::error_of(large) ==
        "fabric.switch.ports: expected at least 4294967298 ports (2 NICs, 4294967296 local links "
        "and a share of the 0 global links of a group), got 6");
  flies.fabric.dragonfly.switches = 0;
  CHECK(test::error_of(flies) == "fabric.group.switches: expected a count of at least 1, got 0");

  ClusterSpec ring = test::torus({4});
  ring.nodes = 5;
  CHECK(test::error_of(ring) ==
        "fabric.dimensions: expected dimensions whose product is the number of nodes, 5, got 4");
  ring.fabric.dimensions = {5, 0};
  CHECK(test::error_of(ring) == "fabric.dimensions.y: expected a count of at least 1, got 0");
}
