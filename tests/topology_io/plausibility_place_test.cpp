// Which place a finding names, in clusters of several kinds of nodes and on links of several kinds, and
// slips of units that make things too slow.

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology_io/description.hpp"
#include "topology/plausibility.hpp"

namespace collsim {

namespace {

/// "check: path: message", one line a finding.
std::string lines_of(const std::vector<Finding>& findings) {
  std::string lines;
  for (const Finding& finding : findings) {
    lines += finding.check + ": " + finding.path + ": " + finding.message + "\n";
  }
  return lines;
}

std::string found(const std::string& cluster, const std::vector<std::string>& set) {
  return lines_of(
      implausible(build_cluster(load_cluster(cluster, test::settings(set), test::shipped()))));
}

/// Two nodes of each of two descriptions on one switch.
std::string found_in_mixed(const std::string& second, const std::vector<std::string>& set = {}) {
  const std::string text =
      "name: mixed\n"
      "nodes:\n"
      "  - {count: 2, node: dgx-h100}\n"
      "  - {count: 2, node: " +
      second +
      "}\n"
      "fabric:\n"
      "  kind: single-switch\n"
      "  link: {kind: infiniband, bandwidth: 400 Gb/s, latency: 30 ns}\n";
  return lines_of(implausible(
      build_cluster(parse_cluster(text, "x.yaml", test::settings(set), test::shipped()))));
}

}  // namespace

TEST_CASE("narrow-slot names the link that is narrow, in the node that has it", "[plausibility]") {
  // The third entry of the second description: 31.5 GB/s from PCIe switches to NICs.
  const std::string rails =
      "rails-number: nodes[0].node.devices: nodes with different numbers of NICs: node2 has 4, "
      "node0 has 8\n";
  CHECK(found_in_mixed("gcp-a3-high") ==
        "narrow-slot: nodes[1].node.links[2].bandwidth: node2.gpu0 and 7 more: 31.5 GB/s to the "
        "NIC, whose cable has 50 GB/s\n" +
            rails);
  // In both: one finding each, of eight GPUs each.
  CHECK(found_in_mixed("gcp-a3-high", {"nodes[0].node.links[1].bandwidth=16 GB/s"}) ==
        "narrow-slot: nodes[0].node.links[1].bandwidth: node0.gpu0 and 7 more: 16 GB/s to the NIC, "
        "whose cable has 50 GB/s\n"
        "narrow-slot: nodes[1].node.links[2].bandwidth: node2.gpu0 and 7 more: 31.5 GB/s to the "
        "NIC, whose cable has 50 GB/s\n" +
            rails);
  CHECK(found("dgx-h100-x4", {"node.links[2].bandwidth=16 GB/s"}) ==
        "narrow-slot: node.links[2].bandwidth: node0.gpu0 and 7 more: 16 GB/s to the NIC, whose "
        "cable has 50 GB/s\n");
}

TEST_CASE("findings inside a node are placed in its description", "[plausibility]") {
  // 18 bonded links of 2.5 GB/s each: no NVLink's speed either. PCIe has 63 GB/s.
  CHECK(found_in_mixed("dgx-h100", {"nodes[1].node.links[0].bandwidth=45 GB/s"}) ==
        "nvlink-speed: nodes[1].node.links[0].bandwidth: 45 GB/s for 18 NVLinks is no multiple of "
        "what an NVLink carries\n"
        "nvlink-below-pcie: nodes[1].node.links[0].bandwidth: node2.gpu0 and 7 more: NVLink is "
        "slower than PCIe, 45 GB/s against 63 GB/s\n");
  // A bridge between the first two GPUs, besides.
  CHECK(found_in_mixed("dgx-h100", {"nodes[1].node.links[5]={from: gpu0, to: gpu1, kind: nvlink, "
                                    "bandwidth: 50 GB/s, latency: 250 ns}"}) ==
        "nvlink-asymmetry: nodes[1].node.links[0]: GPUs with different NVLink: node2.gpu2 has 450 "
        "GB/s, node2.gpu0 has 500 GB/s\n");
  // One NIC, below the first PCIe switch. All eight GPUs leave by it.
  CHECK(found_in_mixed("dgx-h100", {"nodes[1].node.devices[3].count=1",
                                    "nodes[1].node.links[2]={from: nic0, to: pcie-switch0, kind: "
                                    "pcie, bandwidth: 63 GB/s, latency: 360 ns}"}) ==
        "far-nic: nodes[1].node.links[1]: node2.gpu1 and 6 more: no NIC below the same PCIe "
        "switch, the nearest is PHB\n"
        "rails-number: nodes[0].node.devices: nodes with different numbers of NICs: node2 has 1, "
        "node0 has 8\n");
}

TEST_CASE("an explicit graph's links are entries of their own", "[plausibility]") {
  const std::string text =
      "name: pair\n"
      "graph:\n"
      "  devices:\n"
      "    - {name: a, kind: gpu, node: 0}\n"
      "    - {name: n, kind: nic, node: 0}\n"
      "    - {name: b, kind: gpu, node: 1}\n"
      "    - {name: m, kind: nic, node: 1}\n"
      "    - {name: s, kind: switch}\n"
      "  links:\n"
      "    - {from: s, to: n, kind: infiniband, bandwidth: 50 GB/s, latency: 1 us}\n"
      "    - {from: s, to: m, kind: infiniband, bandwidth: 50 GB/s, latency: 1 us}\n"
      "    - {from: n, to: a, kind: pcie, bandwidth: 63 GB/s, latency: 1 us}\n"
      "    - {from: m, to: b, kind: pcie, bandwidth: 31.5 GB/s, latency: 1 us}\n";
  CHECK(lines_of(implausible(build_cluster(parse_cluster(text, "x.yaml", {}, test::shipped())))) ==
        "narrow-slot: graph.links[3].bandwidth: b: 31.5 GB/s to the NIC, whose cable has 50 "
        "GB/s\n");
}

TEST_CASE("cable-speed: slips that make a cable too slow", "[plausibility]") {
  // PCIe of 63 GB/s: 7.875 GB/s and less are at most an eighth.
  CHECK(found("dgx-h100-x4", {"fabric.link.bandwidth=50 Gb/s"}) ==
        "cable-speed: fabric.link.bandwidth: node0.nic0: a cable of 6.25 GB/s behind PCIe of 63 "
        "GB/s\n");
  CHECK(found("dgx-h100-x4", {"fabric.link.bandwidth=400 Mb/s"}) ==
        "cable-speed: fabric.link.bandwidth: node0.nic0: a cable of 50 MB/s behind PCIe of 63 "
        "GB/s\n");
  CHECK(found("dgx-h100-x4", {"fabric.link.bandwidth=64 Gb/s"}) == "");
  // Of a known kind below 10 Gb/s, behind no PCIe.
  CHECK(found("textbook-2x4", {"fabric.link={kind: ethernet, bandwidth: 9 Gb/s, latency: 1 us}"}) ==
        "cable-speed: fabric.link.bandwidth: node0.nic: a cable of 1.125 GB/s\n");
  CHECK(found("textbook-2x4",
              {"fabric.link={kind: ethernet, bandwidth: 10 Gb/s, latency: 1 us}"}) == "");
}

TEST_CASE("pcie-speed: slips of PCIe, up and down", "[plausibility]") {
  const std::string pcie = "node.links[1].bandwidth=";
  const std::string narrow =
      " to the NIC, whose cable has 50 GB/s\n";  // the second finding on slow links
  CHECK(found("dgx-h100-x4", {pcie + "63 Gb/s"}) ==
        "pcie-speed: node.links[1].bandwidth: node0.gpu0: PCIe of 7.875 GB/s\n"
        "narrow-slot: node.links[1].bandwidth: node0.gpu0 and 7 more: 7.875 GB/s" +
            narrow);
  CHECK(found("dgx-h100-x4", {pcie + "63 MB/s"}) ==
        "pcie-speed: node.links[1].bandwidth: node0.gpu0: PCIe of 63 MB/s\n"
        "narrow-slot: node.links[1].bandwidth: node0.gpu0 and 7 more: 63 MB/s" +
            narrow);
  // Faster than the NVLink of 450 GB/s, which is not to blame.
  CHECK(found("dgx-h100-x4", {pcie + "504 GB/s"}) ==
        "pcie-speed: node.links[1].bandwidth: PCIe of 504 GB/s\n");
  CHECK(found("dgx-h100-x4", {pcie + "251 GB/s"}) == "");
  // GPUs without NVLink may have eight lanes of PCIe 3, but hardly four.
  const std::string small =
      "node.links[0]={from: gpu, to: nvswitch, kind: generic, bandwidth: 100 GB/s, latency: 1 us}";
  CHECK(found("dgx-h100-x4", {small, pcie + "7.875 GB/s", "fabric.link.bandwidth=63 Gb/s",
                              "node.links[2].bandwidth=15.75 GB/s"}) == "");
  CHECK(found("dgx-h100-x4", {small, pcie + "3.9 GB/s", "fabric.link.bandwidth=25 Gb/s",
                              "node.links[2].bandwidth=15.75 GB/s"}) ==
        "pcie-speed: node.links[1].bandwidth: node0.gpu0: PCIe of 3.9 GB/s\n");
}

TEST_CASE("nvlink-below-pcie compares with one PCIe link", "[plausibility]") {
  // Four NVLinks of 25 GB/s; three PCIe links of 63 GB/s, to different places.
  CHECK(found("dgx-h100-x4", {"node.links[0].bandwidth=100 GB/s", "node.links[0].bonded=4",
                              "node.links[1].count=3"}) == "");
}

TEST_CASE("cable-speed: cables between switches an eighth of those from the NICs",
          "[plausibility]") {
  // NICs of 25 GB/s: an eighth is 3.125 GB/s, which is 25 Gb/s.
  CHECK(found("polaris",
              {"fabric.local.link.bandwidth=25 Gb/s", "fabric.global.link.bandwidth=3126 MB/s"}) ==
        "cable-speed: fabric.local.link.bandwidth: a cable of 3.125 GB/s between switches, and 25 "
        "GB/s from each NIC\n");
  CHECK(found("alibaba-hpn", {"fabric.spine.link.bandwidth=3 GB/s"}) ==
        "cable-speed: fabric.spine.link.bandwidth: a cable of 3 GB/s between switches, and 25 GB/s "
        "from each NIC\n");
}

TEST_CASE("rails-share: leaves that take unequal numbers of a node's cables", "[plausibility]") {
  // Eight NICs on five rails: 0 to 4, and 0 to 2 again.
  const std::string rails =
      "fabric={kind: rail-optimized, rails: RAILS, leaf: {ports: 256}, nic_choice: rail-aligned, "
      "link: {kind: infiniband, bandwidth: 400 Gb/s, latency: 30 ns}}";
  CHECK(found("dgx-h100-x4", {"nodes=80", test::replaced(rails, "RAILS", "5")}) ==
        "rails-share: fabric.rails: node0 has 2 cables to each of 3 leaves, 1 cable to each of "
        "2\n");
  CHECK(found("dgx-h100-x4", {"nodes=80", test::replaced(rails, "RAILS", "4")}) == "");
  // Eight NICs on three planes: 3, 3 and 2 in each.
  const std::string planes =
      "fabric={kind: leaf-spine, planes: PLANES, leaf: {ports: 64}, nic_choice: rail-aligned, "
      "link: {kind: infiniband, bandwidth: 400 Gb/s, latency: 30 ns}}";
  CHECK(found("dgx-h100-x4", {"nodes=80", test::replaced(planes, "PLANES", "3")}) ==
        "rails-share: fabric.planes: node0 has 3 cables to each of 2 leaves, 2 cables to each of "
        "1\n");
  CHECK(found("dgx-h100-x4", {"nodes=80", test::replaced(planes, "PLANES", "4")}) == "");
}

TEST_CASE("of nodes that stand differently in a dragonfly one is looked at", "[plausibility]") {
  // Switches of three NICs, nodes of eight: they begin on the first, third or second place of a switch.
  const std::string fabric =
      "fabric={kind: dragonfly, switch: {down: 3}, group: {switches: 4}, link: {kind: infiniband, "
      "bandwidth: 800 Gb/s, latency: 30 ns}}";
  CHECK(found("dgx-h100-x4", {"nodes=12", fabric}) ==
        "narrow-slot: node.links[1].bandwidth: node0.gpu0 and 7 more: 63 GB/s to the NIC, whose "
        "cable has 100 GB/s\n");
}

}  // namespace collsim
