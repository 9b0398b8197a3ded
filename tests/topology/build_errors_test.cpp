// Every way in which a description cannot be built, each with its exact message.

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"
#include "tests/topology/fabrics.hpp"
#include "topology/cluster.hpp"

using namespace collsim;

namespace {

/// What is wrong, how to get it from a good description, and the error.
struct BadSpec {
  const char* what;
  ClusterSpec (*good)();
  void (*spoil)(ClusterSpec&);
  const char* error;
};

ClusterSpec good_star() { return test::star(8); }
ClusterSpec good_nodes() { return test::textbook_nodes(2); }
ClusterSpec good_leaf_spine() { return test::dgx_leaf_spine(4, 32, 1, RoutingKind::Fixed); }
ClusterSpec good_pairs() { return test::with_link(Connect::Grouped, "gpu", "sw"); }
ClusterSpec good_graph() {
  ClusterSpec spec;
  spec.graph.emplace();
  spec.graph->devices = {{"left", DeviceKind::Gpu, {}},
                         {"right", DeviceKind::Gpu, {}},
                         {"hub", DeviceKind::Nvswitch, {}}};
  spec.graph->links = {test::link("left", "hub", test::textbook_bandwidth, Duration(3)),
                       test::link("hub", "right", test::textbook_bandwidth, Duration(4))};
  return spec;
}

const std::vector<BadSpec> bad_nodes{
    {"no node", good_star, [](ClusterSpec& s) { s.nodes = 0; },
     "nodes: expected at least 1 node, got 0"},
    {"no GPU", good_star, [](ClusterSpec& s) { s.node.gpus = 0; },
     "node.gpus: expected at least 1 GPU in a node, got 0"},
    {"too many GPUs", good_star, [](ClusterSpec& s) { s.node.gpus = 4'194'305; },
     "node.gpus: expected a cluster of at most 4194304 devices, got 4194305"},
    {"too many devices of a group", good_star,
     [](ClusterSpec& s) { s.node.devices[0].count = 4'000'000'000; },
     "node.devices[0].count: expected a cluster of at most 4194304 devices, got 4000000008"},
    {"too many nodes", good_nodes, [](ClusterSpec& s) { s.nodes = 4'000'000'000; },
     "nodes: expected a cluster of at most 4194304 devices, got 24000000000"},
    {"too many links", good_star,
     [](ClusterSpec& s) {
       s.node.gpus = 5000;
       s.node.links[0] = test::mesh(2).node.links[0];
     },
     // 5000·4999 ordered pairs.
     "node.links[0]: expected a cluster of at most 16777216 links, got 24995000"},
    {"too many parallel links", good_star,
     [](ClusterSpec& s) { s.node.links[0].count = 4'000'000'000; },
     "node.links[0]: expected a cluster of at most 16777216 links, got 64000000000"},
    {"an empty group", good_star, [](ClusterSpec& s) { s.node.devices[0].count = 0; },
     "node.devices[0].count: expected a count of at least 1, got 0"},
    {"a group of GPUs", good_star, [](ClusterSpec& s) { s.node.devices[0].kind = DeviceKind::Gpu; },
     "node.devices[0].kind: expected another kind than gpu: node.gpus says how many GPUs there "
     "are"},
    {"a name with a dot", good_star, [](ClusterSpec& s) { s.node.devices[0].name = "a.b"; },
     "node.devices[0].name: expected a name of letters, digits, '_' and '-' that starts with a "
     "letter, got \"a.b\""},
    {"no name", good_star, [](ClusterSpec& s) { s.node.devices[0].name = ""; },
     "node.devices[0].name: expected a name of letters, digits, '_' and '-' that starts with a "
     "letter, got \"\""},
    {"a numbered family that ends in a digit", good_star,
     [](ClusterSpec& s) {
       s.node.devices[0] = {"sw1", DeviceKind::Nvswitch, 2};
     },
     "node.devices[0].name: expected a name without digits at its end, as the members are "
     "numbered, got \"sw1\""},
    {"a family twice", good_star,
     [](ClusterSpec& s) {
       s.node.devices.push_back({"gpu", DeviceKind::Cpu, std::nullopt});
     },
     "node.devices[1].name: expected a name that no other device has, got \"gpu\""},
    {"a name of another family's member", good_star,
     [](ClusterSpec& s) {
       s.node.devices.push_back({"cpu1", DeviceKind::Cpu, std::nullopt});
       s.node.devices.push_back({"cpu", DeviceKind::Cpu, 2});
     },
     "node.devices[1].name: expected a name that no other device has, got \"cpu1\""},
    {"no bandwidth", good_star, [](ClusterSpec& s) { s.node.links[0].bandwidth = Bandwidth(); },
     "node.links[0].bandwidth: expected a bandwidth above 0, got 0 B/s"},
    {"a negative bandwidth", good_star,
     [](ClusterSpec& s) { s.node.links[0].bandwidth = Bandwidth::bytes_per_second(-5); },
     "node.links[0].bandwidth: expected a bandwidth above 0, got -5 B/s"},
    {"a negative latency", good_star,
     [](ClusterSpec& s) { s.node.links[0].latency = Duration(-7); },
     "node.links[0].latency: expected a latency from 0 to 3600 s, got -7 ps"},
    {"a latency beyond reason", good_star,
     [](ClusterSpec& s) { s.node.links[0].latency = std::chrono::hours(1) + Duration(1); },
     "node.links[0].latency: expected a latency from 0 to 3600 s, got 3600.000000000001 s"},
    {"no parallel link", good_star, [](ClusterSpec& s) { s.node.links[0].count = 0; },
     "node.links[0].count: expected a count of at least 1, got 0"},
};

const std::vector<BadSpec> bad_link_ends{
    {"an unknown device", good_star, [](ClusterSpec& s) { s.node.links[0].to = "swich"; },
     "node.links[0].to: expected a device of the node (gpu or switch), got \"swich\"\nhint: did "
     "you mean \"switch\"?"},
    {"nothing like a device", good_star, [](ClusterSpec& s) { s.node.links[0].from = "abcdef"; },
     "node.links[0].from: expected a device of the node (gpu or switch), got \"abcdef\""},
    {"an unknown device among many", good_star,
     [](ClusterSpec& s) {
       for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}) {
         s.node.devices.push_back({name, DeviceKind::Cpu, std::nullopt});
       }
       s.node.links[0].to = "swich";
     },
     "node.links[0].to: expected a device of the node, got \"swich\"\nhint: did you mean "
     "\"switch\"?"},
    {"a number beyond the family", good_star, [](ClusterSpec& s) { s.node.links[0].from = "gpu8"; },
     "node.links[0].from: expected a device of the node, gpu0 to gpu7, got \"gpu8\"\nhint: did you "
     "mean \"gpu7\"?"},
    {"a leading zero", good_star, [](ClusterSpec& s) { s.node.links[0].from = "gpu01"; },
     "node.links[0].from: expected a device of the node (gpu or switch), got \"gpu01\""},
    {"a number for a single device", good_star,
     [](ClusterSpec& s) { s.node.links[0].to = "switch0"; },
     "node.links[0].to: expected a device of the node (gpu or switch), got \"switch0\"\nhint: did "
     "you mean \"switch\"?"},
    {"all with itself", good_pairs,
     [](ClusterSpec& s) {
       s.node.links[1].connect = Connect::All;
       s.node.links[1].to = "gpu3";
     },
     "node.links[1].to: expected other devices than those of `from`, \"gpu\", got \"gpu3\"\nhint: "
     "`connect: mesh` joins every pair of one family"},
    {"one_to_one of different sizes", good_pairs,
     [](ClusterSpec& s) { s.node.links[1].connect = Connect::OneToOne; },
     "node.links[1].to: expected as many devices in `to` as in `from`, got 4 of \"gpu\" and 2 of "
     "\"sw\""},
    {"groups that do not divide", good_pairs, [](ClusterSpec& s) { s.node.gpus = 5; },
     "node.links[1].to: expected a whole number of `from` devices for each in `to`, got 5 of "
     "\"gpu\" and 2 of \"sw\""},
    {"a mesh of two families", good_pairs,
     [](ClusterSpec& s) { s.node.links[1].connect = Connect::Mesh; },
     "node.links[1].to: expected the family of `from`, \"gpu\", for a mesh, got \"sw\""},
    {"a GPU without links", good_star, [](ClusterSpec& s) { s.node.links[0].from = "gpu0"; },
     "node.links: expected a path between any two GPUs, got none from \"gpu0\" to \"gpu1\"\nhint: "
     "GPUs forward nothing"},
    {"a GPU that only sends", good_star,
     [](ClusterSpec& s) {
       LinkSpec link = s.node.links[0];
       s.node.links[0].duplex = Duplex::OneWay;
       for (const char* from : {"gpu0", "gpu1", "gpu2", "gpu3", "gpu4", "gpu6", "gpu7"}) {
         link.from = "switch";
         link.to = from;
         link.duplex = Duplex::OneWay;
         s.node.links.push_back(link);
       }
     },
     "node.links: expected a path between any two GPUs, got none from \"gpu0\" to \"gpu5\"\nhint: "
     "GPUs forward nothing"},
};

ClusterSpec good_dragonfly() { return test::dragonfly(8, 1, 4, 2, 1); }

/// What is to blame where there are too many links in all.
const std::vector<BadSpec> too_many_links{
    // 8 NICs, 4 a switch, are one group: 10,000 · 9,999 links inside it, 16 to NICs, 32 in nodes.
    {"switches of a group", good_dragonfly,
     [](ClusterSpec& s) { s.fabric.dragonfly.switches = 10'000; },
     "fabric.group.switches: expected a cluster of at most 16777216 links, got 99990048"},
    // 100 · 99 · 4,096 links.
    {"links between the switches of a group", good_dragonfly,
     [](ClusterSpec& s) {
       s.fabric.dragonfly.switches = 100;
       s.fabric.dragonfly.local_links = 4096;
     },
     "fabric.group.switches: expected a cluster of at most 16777216 links, got 40550448"},
    // 2 · 4,194,304 a pair of switches, and 48.
    {"parallel links of two switches", good_dragonfly,
     [](ClusterSpec& s) { s.fabric.dragonfly.local_links = 10'000'000; },
     "fabric.local.count: expected a cluster of at most 16777216 links, got 20000048"},
    // 32 NICs on one leaf with 10 million ports up; nodes of 58 links.
    {"ports up of leaves", good_leaf_spine,
     [](ClusterSpec& s) {
       s.fabric.tiers[0].ports.reset();
       s.fabric.tiers[0].down = 32;
       s.fabric.tiers[0].up = 10'000'000;
       s.fabric.tiers[1].ports.reset();
       s.fabric.tiers[1].count = 1;
     },
     "fabric.leaf: expected a cluster of at most 16777216 links, got 20000296"},
    // 125,000 groups: as many times 124,999 links between them and 2 inside; 6 a node.
    {"nodes", good_dragonfly, [](ClusterSpec& s) { s.nodes = 1'000'000; },
     "nodes: expected a cluster of at most 16777216 links, got 15631125000"},
};

const std::vector<BadSpec> bad_fabrics{
    {"nodes without a fabric", good_nodes, [](ClusterSpec& s) { s.fabric.kind = FabricKind::None; },
     "nodes: expected a fabric that joins the 2 nodes, got none\nhint: add one, such as fabric: { "
     "kind: single-switch, ... }, or set nodes to 1"},
    {"nodes without a NIC", good_nodes,
     [](ClusterSpec& s) { s.node.devices[1].kind = DeviceKind::Cpu; },
     "node.devices: expected a NIC in the node, as a fabric joins the nodes, got none\nhint: add a "
     "group of devices of kind nic"},
    {"GPUs that do not reach their NIC", good_nodes,
     [](ClusterSpec& s) { s.node.links.pop_back(); },
     "fabric: expected a path between any two GPUs, got none from \"node0.gpu0\" to "
     "\"node1.gpu0\"\nhint: GPUs forward nothing"},
    {"too few ports on the switch", good_nodes, [](ClusterSpec& s) { s.fabric.tiers[0].ports = 1; },
     "fabric.switch.ports: expected at least 2 ports, one for each NIC, got 1"},
    {"no bandwidth", good_nodes,
     [](ClusterSpec& s) { s.fabric.tiers[0].link.bandwidth = Bandwidth(); },
     "fabric.link.bandwidth: expected a bandwidth above 0, got 0 B/s"},
    {"a negative latency", good_nodes,
     [](ClusterSpec& s) { s.fabric.tiers[0].link.latency = Duration(-1); },
     "fabric.link.latency: expected a latency from 0 to 3600 s, got -1 ps"},
    {"a negative forwarding latency", good_nodes,
     [](ClusterSpec& s) { s.fabric.tiers[0].latency = Duration(-1); },
     "fabric.switch.latency: expected a latency from 0 to 3600 s, got -1 ps"},
    {"a leaf's", good_leaf_spine, [](ClusterSpec& s) { s.fabric.tiers[0].latency = Duration(-1); },
     "fabric.leaf.latency: expected a latency from 0 to 3600 s, got -1 ps"},
    {"a spine's", good_leaf_spine, [](ClusterSpec& s) { s.fabric.tiers[1].latency = Duration(-1); },
     "fabric.spine.latency: expected a latency from 0 to 3600 s, got -1 ps"},
    {"an uplink's bandwidth", good_leaf_spine,
     [](ClusterSpec& s) { s.fabric.tiers[1].link = FabricLinkSpec{}; },
     "fabric.uplink.bandwidth: expected a bandwidth above 0, got 0 B/s"},
    {"no ports given", good_leaf_spine, [](ClusterSpec& s) { s.fabric.tiers[0].ports.reset(); },
     "fabric.leaf.ports: expected the number of ports of a leaf, got none"},
    {"no ports", good_leaf_spine, [](ClusterSpec& s) { s.fabric.tiers[0].ports = 0; },
     "fabric.leaf.ports: expected a multiple of 2 ports (an oversubscription of 1 takes 1 down for "
     "each one up), got 0"},
    {"ports that do not divide", good_leaf_spine,
     [](ClusterSpec& s) { s.fabric.tiers[1].oversubscription = 2; },
     "fabric.leaf.ports: expected a multiple of 3 ports (an oversubscription of 2 takes 2 down for "
     "each one up), got 32\nhint: 30 ports are 20 down and 10 up"},
    {"no share up", good_leaf_spine,
     [](ClusterSpec& s) { s.fabric.tiers[1].oversubscription = 40; },
     "fabric.leaf.ports: expected a multiple of 41 ports (an oversubscription of 40 takes 40 down "
     "for each one up), got 32"},
    {"a leaf too small for a node", good_leaf_spine,
     [](ClusterSpec& s) { s.fabric.tiers[0].ports = 14; },
     "fabric.leaf.ports: expected enough ports for a whole node, 8 down, got 7 down and 7 up"},
    {"no oversubscription", good_leaf_spine,
     [](ClusterSpec& s) { s.fabric.tiers[1].oversubscription = 0; },
     "fabric.spine.oversubscription: expected a count of at least 1, got 0"},
    {"spines too small", good_leaf_spine, [](ClusterSpec& s) { s.fabric.tiers[1].ports = 1; },
     "fabric.spine.ports: expected at least 2 ports, one for each leaf, got 1"},
};

const std::vector<BadSpec> bad_graphs{
    {"a fabric beside it", good_graph,
     [](ClusterSpec& s) { s.fabric.kind = FabricKind::SingleSwitch; },
     "fabric.kind: expected no fabric beside an explicit graph, got one"},
    {"no GPU", good_graph,
     [](ClusterSpec& s) {
       s.graph->devices.erase(s.graph->devices.begin(), s.graph->devices.begin() + 2);
     },
     "graph.devices: expected at least one device of kind gpu, got none"},
    {"no name", good_graph, [](ClusterSpec& s) { s.graph->devices[2].name = ""; },
     "graph.devices[2].name: expected a name, got an empty one"},
    {"a name twice", good_graph, [](ClusterSpec& s) { s.graph->devices[1].name = "left"; },
     "graph.devices[1].name: expected a name that no other device has, got \"left\""},
    {"a dangling end", good_graph, [](ClusterSpec& s) { s.graph->links[0].from = "lift"; },
     "graph.links[0].from: expected the name of a device of the graph, got \"lift\"\nhint: did you "
     "mean \"left\"?"},
    {"one end", good_graph, [](ClusterSpec& s) { s.graph->links[1].to = "hub"; },
     "graph.links[1].to: expected another device than `from`, got \"hub\""},
    {"no bandwidth", good_graph, [](ClusterSpec& s) { s.graph->links[1].bandwidth = Bandwidth(); },
     "graph.links[1].bandwidth: expected a bandwidth above 0, got 0 B/s"},
    {"no parallel link", good_graph, [](ClusterSpec& s) { s.graph->links[1].count = 0; },
     "graph.links[1].count: expected a count of at least 1, got 0"},
    {"too many parallel links", good_graph,
     [](ClusterSpec& s) { s.graph->links[1].count = 16'777'216; },
     "graph.links[1].count: expected a cluster of at most 16777216 links, got 33554434"},
    {"parallel links wider than can be added", good_graph,
     [](ClusterSpec& s) {
       s.graph->links[1].count = 4096;
       s.graph->links[1].bandwidth = Bandwidth::bytes_per_second(1'000'000'000'000'000);
     },
     "graph.links[1].bandwidth: the links of right together exceed 9 PB/s with these 4096 of 1000 "
     "TB/s"},
    {"a node number beyond the devices", good_graph,
     [](ClusterSpec& s) { s.graph->devices[1].node = 4'000'000'000; },
     "graph.devices[1].node: expected nodes numbered 0, 1, 2, … without gaps, got 4000000000 among "
     "3 devices"},
    {"a node number after a gap", good_graph, [](ClusterSpec& s) { s.graph->devices[1].node = 2; },
     "graph.devices[1].node: expected nodes numbered 0, 1, 2, … without gaps, got 2 and no device "
     "of node 1"},
    {"an unreachable GPU", good_graph,
     [](ClusterSpec& s) { s.graph->links[1].duplex = Duplex::OneWay; },
     "graph.links: expected a path between any two GPUs, got none from \"right\" to "
     "\"left\"\nhint: GPUs forward nothing"},
};

void require_errors(const std::vector<BadSpec>& bad) {
  for (const BadSpec& entry : bad) {
    CAPTURE(entry.what);
    ClusterSpec spec = entry.good();
    REQUIRE(test::error_of(spec) == "none");
    entry.spoil(spec);
    CHECK(test::error_of(spec) == entry.error);
  }
}

}  // namespace

TEST_CASE("what is wrong in a node template is said with its place") { require_errors(bad_nodes); }
TEST_CASE("what is wrong with a link's ends is said with its place") {
  require_errors(bad_link_ends);
}
TEST_CASE("what is wrong in a fabric is said with its place") { require_errors(bad_fabrics); }
TEST_CASE("too many links are blamed on what most of them come from") {
  require_errors(too_many_links);
}
TEST_CASE("what is wrong in an explicit graph is said with its place") {
  require_errors(bad_graphs);
}
