// Descriptions of clusters as NCCL sees their nodes, and back.

#include "algorithms/nccl/machine_of_node.hpp"

#include <string>
#include <vector>

#include "algorithms/nccl/graph_search.hpp"
#include "algorithms/nccl/io/topology_xml.hpp"
#include "algorithms/nccl/pcie_sort.hpp"
#include "tests/catch.hpp"
#include "tests/shared_data.hpp"
#include "topology/error.hpp"
#include "topology/io/load.hpp"

namespace collsim::nccl {

using namespace collsim::literals;

namespace {

ConfigPath shipped() { return ConfigPath{{collsim::test::source_path("configs").string()}}; }

Machine machine_of(const std::string& cluster) {
  return machine_of_node(build_cluster(load_cluster(cluster, {}, shipped())), NodeId(0));
}

Machine machine_of_text(const std::string& yaml) {
  return machine_of_node(build_cluster(parse_cluster(yaml, "x.yaml", {}, shipped())), NodeId(0));
}

/// "8 x 48/48 cross 2 NVL/PIX"
std::string outline(const Graph& graph) {
  const auto whole = [](float value) { return std::to_string(static_cast<int>(value)); };
  return std::to_string(graph.channels.size()) + " x " + whole(graph.bandwidth_intra) + "/" +
         whole(graph.bandwidth_inter) + " cross " + std::to_string(graph.cross_nic) + " " +
         std::string(name(graph.type_intra)) + "/" + std::string(name(graph.type_inter));
}

GraphSet graphs_of(const std::string& cluster, NodeCount span) {
  return search_graphs(detect(machine_of(cluster), span));
}

}  // namespace

// The figures of NCCL 2.28.9 for these machines, as its own search gives them.
TEST_CASE("shipped nodes have the graphs that NCCL finds on such machines") {
  const GraphSet h100 = graphs_of("dgx-h100-x4", NodeCount::Several);
  CHECK(outline(h100.ring) == "8 x 48/48 cross 2 NVL/PIX");
  CHECK(outline(h100.tree) == "8 x 48/48 cross 0 NVL/PIX");
  CHECK(outline(*h100.nvls) == "8 x 40/48 cross 0 NVL/PIX");
  CHECK(h100.ring.channels[0].gpus == std::vector<int>{0, 7, 6, 5, 4, 3, 2, 1});
  CHECK(h100.ring.channels[0].nic_out == 1);

  const GraphSet alone = graphs_of("dgx-h100", NodeCount::One);
  CHECK(outline(alone.ring) == "12 x 30/30 cross 0 NVL/PIX");
  CHECK(outline(*alone.nvls) == "8 x 40/60 cross 0 NVL/PIX");

  CHECK(outline(graphs_of("dgx-a100-x4", NodeCount::Several).tree) == "8 x 30/24 cross 0 NVL/PIX");
  CHECK(outline(graphs_of("dgx-b200-superpod", NodeCount::Several).ring) ==
        "8 x 48/48 cross 0 NVL/PXN");
  CHECK(outline(graphs_of("dgx-1v", NodeCount::One).ring) == "6 x 20/20 cross 0 NVL/PIX");
}

// No vector covers it; the figures are those that NCCL's search gives for a made-up rack.
TEST_CASE("a rack on one NVLink is one node of many hosts") {
  const Machine rack = machine_of("gb200-nvl72");
  CHECK(rack.cpus.size() == 36);
  CHECK(rack.cpus[0].host_hash == rack.cpus[1].host_hash);
  CHECK(rack.cpus[1].host_hash != rack.cpus[2].host_hash);
  const GraphSet one = graphs_of("gb200-nvl72", NodeCount::One);
  CHECK(outline(one.ring) == "16 x 45/45 cross 0 NVL/PIX");
  CHECK(outline(one.tree) == "16 x 40/40 cross 0 NVL/PIX");
  CHECK(outline(*one.nvls) == "32 x 20/40 cross 0 NVL/PIX");
  const GraphSet two = graphs_of("gb200-nvl72-racks", NodeCount::Several);
  CHECK(outline(two.ring) == "16 x 45/45 cross 0 NVL/P2C");
  CHECK(two.ring.bandwidth_intra == 45.1F);
  CHECK(outline(*two.nvls) == "32 x 20/40 cross 0 NVL/P2C");
}

TEST_CASE("NVLinks are counted, and GPUs name each other") {
  const Machine mesh = machine_of("dgx-1v");
  const auto& cpu = mesh.cpus.at(0);
  const auto& first_switch = std::get<MachinePci>(cpu.devices.at(0));
  const MachinePci& gpu0 = first_switch.children.at(0);
  REQUIRE(gpu0.gpu);
  CHECK(gpu0.gpu->sm == 70);
  REQUIRE(gpu0.gpu->nvlinks.size() == 4);
  // gpu1 and gpu2 by one link, gpu3 and gpu4 by two.
  CHECK(gpu0.gpu->nvlinks[0].target == first_switch.children.at(1).bus_id);
  CHECK(gpu0.gpu->nvlinks[0].count == 1);
  CHECK(gpu0.gpu->nvlinks[2].count == 2);
  CHECK(cpu.vendor == "GenuineIntel");
  CHECK(cpu.model_id == 79);
}

TEST_CASE("a NIC has the speed of its cables") {
  const auto speed = [](const std::string& cluster) {
    const Machine machine = machine_of(cluster);
    const auto& pcie_switch = std::get<MachinePci>(machine.cpus.at(0).devices.at(0));
    for (const MachinePci& child : pcie_switch.children) {
      if (child.nic) {
        return child.nic->nets.at(0).speed;
      }
    }
    return 0;
  };
  CHECK(speed("dgx-h100-x4") == 400'000);
  CHECK(speed("dgx-a100-x4") == 200'000);
  // No fabric: what the PCIe link carries, 63 GB/s.
  CHECK(speed("dgx-h100") == 400'000);
}

TEST_CASE("where links between GPUs are not counted, their bandwidth tells how many there are") {
  const std::string yaml =
      "name: x\nnode:\n  gpus: 2\n  compute_capability: 9.0\n  devices: [{name: cpu, kind: cpu, "
      "processor: {vendor: arm}}]\n  links:\n"
      "    - {from: gpu, to: gpu, connect: mesh, kind: nvlink, bandwidth: 150 GB/s, latency: 0 "
      "ns}\n"
      "    - {from: gpu, to: cpu, kind: pcie, bandwidth: 63 GB/s, latency: 0 ns}\n";
  const Machine machine = machine_of_text(yaml);
  const auto& gpu = std::get<MachinePci>(machine.cpus.at(0).devices.at(0));
  CHECK(gpu.gpu->nvlinks.at(0).count == 6);
  CHECK(gpu.link_speed == "32.0 GT/s PCIe");
  CHECK(gpu.link_width == 16);
}

TEST_CASE("every shipped machine that NCCL runs on is written and read back as it is") {
  std::size_t described = 0;
  for (const ConfigEntry& entry : list_clusters(shipped())) {
    const Cluster cluster = build_cluster(load_cluster(entry.name, {}, shipped()));
    if (obstacle(cluster, NodeId(0))) {
      continue;
    }
    ++described;
    CAPTURE(entry.name);
    const Machine machine = machine_of_node(cluster, NodeId(0));
    const ReadMachine read = parse_topology_xml(write_topology_xml(machine), "x.xml");
    CHECK(read.machine == machine);
    // A rack is more than one host's file: NCCL merges those of the hosts.
    for (const InputError& warning : read.warnings) {
      CHECK_THAT(warning.render("warning"), Catch::Matchers::ContainsSubstring("256"));
    }
  }
  // All but the textbook's, AMD's and the TPUs'.
  CHECK(described >= 50);
}

TEST_CASE("what NCCL does not know of a machine is told") {
  CHECK(obstacle(build_cluster(load_cluster("textbook-star", {}, shipped())), NodeId(0)) ==
        "the GPUs have no compute_capability");
  CHECK_THROWS_WITH(
      machine_of("textbook-star"),
      "NCCL's choices need to know more of textbook-star: the GPUs have no compute_capability");
  const std::string nodes = "name: x\nnode:\n  gpus: 1\n  compute_capability: 9.0\n";
  CHECK_THROWS_WITH(machine_of_text(nodes),
                    "NCCL's choices need to know more of x: the node has no device of kind cpu");
  CHECK_THROWS_WITH(machine_of_text(nodes + "  devices: [{name: cpu, kind: cpu}]\n"),
                    "NCCL's choices need to know more of x: a CPU has no processor");
  CHECK_THROWS_WITH(
      machine_of_text(nodes + "  devices: [{name: cpu, kind: cpu, processor: {vendor: arm}}]\n"),
      "gpu0 has no way over PCIe to a CPU: NCCL would not find it");
}

TEST_CASE("a bandwidth tells the sort of PCIe, and a sort its bandwidth") {
  CHECK(pcie_sort(63_GBps) == PcieSort{"32.0 GT/s PCIe", 16});
  CHECK(pcie_sort(64_GBps) == PcieSort{"32.0 GT/s PCIe", 16});
  CHECK(pcie_sort(Bandwidth::bytes_per_second(15'750'000'000)) == PcieSort{"8.0 GT/s PCIe", 16});
  CHECK(pcie_sort(8_GBps) == PcieSort{"5.0 GT/s PCIe", 16});
  CHECK(pcie_sort(121_GBps) == PcieSort{"64.0 GT/s PCIe", 16});
  CHECK(pcie_bandwidth("32.0 GT/s PCIe", 16) == 63_GBps);
  CHECK(pcie_bandwidth("16 GT/s", 8) == Bandwidth::bytes_per_second(15'750'000'000));
  // What NCCL does not know counts as 8 GT/s, and no lanes as 16.
  CHECK(pcie_bandwidth("warp speed", 0) == Bandwidth::bytes_per_second(15'750'000'000));
}

}  // namespace collsim::nccl
