// What each key of a description means, and the text of every complaint about one.

#include "topology/io/read_spec.hpp"

#include <string>

#include "tests/catch.hpp"
#include "tests/topology_io/description.hpp"

namespace collsim {

using namespace collsim::literals;
using test::message;
using test::replaced;
using test::two_gpus;

namespace {

ClusterSpec spec_of(const std::string& text, const std::vector<std::string>& set = {}) {
  return parse_cluster(text, "x.yaml", test::settings(set), test::shipped()).spec;
}

/// "VALUE (ORIGIN)" of a path in the list of values in force.
std::string value_of(const ClusterSpec& spec, const std::string& path) {
  for (const Provenance& value : spec.values) {
    if (value.path == path) {
      return value.value + " (" + value.origin + ")";
    }
  }
  return "none";
}

/// Two nodes of one GPU and one NIC, joined by the given fabric.
std::string with_fabric(const std::string& fabric) {
  return "name: fabric\n"
         "nodes: 2\n"
         "node: {gpus: 1, devices: [{name: nic, kind: nic, count: 1}], links: [{from: gpu, to: "
         "nic, bandwidth: 1 GB/s, latency: 0 ns}]}\n"
         "fabric:\n" +
         fabric;
}

const std::string single_switch =
    "  kind: single-switch\n"
    "  link: {bandwidth: 1 GB/s, latency: 1 us}\n";

const std::string leaf_spine =
    "  kind: leaf-spine\n"
    "  leaf: {ports: 4, latency: 230 ns}\n"
    "  link: {kind: infiniband, bandwidth: 400 Gb/s, latency: 30 ns}\n";

const std::string explicit_graph =
    "name: explicit\n"
    "graph:\n"
    "  devices:\n"
    "    - {name: a, kind: gpu}\n"
    "    - {name: b, kind: gpu, node: 1}\n"
    "  links:\n"
    "    - {from: a, to: b, kind: nvlink, count: 2, bandwidth: 1 GB/s, latency: 1 us}\n";

}  // namespace

TEST_CASE("every key of a node is read", "[spec]") {
  const ClusterSpec spec = spec_of(
      "name: n\n"
      "description: all keys\n"
      "nodes: 3\n"
      "node:\n"
      "  name: template\n"
      "  description: >\n"
      "    folded\n"
      "  gpus: 4\n"
      "  devices:\n"
      "    - {name: pcie, kind: pcie-switch, count: 2}\n"
      "    - {name: cpu, kind: cpu}\n"
      "  links:\n"
      "    - {from: gpu, to: pcie, connect: grouped, duplex: one-way, count: 2, bonded: 3,\n"
      "       kind: pcie, bandwidth: 63 GB/s, latency: 110 ns}\n");
  CHECK(spec.name == "n");
  CHECK(spec.description == "all keys");
  CHECK(spec.nodes == 3);
  CHECK(spec.node.name == "template");
  CHECK(spec.node.gpus == 4);
  REQUIRE(spec.node.devices.size() == 2);
  CHECK(spec.node.devices[0].name == "pcie");
  CHECK(spec.node.devices[0].kind == DeviceKind::PcieSwitch);
  CHECK(spec.node.devices[0].count == 2U);
  CHECK(spec.node.devices[1].count == std::nullopt);
  REQUIRE(spec.node.links.size() == 1);
  const LinkSpec& link = spec.node.links[0];
  CHECK(link.from == "gpu");
  CHECK(link.to == "pcie");
  CHECK(link.connect == Connect::Grouped);
  CHECK(link.duplex == Duplex::OneWay);
  CHECK(link.count == 2);
  CHECK(link.bonded == 3);
  CHECK(link.kind == LinkKind::Pcie);
  CHECK(link.bandwidth == 63_GBps);
  CHECK(link.latency == 110'000_ps);
  CHECK(spec.fabric.kind == FabricKind::None);
}

TEST_CASE("every key of a fabric is read", "[spec]") {
  const FabricSpec one =
      spec_of(with_fabric(single_switch + "  routing: spray\n"
                                          "  switch: {latency: 5 ns, ports: 36}\n"))
          .fabric;
  CHECK(one.kind == FabricKind::SingleSwitch);
  CHECK(one.routing == RoutingKind::Spray);
  CHECK(one.tiers.at(0).latency == 5'000_ps);
  CHECK(one.tiers.at(0).ports == 36U);
  CHECK(one.tiers.at(0).link.bandwidth == 1_GBps);
  CHECK(one.tiers.at(0).link.latency == 1'000'000_ps);
  CHECK(one.tiers.at(0).link.kind == LinkKind::Generic);

  const FabricSpec two =
      spec_of(with_fabric(leaf_spine + "  routing: static\n"
                                       "  spine: {oversubscription: 3, ports: 8, latency: 7 ns}\n"
                                       "  uplink: {bandwidth: 800 Gb/s}\n"))
          .fabric;
  CHECK(two.kind == FabricKind::LeafSpine);
  CHECK(two.routing == RoutingKind::Fixed);
  CHECK(two.tiers.at(0).ports == 4U);
  CHECK(two.tiers.at(0).latency == 230'000_ps);
  CHECK(two.tiers.at(1).latency == 7'000_ps);
  CHECK(two.tiers.at(1).ports == 8U);
  CHECK(two.tiers.at(1).oversubscription == 3);
  CHECK(two.tiers.at(0).link.kind == LinkKind::Infiniband);
  CHECK(two.tiers.at(1).link.kind == LinkKind::Infiniband);
  CHECK(two.tiers.at(1).link.bandwidth == 100_GBps);
  CHECK(two.tiers.at(1).link.latency == 30'000_ps);
}

TEST_CASE("every key of an explicit graph is read", "[spec]") {
  const ClusterSpec spec = spec_of(explicit_graph);
  REQUIRE(spec.graph.has_value());
  REQUIRE(spec.graph->devices.size() == 2);
  CHECK(spec.graph->devices[0].name == "a");
  CHECK(spec.graph->devices[0].node == 0U);
  CHECK(spec.graph->devices[1].node == 1U);
  REQUIRE(spec.graph->links.size() == 1);
  CHECK(spec.graph->links[0].count == 2);
  CHECK(spec.graph->links[0].kind == LinkKind::Nvlink);
  CHECK(spec.nodes == 2);
  CHECK(message(explicit_graph) == "accepted");
}

TEST_CASE("every value in force is listed with its origin", "[spec]") {
  const ClusterSpec spec = spec_of(with_fabric(leaf_spine), {"fabric.spine.oversubscription=1"});
  CHECK(value_of(spec, "name") == "fabric (x.yaml:1)");
  CHECK(value_of(spec, "nodes") == "2 (x.yaml:2)");
  CHECK(value_of(spec, "node.gpus") == "1 (x.yaml:3)");
  CHECK(value_of(spec, "node.devices[0].kind") == "nic (x.yaml:3)");
  CHECK(value_of(spec, "node.links[0].connect") == "all (default)");
  CHECK(value_of(spec, "node.links[0].duplex") == "both (default)");
  CHECK(value_of(spec, "node.links[0].count") == "1 (default)");
  CHECK(value_of(spec, "node.links[0].kind") == "generic (default)");
  CHECK(value_of(spec, "node.links[0].bandwidth") == "1 GB/s (x.yaml:3)");
  CHECK(value_of(spec, "node.links[0].latency") == "0 ns (x.yaml:3)");
  CHECK(value_of(spec, "fabric.kind") == "leaf-spine (x.yaml:5)");
  CHECK(value_of(spec, "fabric.routing") == "static (default)");
  CHECK(value_of(spec, "fabric.leaf.ports") == "4 (x.yaml:6)");
  CHECK(value_of(spec, "fabric.spine.oversubscription") == "1 (--set)");
  CHECK(value_of(spec, "fabric.spine.latency") == "230 ns (default (as fabric.leaf.latency))");
  CHECK(value_of(spec, "fabric.link.bandwidth") == "50 GB/s (x.yaml:7)");
  CHECK(value_of(spec, "fabric.uplink.kind") == "infiniband (default (as fabric.link))");
  CHECK(value_of(spec, "fabric.uplink.bandwidth") == "50 GB/s (default (as fabric.link))");
  CHECK(value_of(spec, "fabric.uplink.latency") == "30 ns (default (as fabric.link))");

  const ClusterSpec alone = spec_of(two_gpus());
  CHECK(value_of(alone, "nodes") == "1 (default)");
  CHECK(value_of(alone, "fabric.kind") == "none (default)");
  CHECK(value_of(alone, "fabric.routing") == "none");  // nothing to choose
}

TEST_CASE("an unknown key is named with the nearest known one", "[spec]") {
  CHECK(message(replaced(two_gpus(), "bandwidth:", "bandwith:")) ==
        "x.yaml:8:7: error: node.links[0].bandwith: unknown key, did you mean \"bandwidth\"?\n"
        "        bandwith: 50 GB/s\n"
        "        ^\n"
        "hint: accepted: from, to, connect, duplex, count, bonded, kind, bandwidth or latency");
  CHECK(message(two_gpus() + "colour: red\n") ==
        "x.yaml:10:1: error: colour: unknown key\n"
        "  colour: red\n"
        "  ^\n"
        "hint: accepted: name, description, gpus, nodes, node, fabric, graph, environment or "
        "parameters");
  CHECK(message("\"a\\nb\": 1\n") ==
        "x.yaml:1:1: error: \"a?b\": unknown key\n"
        "  \"a\\nb\": 1\n"
        "  ^\n"
        "hint: accepted: name, description, gpus, nodes, node, fabric, graph, environment or "
        "parameters");
}

TEST_CASE("a missing key is named", "[spec]") {
  CHECK(message(replaced(two_gpus(), "name: two\n", "")) ==
        "x.yaml:1:1: error: missing key \"name\"\n"
        "  node:\n"
        "  ^");
  CHECK(message(replaced(two_gpus(), "      bandwidth: 50 GB/s\n", "")) ==
        "x.yaml:5:7: error: node.links[0]: missing key \"bandwidth\"\n"
        "      - from: gpu\n"
        "        ^");
  CHECK(message("name: a\n") ==
        "x.yaml:1:1: error: missing key \"node\"\n"
        "  name: a\n"
        "  ^\n"
        "hint: or give an explicit \"graph\"");
  CHECK(message("name: a\nnode: {}\n") ==
        "x.yaml:2:7: error: node: missing key \"gpus\"\n"
        "  node: {}\n"
        "        ^");
  CHECK(message(with_fabric("  kind: single-switch\n")) ==
        "x.yaml:5:3: error: fabric: missing key \"link\"\n"
        "    kind: single-switch\n"
        "    ^");
  CHECK(message(with_fabric("  routing: static\n")) ==
        "x.yaml:5:3: error: fabric: missing key \"kind\"\n"
        "    routing: static\n"
        "    ^");
  // Without `leaf`, its keys are missed in `fabric`.
  CHECK(message(with_fabric("  kind: leaf-spine\n")) ==
        "x.yaml:5:3: error: fabric.leaf: missing key \"ports\"\n"
        "    kind: leaf-spine\n"
        "    ^");
}

TEST_CASE("a quantity needs a unit that exists", "[spec]") {
  CHECK(message(replaced(two_gpus(), "50 GB/s", "50")) ==
        "x.yaml:8:18: error: node.links[0].bandwidth: expected a bandwidth such as \"450 GB/s\", "
        "got \"50\"\n"
        "        bandwidth: 50\n"
        "                   ^\n"
        "hint: a number needs a unit; units: B/s, kB/s, MB/s, GB/s, TB/s, PB/s (bytes), KiB/s, "
        "MiB/s, "
        "GiB/s, TiB/s (powers of 1024), b/s, kb/s, Mb/s, Gb/s, Tb/s (bits)");
  CHECK(message(replaced(two_gpus(), "1 us", "1 usec")) ==
        "x.yaml:9:16: error: node.links[0].latency: expected a duration such as \"1.2 us\", got "
        "\"1 usec\"\n"
        "        latency: 1 usec\n"
        "                 ^\n"
        "hint: unknown unit \"usec\"; units: ps, ns, us, ms, s");
  CHECK(message(replaced(two_gpus(), "1 us", "2 h")) ==
        "x.yaml:9:16: error: node.links[0].latency: expected a duration such as \"1.2 us\", got "
        "\"2 h\"\n"
        "        latency: 2 h\n"
        "                 ^\n"
        "hint: unknown unit \"h\"; units: ps, ns, us, ms, s");
}

TEST_CASE("a value has its kind", "[spec]") {
  CHECK(message(replaced(two_gpus(), "50 GB/s", "[50 GB/s]")) ==
        "x.yaml:8:18: error: node.links[0].bandwidth: expected a bandwidth such as \"450 GB/s\", "
        "got a list\n"
        "        bandwidth: [50 GB/s]\n"
        "                   ^");
  CHECK(
      message("- name: a\n") ==
      "x.yaml:1:1: error: expected a mapping, got a list\n"
      "  - name: a\n"
      "  ^\n"
      "hint: keys: name, description, gpus, nodes, node, fabric, graph, environment or parameters");
  CHECK(
      message("hello\n") ==
      "x.yaml:1:1: error: expected a mapping, got \"hello\"\n"
      "  hello\n"
      "  ^\n"
      "hint: keys: name, description, gpus, nodes, node, fabric, graph, environment or parameters");
  CHECK(message("name: a\nnode: {gpus: 2, links: 3}\n") ==
        "x.yaml:2:24: error: node.links: expected a list, got \"3\"\n"
        "  node: {gpus: 2, links: 3}\n"
        "                         ^");
  CHECK(message("name: a\nnode: {gpus: 2, links: [gpu]}\n") ==
        "x.yaml:2:25: error: node.links[0]: expected a mapping, got \"gpu\"\n"
        "  node: {gpus: 2, links: [gpu]}\n"
        "                          ^\n"
        "hint: keys: from, to, connect, duplex, count, bonded, kind, bandwidth or latency");
  CHECK(message("name: {a: b}\n") ==
        "x.yaml:1:7: error: name: expected text, got a mapping\n"
        "  name: {a: b}\n"
        "        ^");
  CHECK(
      message("name: a\nfabric: single-switch\nnode: {gpus: 1}\n") ==
      "x.yaml:2:9: error: fabric: expected a mapping, got \"single-switch\"\n"
      "  fabric: single-switch\n"
      "          ^\n"
      "hint: keys: kind, routing, seed, nic_choice, nic_ports, planes, rails, switch, leaf, spine, "
      "core, tiers, group, local, global, dimensions, link, uplink, parameters or reduction");
}

TEST_CASE("a fat tree has tiers", "[spec]") {
  const std::string cable = "  link: {bandwidth: 1 GB/s, latency: 1 us}\n";
  CHECK(message(with_fabric("  kind: fat-tree\n  tiers: []\n" + cable)) ==
        "x.yaml:6:10: error: fabric.tiers: expected at least one tier, got none\n"
        "    tiers: []\n"
        "           ^");
  CHECK(message(with_fabric("  kind: fat-tree\n" + cable)) ==
        "x.yaml:5:3: error: fabric: missing key \"tiers\"\n"
        "    kind: fat-tree\n"
        "    ^\n"
        "hint: a list of tiers of switches, from the NICs up");
}

TEST_CASE("a key without a value is pointed at", "[spec]") {
  CHECK(message("name:\nnode: {gpus: 1}\n") ==
        "x.yaml:1:1: error: name: expected text, got nothing\n"
        "  name:\n"
        "  ^");
  CHECK(message(replaced(two_gpus(), "bandwidth: 50 GB/s", "bandwidth:")) ==
        "x.yaml:8:7: error: node.links[0].bandwidth: expected a bandwidth such as \"450 GB/s\", "
        "got nothing\n"
        "        bandwidth:\n"
        "        ^");
  CHECK(message("name: a\nnode: {gpus: ~}\n") ==
        "x.yaml:2:8: error: node.gpus: expected a whole number from 1 to 1048576, got nothing\n"
        "  node: {gpus: ~}\n"
        "         ^");
  CHECK(message("name: a\nnode: {gpus: 1, links: }\n") ==
        "x.yaml:2:17: error: node.links: expected a list, got nothing\n"
        "  node: {gpus: 1, links: }\n"
        "                  ^");
  CHECK(message("name: a\nnode:\n  gpus: 1\n  links:\n    -\n    -\n") ==
        "x.yaml:5:5: error: node.links[0]: expected a mapping, got nothing\n"
        "      -\n"
        "      ^\n"
        "hint: keys: from, to, connect, duplex, count, bonded, kind, bandwidth or latency");
}

TEST_CASE("whole numbers are decimal and in range", "[spec]") {
  const auto gpus = [](const std::string& value) {
    return message(replaced(two_gpus(), "gpus: 2", "gpus: " + value));
  };
  const auto refused = [](const std::string& value, const std::string& found) {
    return "x.yaml:3:9: error: node.gpus: expected a whole number from 1 to 1048576, got " + found +
           "\n    gpus: " + value + "\n          ^";
  };
  CHECK(gpus("0") == refused("0", "\"0\""));
  CHECK(gpus("-1") == refused("-1", "\"-1\""));
  CHECK(gpus("1048577") == refused("1048577", "\"1048577\""));
  CHECK(gpus("4294967298") == refused("4294967298", "\"4294967298\""));  // 2 modulo 2^32
  CHECK(gpus("99999999999999999999") ==
        refused("99999999999999999999", "\"99999999999999999999\""));
  CHECK(gpus("2.0") == refused("2.0", "\"2.0\""));
  CHECK(gpus("1e3") == refused("1e3", "\"1e3\""));
  CHECK(gpus("010") == refused("010", "\"010\""));  // 8 in YAML 1.1
  CHECK(gpus("0x8") == refused("0x8", "\"0x8\""));
  CHECK(gpus("\"2\"") == refused("\"2\"", "the text \"2\""));
  CHECK(gpus("on") == refused("on", "\"on\""));
}

TEST_CASE("words that other YAML readers take for truth values are text", "[spec]") {
  CHECK(spec_of(replaced(two_gpus(), "name: two", "name: on")).name == "on");
  CHECK(spec_of(replaced(two_gpus(), "name: two", "name: no")).name == "no");
}

TEST_CASE("text is one line and not empty", "[spec]") {
  CHECK(message("name: \"\"\nnode: {gpus: 1}\n") ==
        "x.yaml:1:7: error: name: expected a line of text, got \"\"\n"
        "  name: \"\"\n"
        "        ^");
  CHECK(message("name: \"a\\nb\"\nnode: {gpus: 1}\n") ==
        "x.yaml:1:7: error: name: expected a line of text, got \"a?b\"\n"
        "  name: \"a\\nb\"\n"
        "        ^");
  // An escape sequence that would reach the terminal.
  CHECK(message("name: \"\\x9b1m\"\nnode: {gpus: 1}\n") ==
        "x.yaml:1:7: error: name: expected a line of text, got \"?1m\"\n"
        "  name: \"\\x9b1m\"\n"
        "        ^");
  CHECK(message("name: a\ndescription: \"\"\nnode: {gpus: 1}\n") == "accepted");
}

TEST_CASE("a word of a fixed set is named with the nearest one", "[spec]") {
  CHECK(message(replaced(two_gpus(), "connect: mesh", "connect: mash")) ==
        "x.yaml:7:16: error: node.links[0].connect: expected all, one-to-one, grouped or mesh, got "
        "\"mash\"\n"
        "        connect: mash\n"
        "                 ^\n"
        "hint: did you mean \"mesh\"?");
  CHECK(message(with_fabric("  kind: torrus\n")) ==
        "x.yaml:5:9: error: fabric.kind: expected none, single-switch, leaf-spine, fat-tree, "
        "rail-optimized, dragonfly or torus, got \"torrus\"\n"
        "    kind: torrus\n"
        "          ^\n"
        "hint: did you mean \"torus\"?");
  CHECK(message(with_fabric(single_switch + "  routing: [static]\n")) ==
        "x.yaml:7:12: error: fabric.routing: expected static, spray or ecmp, got a list\n"
        "    routing: [static]\n"
        "             ^");
}

TEST_CASE("NICs of a fabric whose switches reduce are CollNet's", "[spec]") {
  const std::string fabric = "fabric:\n  kind: single-switch\n  reduction: sharp\n";
  const std::string cable = "  link: {kind: infiniband, bandwidth: 1 GB/s, latency: 1 us}\n";
  const std::string node =
      "node:\n  gpus: 1\n  devices: [{name: nic, kind: nic}]\n"
      "  links: [{from: gpu, to: nic, bandwidth: 1 GB/s, latency: 1 us}]\n";
  const ClusterSpec spec = spec_of("name: a\nnodes: 2\n" + fabric + cable + node);
  REQUIRE(spec.node.devices.size() == 1);
  CHECK(spec.node.devices[0].nic.collnet);
  const auto said = std::ranges::find(spec.values, "fabric.reduction", &Provenance::path);
  REQUIRE(said != spec.values.end());
  CHECK(said->value == "sharp");
  CHECK(message(with_fabric(single_switch + "  reduction: sharp\n")) ==
        "x.yaml:7:3: error: fabric.reduction: needs cables of kind infiniband, whose switches have "
        "SHARP\n"
        "    reduction: sharp\n"
        "    ^");
  CHECK(message("name: a\nnodes: 2\n" + fabric + cable + "  routing: spray\n" + node) ==
        "x.yaml:5:3: error: fabric.reduction: needs static routing, by which all that goes to one "
        "NIC makes a tree\n"
        "    reduction: sharp\n"
        "    ^");
}

TEST_CASE("keys that do not fit the kind of fabric are refused", "[spec]") {
  CHECK(message(with_fabric(single_switch + "  leaf: {ports: 4}\n")) ==
        "x.yaml:7:3: error: fabric.leaf: does not apply to a fabric of kind \"single-switch\"\n"
        "    leaf: {ports: 4}\n"
        "    ^\n"
        "hint: it takes routing, seed, nic_choice, parameters, switch, link or reduction");
  CHECK(message(with_fabric(leaf_spine + "  switch: {latency: 1 ns}\n")) ==
        "x.yaml:8:3: error: fabric.switch: does not apply to a fabric of kind \"leaf-spine\"\n"
        "    switch: {latency: 1 ns}\n"
        "    ^\n"
        "hint: it takes routing, seed, nic_choice, parameters, nic_ports, planes, leaf, spine, "
        "link, uplink or reduction");
  CHECK(message(replaced(two_gpus(), "node:", "fabric: {kind: none, routing: spray}\nnode:")) ==
        "x.yaml:2:22: error: fabric.routing: does not apply to a fabric of kind \"none\"\n"
        "  fabric: {kind: none, routing: spray}\n"
        "                       ^");
  CHECK(message(with_fabric("  kind: single-switch\n"
                            "  switch: {port: 4}\n"
                            "  link: {bandwidth: 1 GB/s, latency: 1 us}\n")) ==
        "x.yaml:6:12: error: fabric.switch.port: unknown key, did you mean \"ports\"?\n"
        "    switch: {port: 4}\n"
        "             ^\n"
        "hint: accepted: ports or latency");
}

TEST_CASE("an explicit graph stands alone", "[spec]") {
  CHECK(message(explicit_graph + "nodes: 2\n") ==
        "x.yaml:8:1: error: nodes: does not apply beside an explicit \"graph\"\n"
        "  nodes: 2\n"
        "  ^\n"
        "hint: a graph lists its devices and links one by one");
  CHECK(message(explicit_graph + "gpus: 2\n").starts_with("x.yaml:8:1: error: gpus: does not"));
  CHECK(message(replaced(explicit_graph, "kind: nvlink", "connect: all")) ==
        "x.yaml:7:24: error: graph.links[0].connect: unknown key\n"
        "      - {from: a, to: b, connect: all, count: 2, bandwidth: 1 GB/s, latency: 1 us}\n"
        "                         ^\n"
        "hint: accepted: from, to, duplex, count, bonded, kind, bandwidth or latency");
}

TEST_CASE("what the model refuses is shown in the file", "[spec]") {
  CHECK(message(replaced(two_gpus(), "50 GB/s", "0 GB/s")) ==
        "x.yaml:8:18: error: node.links[0].bandwidth: expected a bandwidth above 0, got 0 B/s\n"
        "        bandwidth: 0 GB/s\n"
        "                   ^");
  CHECK(message(replaced(two_gpus(), "50 GB/s", "-50 GB/s")) ==
        "x.yaml:8:18: error: node.links[0].bandwidth: expected a bandwidth such as \"450 GB/s\", "
        "got \"-50 GB/s\"\n"
        "        bandwidth: -50 GB/s\n"
        "                   ^\n"
        "hint: a bandwidth cannot be negative");
  CHECK(message(replaced(two_gpus(), "from: gpu", "from: gpo")) ==
        "x.yaml:5:13: error: node.links[0].from: expected a device of the node (gpu), got \"gpo\"\n"
        "      - from: gpo\n"
        "              ^\n"
        "hint: did you mean \"gpu\"?");
  CHECK(message("name: a\nnode: {gpus: 2}\n") ==
        "x.yaml:2:7: error: node.links: expected a path between any two GPUs, got none from "
        "\"gpu0\" to \"gpu1\"\n"
        "  node: {gpus: 2}\n"
        "        ^\n"
        "hint: GPUs forward nothing");
}

TEST_CASE("a switch without enough ports is refused", "[spec]") {
  CHECK(message(with_fabric(replaced(leaf_spine, "ports: 4", "ports: 5"))) ==
        "x.yaml:6:17: error: fabric.leaf.ports: expected a multiple of 2 ports (an "
        "oversubscription of 1 takes 1 down for each one up), got 5\n"
        "    leaf: {ports: 5, latency: 230 ns}\n"
        "                  ^\n"
        "hint: 4 ports are 2 down and 2 up");
  CHECK(message(replaced(with_fabric(single_switch + "  switch: {ports: 2}\n"), "nodes: 2",
                         "nodes: 3")) ==
        "x.yaml:7:19: error: fabric.switch.ports: expected at least 3 ports, one for each NIC, got "
        "2\n"
        "    switch: {ports: 2}\n"
        "                    ^");
}

TEST_CASE("what is too large for the model is refused before it is built", "[spec]") {
  // 2^20 · (2^20 - 1) / 2 pairs.
  CHECK(message(replaced(two_gpus(), "gpus: 2", "gpus: 1048576")) ==
        "x.yaml:5:7: error: node.links[0]: expected a cluster of at most 16777216 links, got "
        "549755289600\n"
        "      - from: gpu\n"
        "        ^");
  // 2^20 nodes of 2^20 GPUs and a NIC: 2^20 · (2^20 + 1).
  CHECK(message(replaced(replaced(with_fabric(single_switch), "nodes: 2", "nodes: 1048576"),
                         "gpus: 1", "gpus: 1048576")) ==
        "x.yaml:2:8: error: nodes: expected a cluster of at most 4194304 devices, got "
        "1099512676352\n"
        "  nodes: 1048576\n"
        "         ^");
  CHECK(message(replaced(two_gpus(), "50 GB/s", "2 PB/s")) ==
        "x.yaml:8:18: error: node.links[0].bandwidth: expected at most 1000 TB/s, got \"2 PB/s\"\n"
        "        bandwidth: 2 PB/s\n"
        "                   ^");
  CHECK(message(replaced(two_gpus(), "1 us", "3601 s")) ==
        "x.yaml:9:16: error: node.links[0].latency: expected at most 3600 s, got \"3601 s\"\n"
        "        latency: 3601 s\n"
        "                 ^");
  CHECK(message(replaced(two_gpus(), "1 us", "9223373 s")) ==
        "x.yaml:9:16: error: node.links[0].latency: \"9223373 s\" is too large: a duration is less "
        "than 106 days\n"
        "        latency: 9223373 s\n"
        "                 ^");
}

}  // namespace collsim
