// Expected figures: reference/nccl.md §§3.9, 4.3, as NCCL's own search gives them.

#include "algorithms/nccl/graph_search.hpp"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "tests/algorithms/nccl/machines.hpp"
#include "tests/catch.hpp"

namespace collsim::nccl {

namespace {

const std::string gen4 = "16.0 GT/s PCIe";
const std::string gen5 = "32.0 GT/s PCIe";

GraphSet search(const Machine& machine, NodeCount nodes, const SearchOptions& options = {},
                const DetectOptions& detected = {}) {
  return search_graphs(detect(machine, nodes, detected), options);
}

/// "12x30/30 NVL/PIX".
std::string line(const Graph& graph) {
  // One decimal.
  const auto number = [](float value) {
    const std::string tenths = std::to_string(std::lround(value * 10));
    return tenths.size() == 1 ? "0." + tenths
                              : tenths.substr(0, tenths.size() - 1) + "." + tenths.back();
  };
  return std::to_string(graph.channels.size()) + "x" + number(graph.bandwidth_intra) + "/" +
         number(graph.bandwidth_inter) + " " + std::string(name(graph.type_intra)) + "/" +
         std::string(name(graph.type_inter));
}

}  // namespace

TEST_CASE("eight H100 of one node") {
  const GraphSet graphs = search(test::nic_per_gpu(8, 90, 18, 0, gen5), NodeCount::One);
  CHECK(line(graphs.ring) == "12x30.0/30.0 NVL/PIX");
  CHECK(graphs.ring.same_channels);
  CHECK(line(graphs.tree) == "12x30.0/30.0 NVL/PIX");
  CHECK(graphs.tree.pattern == Pattern::BalancedTree);
  REQUIRE(graphs.nvls);
  CHECK(line(*graphs.nvls) == "8x40.0/60.0 NVL/PIX");
  for (const GraphChannel& channel : graphs.ring.channels) {
    CHECK(channel.gpus == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(!channel.nic_in);
  }
}

TEST_CASE("eight H100 a node with a NIC each swap NICs in pairs of channels") {
  const GraphSet graphs = search(test::nic_per_gpu(8, 90, 18, 400000, gen5), NodeCount::Several);
  CHECK(line(graphs.ring) == "8x48.0/48.0 NVL/PIX");
  CHECK(graphs.ring.cross_nic == 2);
  CHECK(graphs.ring.channels[0].gpus == std::vector<int>{0, 7, 6, 5, 4, 3, 2, 1});
  CHECK(graphs.ring.channels[0].nic_in == 0);
  CHECK(graphs.ring.channels[0].nic_out == 1);
  CHECK(graphs.ring.channels[1].gpus == std::vector<int>{1, 2, 3, 4, 5, 6, 7, 0});
  CHECK(graphs.ring.channels[1].nic_in == 1);
  CHECK(graphs.ring.channels[1].nic_out == 0);
  CHECK(line(graphs.tree) == "8x48.0/48.0 NVL/PIX");
  CHECK(graphs.tree.pattern == Pattern::Tree);
  REQUIRE(graphs.nvls);
  CHECK(line(*graphs.nvls) == "8x40.0/48.0 NVL/PIX");
}

TEST_CASE("a single H100 a node") {
  const GraphSet graphs = search(test::nic_per_gpu(1, 90, 18, 400000, gen5), NodeCount::Several);
  CHECK(line(graphs.ring) == "2x24.0/24.0 LOC/PIX");
  CHECK(line(graphs.tree) == "2x48.0/24.0 LOC/PIX");
  CHECK(graphs.tree.pattern == Pattern::Tree);
}

TEST_CASE("domains of NVLink over several hosts") {
  const GraphSet sixteen = search(test::grace_domain(16), NodeCount::One);
  CHECK(line(sixteen.ring) == "16x45.0/45.0 NVL/PIX");
  CHECK(line(sixteen.tree) == "16x40.0/40.0 NVL/PIX");
  REQUIRE(sixteen.nvls);
  CHECK(line(*sixteen.nvls) == "16x40.0/80.0 NVL/PIX");
  const GraphSet all = search(test::grace_domain(72), NodeCount::One);
  CHECK(line(all.ring) == "16x45.0/45.0 NVL/PIX");
  REQUIRE(all.nvls);
  CHECK(line(*all.nvls) == "32x20.0/40.0 NVL/PIX");
}

TEST_CASE("two domains of NVLink reach their NICs over the CPU") {
  const GraphSet graphs = search(test::grace_domain(72), NodeCount::Several);
  CHECK(line(graphs.ring) == "16x45.1/45.1 NVL/P2C");
  REQUIRE(graphs.nvls);
  CHECK(line(*graphs.nvls) == "32x20.0/40.0 NVL/P2C");
}

TEST_CASE("a tree that cannot be placed is one slow channel in the order of the file") {
  // A100 with a switch of their own each: the way from a NIC to the neighbour's GPU leads through the CPU, which is
  // worse than the worst way to a NIC, and sm80 knows no simpler tree.
  const GraphSet graphs = search(test::nic_per_gpu(8, 80, 12, 200000, gen4), NodeCount::Several);
  CHECK(graphs.ring.channels.size() == 8);
  CHECK(line(graphs.tree) == "1x0.1/0.1 SYS/SYS");
  CHECK(graphs.tree.channels[0].gpus == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(!graphs.nvls);
}

TEST_CASE("four GPUs on one CPU without switches share its links") {
  Machine machine{{test::intel_cpu(0, 143)}};
  for (int gpu = 0; gpu < 4; ++gpu) {
    machine.cpus[0].devices.emplace_back(test::gpu_device(16 * (gpu + 1), gpu, 86, 0, gen4));
  }
  // 24 GB/s less the sixth that an Intel CPU costs.
  CHECK(line(search(machine, NodeCount::One).ring) == "1x20.0/20.0 PHB/PIX");
}

TEST_CASE("variables of the search") {
  const Machine machine = test::nic_per_gpu(8, 90, 18, 400000, gen5);
  SearchOptions options;
  options.nvls_enable = false;
  CHECK(!search(machine, NodeCount::One, options).nvls);

  options.cross_nic = 0;
  const Graph stays = search(machine, NodeCount::Several, options).ring;
  CHECK(stays.cross_nic == 0);
  for (const GraphChannel& channel : stays.channels) {
    CHECK(channel.nic_in == channel.nic_out);
  }
  options.cross_nic = 1;
  CHECK(search(machine, NodeCount::Several, options).ring.cross_nic == 1);
}

TEST_CASE("without PXN rings of one rail have to pass the CPU") {
  SearchOptions search_options;
  search_options.cross_nic = 0;
  DetectOptions options;
  options.pxn_disable = true;
  const Machine machine = test::nic_per_gpu(8, 90, 18, 400000, gen5);
  CHECK(search(machine, NodeCount::Several, search_options).ring.type_inter == PathType::Pxn);
  CHECK(search(machine, NodeCount::Several, search_options, options).ring.type_inter >=
        PathType::Phb);
}

TEST_CASE("CollNet takes network devices that reduce in the network") {
  Machine machine = test::nic_per_gpu(8, 90, 18, 400000, gen5);
  SearchOptions options;
  CHECK(!search(machine, NodeCount::Several, options).collnet_chain);
  options.collnet_enable = true;
  CHECK(!search(machine, NodeCount::Several, options).collnet_chain);
  CHECK(!search(machine, NodeCount::Several, options).collnet_direct);
  test::let_nets_reduce(machine);
  const GraphSet graphs = search(machine, NodeCount::Several, options);
  REQUIRE(graphs.collnet_chain);
  CHECK(line(*graphs.collnet_chain) == line(graphs.tree));
  // Each GPU heads one channel and sends all of it to the others, and gets a seventh of each of the seven
  // others: 2 · 48 GB/s of 370.8.
  REQUIRE(graphs.collnet_direct);
  CHECK(line(*graphs.collnet_direct) == "8x48.0/48.0 NVL/PIX");
  CHECK(graphs.collnet_direct->channels[2].gpus == std::vector<int>{2, 0, 1, 3, 4, 5, 6, 7});
}

TEST_CASE("a given graph replaces the search, and the tree follows its ring") {
  const Machine machine = test::nic_per_gpu(8, 90, 18, 0, gen5);
  SearchOptions options;
  Graph ring = search(machine, NodeCount::One).ring;
  ring.channels.resize(3);
  options.given_ring = ring;
  const GraphSet graphs = search(machine, NodeCount::One, options);
  CHECK(graphs.ring.channels.size() == 3);
  CHECK(graphs.tree.channels.size() == 3);
  // An empty one is as good as none.
  options.given_ring->channels.clear();
  CHECK(search(machine, NodeCount::One, options).ring.channels.size() == 12);
}

TEST_CASE("every ring visits every GPU once, and every head is another GPU") {
  for (const int gpus : {2, 3, 5, 6, 7}) {
    for (const NodeCount nodes : {NodeCount::One, NodeCount::Several}) {
      const GraphSet graphs = search(test::nic_per_gpu(gpus, 90, 18, 400000, gen5), nodes);
      for (const Graph* graph : {&graphs.ring, &graphs.tree}) {
        for (const GraphChannel& channel : graph->channels) {
          const std::set<int> visited(channel.gpus.begin(), channel.gpus.end());
          CHECK(visited.size() == static_cast<std::size_t>(gpus));
          CHECK(channel.nic_in.has_value() == (nodes == NodeCount::Several));
        }
      }
      REQUIRE(graphs.nvls);
      std::set<int> heads;
      for (const GraphChannel& channel : graphs.nvls->channels) {
        heads.insert(channel.gpus.front());
      }
      CHECK(heads.size() == graphs.nvls->channels.size());
    }
  }
}

}  // namespace collsim::nccl
