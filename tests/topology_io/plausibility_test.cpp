// Each check finds what it looks for, at its place, and nothing where all is well.

#include "topology/plausibility.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology_io/description.hpp"

namespace collsim {

namespace {

/// Two nodes of four GPUs on an NVSwitch; a GPU and a NIC on each PCIe switch; nothing is odd.
std::string sound() {
  return "name: sound\n"
         "nodes: 2\n"
         "node:\n"
         "  gpus: 4\n"
         "  devices:\n"
         "    - {name: nvswitch, kind: nvswitch}\n"
         "    - {name: pcie, kind: pcie-switch, count: 4}\n"
         "    - {name: cpu, kind: cpu, count: 2}\n"
         "    - {name: nic, kind: nic, count: 4}\n"
         "  links:\n"
         "    - {from: gpu, to: nvswitch, kind: nvlink, bonded: 12, bandwidth: 300 GB/s,"
         " latency: 250 ns}\n"
         "    - {from: gpu, to: pcie, connect: one-to-one, kind: pcie, bandwidth: 31.5 GB/s,"
         " latency: 110 ns}\n"
         "    - {from: nic, to: pcie, connect: one-to-one, kind: pcie, bandwidth: 31.5 GB/s,"
         " latency: 360 ns}\n"
         "    - {from: pcie, to: cpu, connect: grouped, kind: pcie, bandwidth: 31.5 GB/s,"
         " latency: 110 ns}\n"
         "    - {from: cpu, to: cpu, connect: mesh, kind: socket, bandwidth: 60 GB/s,"
         " latency: 80 ns}\n"
         "fabric:\n"
         "  kind: leaf-spine\n"
         "  leaf: {ports: 8}\n"
         "  link: {kind: infiniband, bandwidth: 200 Gb/s, latency: 30 ns}\n";
}

std::vector<Finding> findings_in(const std::string& text,
                                 const std::vector<std::string>& set = {}) {
  return implausible(
      build_cluster(parse_cluster(text, "x.yaml", test::settings(set), test::shipped())));
}

/// "check: path: message", one line a finding.
std::string found(const std::string& text, const std::vector<std::string>& set = {}) {
  std::string lines;
  for (const Finding& finding : findings_in(text, set)) {
    lines += finding.check + ": " + finding.path + ": " + finding.message + "\n";
  }
  return lines;
}

/// Two GPUs that are nodes of their own, and what the links between them are.
std::string pair_of_nodes(const std::string& links) {
  return "name: pair\n"
         "graph:\n"
         "  devices:\n"
         "    - {name: a, kind: gpu, node: 0}\n"
         "    - {name: b, kind: gpu, node: 1}\n"
         "    - {name: s, kind: switch}\n"
         "  links:\n" +
         links;
}

}  // namespace

TEST_CASE("nothing is odd about a sound cluster", "[plausibility]") {
  CHECK(found(sound()) == "");
  // The same on one node, whose NICs have nowhere to go.
  CHECK(found(sound(), {"nodes=1", "fabric={kind: none}"}) == "");
}

// What is odd about shipped clusters is odd about the machines.
TEST_CASE("nothing unknown is odd about the clusters that are shipped", "[plausibility]") {
  const std::set<std::pair<std::string, std::string>> known{
      {"aws-p3dn", "far-nic"},                     // one NIC at a CPU
      {"gcp-a2", "far-nic"},                       // likewise
      {"deepseek-multi-plane", "networks-apart"},  // eight planes
      {"rtx3090", "one-way"},  // PCIe up and down through the root, one way each
  };
  for (const ConfigEntry& entry : list_clusters(test::shipped())) {
    CAPTURE(entry.name);
    const Cluster cluster = build_cluster(load_cluster(entry.name, {}, test::shipped()));
    for (const Finding& finding : implausible(cluster)) {
      if (!known.contains({entry.name, finding.check})) {
        FAIL_CHECK(finding.check << ": " << finding.path << ": " << finding.message);
      }
    }
  }
}

TEST_CASE("every check has a name of its own", "[plausibility]") {
  std::vector<std::string_view> names;
  for (const PlausibilityCheck& check : plausibility_checks()) {
    CHECK_FALSE(check.looks_for.empty());
    names.push_back(check.name);
  }
  std::ranges::sort(names);
  CHECK(std::ranges::adjacent_find(names) == names.end());
}

TEST_CASE("nic-speed: bytes where bits are likely", "[plausibility]") {
  // 400 GB/s are 3200 Gb/s. PCIe is narrower than that, too.
  CHECK(found(sound(), {"fabric.link.bandwidth=400 GB/s"}) ==
        "nic-speed: fabric.link.bandwidth: a cable of 400 GB/s, that is 3200 Gb/s\n"
        "nic-speed: fabric.uplink.bandwidth: a cable of 400 GB/s, that is 3200 Gb/s\n"
        "narrow-slot: node.links[1].bandwidth: node0.gpu0 and 3 more: 31.5 GB/s to the NIC, whose "
        "cable has "
        "400 GB/s\n");
  CHECK(found(sound(), {"fabric.uplink.bandwidth=200 GB/s"}) ==
        "nic-speed: fabric.uplink.bandwidth: a cable of 200 GB/s, that is 1600 Gb/s\n");
  CHECK(found(sound(), {"fabric.uplink.bandwidth=199 GB/s"}) == "");
  const std::string graph = pair_of_nodes(
      "    - {from: a, to: s, kind: ethernet, bandwidth: 400 GB/s, latency: 1 us}\n"
      "    - {from: b, to: s, kind: ethernet, bandwidth: 50 GB/s, latency: 1 us}\n");
  CHECK(found(graph) ==
        "nic-speed: graph.links[0].bandwidth: a cable of 400 GB/s, that is 3200 Gb/s\n");
}

TEST_CASE("nic-speed: a chip's own router may be of any speed", "[plausibility]") {
  const std::vector<std::string> chip{"node.links[2].bandwidth=600 GB/s",
                                      "node.links[1].bandwidth=600 GB/s",
                                      "node.links[1].kind=generic",
                                      "node.links[2].kind=generic",
                                      "fabric.link={bandwidth: 600 GB/s, latency: 0 ns}",
                                      "fabric.uplink.bandwidth=600 GB/s",
                                      "node.links[0].bandwidth=900 GB/s"};
  CHECK(found(sound(), chip) == "");
  // A cable of no known kind behind PCIe is a slip, as is one that is wider than the router.
  CHECK(found(sound(), {"node.links[2].bandwidth=251 GB/s", "node.links[1].bandwidth=251 GB/s",
                        "fabric.link={bandwidth: 250 GB/s, latency: 0 ns}"}) ==
        "nic-speed: fabric.link.bandwidth: a cable of 250 GB/s, that is 2000 Gb/s\n"
        "nic-speed: fabric.uplink.bandwidth: a cable of 250 GB/s, that is 2000 Gb/s\n");
  CHECK(found(sound(), {"fabric.link={bandwidth: 400 GB/s, latency: 0 ns}",
                        "fabric.uplink.bandwidth=50 GB/s", "fabric.spine.oversubscription=1"})
            .starts_with("nic-speed: fabric.link.bandwidth: a cable of 400 GB/s, that is 3200 "
                         "Gb/s\nnarrow-slot: "));
}

TEST_CASE("nvlink-speed: no multiple of a link's", "[plausibility]") {
  // 300 Gb/s are 37.5 GB/s: neither 20 nor 25 GB/s divide it, nor 14.0625 GB/s up to four times.
  const std::string at = "node.links[0].bandwidth";
  const std::string one = "node.links[0].bonded=1";
  CHECK(found(sound(), {at + "=300 Gb/s", one}) ==
        "nvlink-speed: node.links[0].bandwidth: 37.5 GB/s is no multiple of what an NVLink "
        "carries\n");
  // Twelve of 25 GB/s, but not eleven.
  CHECK(found(sound(), {"node.links[0].bonded=11"}) ==
        "nvlink-speed: node.links[0].bandwidth: 300 GB/s for 11 NVLinks is no multiple of what an "
        "NVLink carries\n");
  for (const char* speed : {"80 GB/s", "150 GB/s", "450 GB/s", "900 GB/s", "56.25 GB/s"}) {
    CAPTURE(speed);
    CHECK(found(sound(), {at + "=" + speed, one}) == "");
  }
  // Five times a bridge's link is no bridge.
  CHECK(found(sound(), {at + "=70.3125 GB/s", one}).starts_with("nvlink-speed: "));
}

TEST_CASE("nvlink-below-pcie: bits where bytes are likely", "[plausibility]") {
  const std::vector<std::string> pcie5{"node.links[1].bandwidth=63 GB/s",
                                       "node.links[0].bandwidth=450 Gb/s",
                                       "node.links[0].bonded=1"};
  CHECK(found(sound(), pcie5) ==
        "nvlink-below-pcie: node.links[0].bandwidth: node0.gpu0 and 3 more: NVLink is slower than "
        "PCIe, "
        "56.25 GB/s against 63 GB/s\n");
}

TEST_CASE("nvlink-asymmetry: a GPU with more NVLink than another", "[plausibility]") {
  const std::string bridge =
      "node.links[5]={from: gpu0, to: gpu1, kind: nvlink, bandwidth: 50 GB/s, latency: 250 ns}";
  CHECK(found(sound(), {bridge}) ==
        "nvlink-asymmetry: node.links[0]: GPUs with different NVLink: node0.gpu2 has 300 GB/s, "
        "node0.gpu0 has 350 GB/s\n");
  const std::string second =
      "node.links[6]={from: gpu2, to: gpu3, kind: nvlink, bandwidth: 50 GB/s, latency: 250 ns}";
  CHECK(found(sound(), {bridge, second}) == "");
}

TEST_CASE("latency: microseconds for nanoseconds", "[plausibility]") {
  CHECK(found(sound(), {"node.links[1].latency=10 us", "fabric.link.latency=10 us",
                        "fabric.uplink.latency=1 us"}) ==
        "latency: node.links[1].latency: 10 us for a link inside a node\n"
        "latency: fabric.link.latency: 10 us in the network\n");
  CHECK(found(sound(), {"node.links[1].latency=9 us", "fabric.link.latency=9999 ns"}) == "");
  CHECK(found(sound(), {"fabric.leaf.latency=2 ms", "fabric.spine.latency=0 ns"}) ==
        "latency: fabric.leaf.latency: 2 ms in the network\n");
}

TEST_CASE("far-nic: a PCIe switch without a NIC", "[plausibility]") {
  // gpu1 has to cross its CPU, gpu2 and gpu3 the other one, too.
  const std::vector<std::string> one_nic{"node.devices[3].count=1", "fabric.leaf.ports=2",
                                         "node.links[2]={from: nic0, to: pcie0, kind: pcie, "
                                         "bandwidth: 31.5 GB/s, latency: 360 ns}"};
  CHECK(found(sound(), one_nic) ==
        "far-nic: node.links[1]: node0.gpu1 and 2 more: no NIC below the same PCIe switch, the "
        "nearest is PHB\n");
  // GPUs without a switch have none to share.
  std::vector<std::string> no_switch = one_nic;
  no_switch.emplace_back(
      "node.links[1]={from: gpu, to: cpu, connect: grouped, kind: pcie, bandwidth: 31.5 GB/s, "
      "latency: 110 ns}");
  CHECK(found(sound(), no_switch).find("far-nic") == std::string::npos);
  // On one node there is nowhere to go.
  std::vector<std::string> one_node = one_nic;
  one_node.insert(one_node.begin() + 1, "nodes=1");
  one_node[2] = "fabric={kind: none}";
  CHECK(found(sound(), one_node) == "");
}

TEST_CASE("narrow-slot: PCIe narrower than the cable", "[plausibility]") {
  CHECK(found(sound(), {"fabric.link.bandwidth=400 Gb/s"}) ==
        "narrow-slot: node.links[1].bandwidth: node0.gpu0 and 3 more: 31.5 GB/s to the NIC, whose "
        "cable has "
        "50 GB/s\n");
  CHECK(found(sound(), {"fabric.link.bandwidth=252 Gb/s"}) == "");
}

TEST_CASE("narrow-slot: NICs that share a link narrower than their cables together",
          "[plausibility]") {
  // Two NICs below each of two PCIe switches, the GPUs at the CPUs: a link of 31.5 GB/s for two cables.
  const std::string at_cpu =
      "node.links[1]={from: gpu, to: cpu, connect: grouped, kind: pcie, bandwidth: 31.5 GB/s, "
      "latency: 110 ns}";
  std::vector<std::string> shared{"node.devices[1].count=2", "node.links[2].connect=grouped",
                                  "node.links[3].connect=one-to-one", at_cpu,
                                  "fabric.nic_choice=balanced"};
  CHECK(found(sound(), shared) ==
        "narrow-slot: node.links[3].bandwidth: node0.cpu0 -> node0.pcie0 and 1 more: 31.5 GB/s on "
        "the "
        "way to node0.nic0 and 1 more, whose cables together have 50 GB/s\n");
  shared.emplace_back("node.links[3].bandwidth=50 GB/s");
  CHECK(found(sound(), shared) == "");
}

TEST_CASE("rails: NICs with other cables, other numbers, other loads", "[plausibility]") {
  // The GPUs of one CPU share a NIC, the other two have one each.
  // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): long settings in several pieces
  CHECK(found(sound(), {"node.devices[3].count=3", "fabric.leaf.ports=6",
                        "node.links[1]={from: gpu, to: cpu, connect: grouped, kind: pcie, "
                        "bandwidth: 31.5 GB/s, latency: 110 ns}",
                        "node.links[2]={from: nic0, to: cpu0, kind: pcie, bandwidth: 31.5 GB/s, "
                        "latency: 360 ns}",
                        "node.links[5]={from: nic1, to: gpu2, kind: pcie, bandwidth: 31.5 GB/s, "
                        "latency: 360 ns}",
                        "node.links[6]={from: nic2, to: gpu3, kind: pcie, bandwidth: 31.5 GB/s, "
                        "latency: 360 ns}"}) ==
        "rails-load: node.links: NICs for unequal numbers of GPUs: node0.nic1 serves 1, "
        "node0.nic0 serves 2\n"
        "unused: node.devices: node0.pcie0 and 7 more: a switch with one neighbour\n");

  const auto node = [](const std::string& number) {
    return "    - {name: a" + number + ", kind: gpu, node: " + number + "}\n" + "    - {name: m" +
           number + ", kind: nic, node: " + number + "}\n";
  };
  const auto cables = [](const std::string& number, const std::string& speed) {
    return "    - {from: a" + number + ", to: m" + number +
           ", kind: pcie, bandwidth: 63 GB/s, latency: 1 us}\n" + "    - {from: m" + number +
           ", to: s, kind: ethernet, bandwidth: " + speed + ", latency: 1 us}\n";
  };
  const std::string more =
      "    - {name: b1, kind: gpu, node: 1}\n    - {name: n1, kind: nic, node: 1}\n";
  const std::string more_cables =
      "    - {from: b1, to: n1, kind: pcie, bandwidth: 63 GB/s, latency: 1 us}\n"
      "    - {from: a1, to: b1, kind: pcie, bandwidth: 63 GB/s, latency: 1 us}\n"
      "    - {from: n1, to: s, kind: ethernet, bandwidth: 25 GB/s, latency: 1 us}\n";
  CHECK(found("name: uneven\ngraph:\n  devices:\n" + node("0") + node("1") + more +
              "    - {name: s, kind: switch}\n  links:\n" + cables("0", "50 GB/s") +
              cables("1", "50 GB/s") + more_cables) ==
        "rails-speed: graph.links: NICs with different cables: n1 has 25 GB/s, m1 has 50 GB/s\n"
        "rails-number: graph.devices: nodes with different numbers of NICs: node0 has 1, node1 has "
        "2\n");
}

TEST_CASE("no-path-in-node: neighbours that meet outside", "[plausibility]") {
  const std::string text =
      "name: apart\n"
      "graph:\n"
      "  devices:\n"
      "    - {name: a, kind: gpu}\n"
      "    - {name: b, kind: gpu}\n"
      "    - {name: s, kind: switch}\n"
      "  links:\n"
      "    - {from: a, to: s, kind: ethernet, bandwidth: 1 GB/s, latency: 1 us}\n"
      "    - {from: b, to: s, kind: ethernet, bandwidth: 1 GB/s, latency: 1 us}\n";
  CHECK(found(text) ==
        "no-path-in-node: graph.links: a and b are in one node and meet only in the network\n");
  CHECK(found(test::replaced(text, "switch}", "switch, node: 0}")) == "");
}

TEST_CASE("one-way: no link back, or a narrower one", "[plausibility]") {
  const std::string both =
      "    - {from: b, to: s, kind: ethernet, bandwidth: 1 GB/s, latency: 1 us}\n"
      "    - {from: a, to: s, kind: ethernet, bandwidth: 1 GB/s, latency: 1 us}\n";
  CHECK(found(pair_of_nodes(both)) == "");
  CHECK(found(pair_of_nodes(both + "    - {from: a, to: b, kind: nvlink, duplex: one-way, "
                                   "bandwidth: 25 GB/s, latency: 1 us}\n")) ==
        "one-way: graph.links: a -> b: no link back\n");
  CHECK(found(pair_of_nodes(both + "    - {from: s, to: a, kind: ethernet, duplex: one-way, "
                                   "bandwidth: 2 GB/s, latency: 1 us}\n")) ==
        "one-way: graph.links: s -> a: only 1 GB/s back for 3 GB/s\n");
}

TEST_CASE("networks-apart: rails that do not meet", "[plausibility]") {
  // Two GPUs a node, each with a NIC on a switch of its own; NVLink joins the nodes' GPUs.
  std::string text =
      "name: rails\n"
      "graph:\n"
      "  devices:\n"
      "    - {name: v, kind: nvswitch}\n";
  std::string links;
  for (const char* rail : {"0", "1"}) {
    text.append("    - {name: s").append(rail).append(", kind: switch}\n");
    for (const char* node : {"0", "1"}) {
      const std::string name = std::string(node).append(rail);
      text.append("    - {name: g").append(name).append(", kind: gpu, node: ").append(node);
      text.append("}\n    - {name: n").append(name).append(", kind: nic, node: ").append(node);
      text.append("}\n");
      links.append("    - {from: g").append(name);
      links.append(", to: v, kind: nvlink, bandwidth: 100 GB/s, latency: 1 us}\n");
      links.append("    - {from: g").append(name).append(", to: n").append(name);
      links.append(", kind: pcie, bandwidth: 31.5 GB/s, latency: 1 us}\n");
      links.append("    - {from: n").append(name).append(", to: s").append(rail);
      links.append(", kind: infiniband, bandwidth: 25 GB/s, latency: 1 us}\n");
    }
  }
  CHECK(found(text + "  links:\n" + links) ==
        "networks-apart: graph.links: the NICs are on 2 networks that do not meet\n");
  CHECK(found(text + "  links:\n" + links +
              "    - {from: s0, to: s1, kind: infiniband, bandwidth: 50 GB/s, latency: 1 us}\n") ==
        "");
}

TEST_CASE("oversubscription: only where nothing is said about it", "[plausibility]") {
  // A node's four NICs fill the four ports down of a leaf: 100 GB/s, and 4 x 12.5 GB/s up.
  CHECK(found(sound(), {"fabric.uplink.bandwidth=100 Gb/s"}) ==
        "oversubscription: fabric: a leaf group sends 100 GB/s, and 50 GB/s leave it\n");
  CHECK(found(sound(), {"fabric.uplink.bandwidth=100 Gb/s", "fabric.spine.oversubscription=1"}) ==
        "");
  CHECK(found(sound(), {"fabric.spine.oversubscription=2", "fabric.leaf.ports=6"}) == "");
}

TEST_CASE("unused: what carries nothing", "[plausibility]") {
  CHECK(found(sound(), {"node.devices[4]={name: spare, kind: nvswitch, count: 3}"}) ==
        "unused: node.devices: node0.spare0 and 5 more: no link\n");
  // Both nodes fit on one leaf; its eight spines have nothing else to join.
  CHECK(found(sound(), {"fabric.leaf.ports=16"}) ==
        "unused: fabric: spine0 and 7 more: a switch with one neighbour\n");
  CHECK(found(sound(), {"node.devices[4]={name: spare, kind: nic}",
                        "node.links[5]={from: spare, to: cpu0, kind: pcie, bandwidth: 31.5 GB/s, "
                        "latency: 1 us}",
                        "fabric.leaf.ports=10"}) ==
        "unused: node.devices: node0.spare and 1 more: no GPU leaves its node by it\n");
  // Both GPUs of a switch leave by the first of its two NICs.
  CHECK(found(sound(), {"node.links[1].connect=grouped", "node.links[2].connect=grouped",
                        "node.devices[1].count=2", "node.links[3].connect=one-to-one"}) ==
        "unused: node.devices: node0.nic1 and 3 more: no GPU leaves its node by it\n");
}

TEST_CASE("a finding is placed in the node that it is about", "[plausibility]") {
  // Two GPUs of the A100's nodes share a PCIe switch and its two NICs, and leave by the first.
  CHECK(found("name: mixed\n"
              "nodes:\n"
              "  - {count: 2, node: dgx-h100}\n"
              "  - {count: 2, node: dgx-a100}\n"
              "fabric:\n"
              "  kind: single-switch\n"
              "  link: {kind: infiniband, bandwidth: 200 Gb/s, latency: 30 ns}\n") ==
        "unused: nodes[1].node.devices: node2.nic1 and 7 more: no GPU leaves its node by it\n");
}

TEST_CASE("unused: whole levels that no path between nodes crosses", "[plausibility]") {
  const std::vector<std::string> rails{"nodes=4",
                                       "fabric={kind: rail-optimized, leaf: {ports: 4}, link: "
                                       "{kind: infiniband, bandwidth: 200 Gb/s, latency: 30 ns}}"};
  CHECK(found(sound(), rails) == "");
  // Two nodes a group, so two groups of five leaves; a node has four NICs.
  std::vector<std::string> five = rails;
  five.emplace_back("fabric.rails=5");
  CHECK(found(sound(), five) ==
        "unused: fabric: leaf4 and 1 more of 10 in all: no shortest path between two nodes crosses "
        "it\n");
  // The fifth of five planes, with as many leaves and spines as the others.
  const std::vector<std::string> planes{"nodes=4", "fabric.nic_choice=rail-aligned",
                                        "fabric.leaf.ports=4"};
  std::vector<std::string> four = planes;
  four.emplace_back("fabric.planes=4");
  CHECK(found(sound(), four) == "");
  four.back() = "fabric.planes=5";
  CHECK(found(sound(), four) ==
        "unused: fabric: leaf8 and 1 more of 10 in all: no shortest path between two nodes crosses "
        "it\nunused: fabric: spine8 and 1 more of 10 in all: no shortest path between two nodes "
        "crosses it\n");
}

TEST_CASE("unused: switches of a dragonfly that only join others of their group",
          "[plausibility]") {
  const auto dragonfly = [](const std::string& switches) {
    return std::vector<std::string>{
        "nodes=3", "fabric={kind: dragonfly, switch: {down: 1}, group: {switches: " + switches +
                       "}, link: {kind: infiniband, bandwidth: 200 Gb/s, latency: 30 ns}}"};
  };
  CHECK(found(sound(), dragonfly("4")) == "");
  // Twelve NICs fill two groups of five switches and two switches of the third. The two cables to the
  // other groups end at its first two switches as well.
  CHECK(found(sound(), dragonfly("5")) ==
        "unused: fabric: switch12 and 2 more of 15 in all: no shortest path between two nodes "
        "crosses it\n");
}

TEST_CASE("findings have a hint where there is one to give", "[plausibility]") {
  const std::vector<Finding> findings = findings_in(sound(), {"fabric.uplink.bandwidth=400 GB/s"});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].hint == "ports are given in bits a second: 400 Gb/s is 50 GB/s");
}

}  // namespace collsim
