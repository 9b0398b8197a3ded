// What NCCL's transports make of its programs: shapes that follow from the topology and the program alone.
// Nothing but the wire costs time here; sizes are such that latencies are below the tolerance.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/nccl/io/find_constants.hpp"
#include "algorithms/nccl/machine_of_node.hpp"
#include "sim/collective_run.hpp"
#include "study/nccl_job.hpp"
#include "tests/catch.hpp"
#include "tests/shared_data.hpp"
#include "topology/io/load.hpp"

using namespace collsim;
using namespace collsim::literals;

namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

ConfigPath shipped() { return ConfigPath{{test::source_path("configs").string()}}; }

Cluster described(const std::string& yaml) {
  return build_cluster(parse_cluster(yaml, "x.yaml", {}, shipped()));
}

/// A shipped cluster with so many nodes.
Cluster of_nodes(const std::string& name, int nodes) {
  return build_cluster(
      load_cluster(name, {parse_setting("nodes=" + std::to_string(nodes))}, shipped()));
}

nccl::Decisions decisions_of(const Cluster& cluster, const Variables& variables) {
  nccl::DecisionInput input;
  input.machine = nccl::machine_of_node(cluster, NodeId(0));
  input.nodes = static_cast<int>(cluster.graph().nodes());
  input.constants = nccl::find_constants(shipped(), "2.28");
  for (const auto& [name, value] : variables) {
    nccl::parse_variable(input.configuration, name, value);
  }
  return nccl::Decisions(input);
}

/// What is run: NCCL's program of that name, in Simple.
struct Wanted {
  CollectiveKind kind = CollectiveKind::AllReduce;
  std::string algorithm;
  Bytes bytes;
  Variables variables{};
};

CollectiveResult run(const Cluster& cluster, const Wanted& wanted) {
  const auto all = cluster.graph().gpus();
  CollectiveJob job;
  job.gpus = {all.begin(), all.end()};
  job.call = call_for_size(wanted.kind, static_cast<std::uint32_t>(all.size()), wanted.bytes,
                           DataType::Float32);
  job.algorithm = wanted.algorithm;
  NcclWish wish;
  wish.algorithm = find_nccl_algorithm(wanted.algorithm).algorithm;
  if (wish.algorithm) {
    wish.protocol = nccl::Protocol::Simple;
  }
  job.programs = {
      nccl_program(decisions_of(cluster, wanted.variables), {}, job.call, wish, ChannelsRun::Joined)
          .program};
  // A new set is free; with it, proxies send while their lanes go on.
  const CostParameters free;
  RunOptions options;
  options.costs = &free;
  return run_collective(cluster, job, options);
}

double seconds(const CollectiveResult& result) {
  return static_cast<double>(result.time.count()) * 1e-12;
}

/// The bytes that crossed the link of that name.
double carried(const Cluster& cluster, const CollectiveResult& result, const std::string& link) {
  for (std::size_t i = 0; i < result.links.size(); ++i) {
    if (cluster.graph().name(LinkId(i)) == link) {
      return static_cast<double>(whole_bytes(result.links[i]));
    }
  }
  FAIL("no link " << link);
  return 0;
}

/// The bytes that left each node by its NICs.
std::vector<double> sent_by_nodes(const Cluster& cluster, const CollectiveResult& result) {
  const Graph& graph = cluster.graph();
  std::vector<double> sent(graph.nodes());
  for (std::size_t i = 0; i < result.links.size(); ++i) {
    const Link& link = graph.link(LinkId(i));
    const Device& source = graph.device(link.source);
    if (source.kind == DeviceKind::Nic && graph.device(link.target).node != source.node) {
      sent[source.node->index()] += static_cast<double>(whole_bytes(result.links[i]));
    }
  }
  return sent;
}

Approx about(double value) { return Approx(value).epsilon(0.02); }
Approx exactly(double value) { return Approx(value).epsilon(1e-6); }

constexpr double mebibyte = 1 << 20;

/// Nodes of one GPU and one NIC below a switch, all over 25 GB/s.
std::string pairs_below_a_switch(int nodes) {
  return R"(name: x
nodes: )" +
         std::to_string(nodes) + R"(
node:
  name: x
  gpus: 1
  compute_capability: 8.0
  devices:
    - { name: pcie-switch, kind: pcie-switch }
    - { name: cpu, kind: cpu, processor: { vendor: intel, family: 6, model: 106 } }
    - { name: nic, kind: nic }
  links:
    - { from: gpu, to: pcie-switch, kind: pcie, bandwidth: 25 GB/s, latency: 100 ns }
    - { from: nic, to: pcie-switch, kind: pcie, bandwidth: 25 GB/s, latency: 100 ns }
    - { from: pcie-switch, to: cpu, kind: pcie, bandwidth: 25 GB/s, latency: 100 ns }
fabric:
  kind: single-switch
  routing: static
  link: { kind: infiniband, bandwidth: 200 Gb/s, latency: 30 ns }
)";
}

/// Nodes of 8 GPUs on NVSwitch with one NIC, beside the first two GPUs.
std::string one_nic_for_all(int nodes) {
  return R"(name: x
nodes: )" +
         std::to_string(nodes) + R"(
node:
  name: x
  gpus: 8
  compute_capability: 8.0
  devices:
    - { name: nvswitch, kind: nvswitch }
    - { name: pcie-switch, kind: pcie-switch, count: 4 }
    - { name: cpu, kind: cpu, processor: { vendor: intel, family: 6, model: 106 } }
    - { name: nic, kind: nic }
  links:
    - { from: gpu, to: nvswitch, kind: nvlink, bonded: 12, bandwidth: 300 GB/s, latency: 100 ns }
    - { from: gpu, to: pcie-switch, connect: grouped, kind: pcie, bandwidth: 31.5 GB/s, latency: 100 ns }
    - { from: nic, to: pcie-switch0, kind: pcie, bandwidth: 31.5 GB/s, latency: 100 ns }
    - { from: pcie-switch, to: cpu, connect: all, kind: pcie, bandwidth: 31.5 GB/s, latency: 100 ns }
fabric:
  kind: single-switch
  routing: static
  link: { kind: infiniband, bandwidth: 200 Gb/s, latency: 30 ns }
)";
}

/// GPUs each at a root port, half of them at each of two CPUs (all at the first one if they are two).
std::string gpus_at_root_ports(int gpus) {
  return R"(name: x
node:
  name: x
  gpus: )" +
         std::to_string(gpus) + R"(
  compute_capability: 8.0
  devices:
    - { name: cpu, kind: cpu, count: 2, processor: { vendor: intel, family: 6, model: 85 } }
  links:
    - { from: gpu, to: )" +
         (gpus == 2 ? "cpu0, connect: all" : "cpu, connect: grouped") +
         R"(, kind: pcie, bandwidth: 31.5 GB/s, latency: 100 ns }
    - { from: cpu, to: cpu, connect: mesh, kind: socket, bandwidth: 20.8 GB/s, latency: 80 ns }
)";
}

}  // namespace

// Every ring crosses the border of every node once, and each of its edges carries 2 (n-1)/n of its part;
// all-gather's (n-1)/n.
TEST_CASE("rings send 2S(n-1)/n out of every node, all-gather half of it") {
  const Cluster cluster = of_nodes("dgx-h100-x4", 4);
  const double bytes = 256 * mebibyte;
  const double share = 31.0 / 32;
  const CollectiveResult reduced = run(cluster, {CollectiveKind::AllReduce, "nccl-ring", 256_MiB});
  for (const double sent : sent_by_nodes(cluster, reduced)) {
    CHECK(sent == exactly(2 * share * bytes));
  }
  const CollectiveResult gathered = run(cluster, {CollectiveKind::AllGather, "nccl-ring", 256_MiB});
  for (const double sent : sent_by_nodes(cluster, gathered)) {
    CHECK(sent == exactly(share * bytes));
  }
}

// Each of the two trees has half of the data and N-1 edges between nodes, and an edge carries them up and
// down: (N-1) S in all for a tree, so 2 (N-1) S. At N = 2 a node sends S, by either algorithm.
TEST_CASE("trees between nodes send S out of each of two nodes, and 2(N-1)S in all") {
  for (const char* const algorithm : {"nccl-tree", "nvls-tree"}) {
    for (const int nodes : {2, 4}) {
      INFO(algorithm << " on " << nodes);
      const Cluster cluster = of_nodes("dgx-h100-x4", nodes);
      const CollectiveResult result = run(cluster, {CollectiveKind::AllReduce, algorithm, 64_MiB});
      double all = 0;
      for (const double sent : sent_by_nodes(cluster, result)) {
        all += sent;
        if (nodes == 2) {
          CHECK(sent == exactly(64 * mebibyte));
        }
      }
      CHECK(all == exactly(2 * (nodes - 1) * 64 * mebibyte));
    }
  }
}

// A rank has a block of S/n for each of the n-8 ranks of other nodes, and each NIC is that of the rail of
// one receiver in each node.
TEST_CASE(
    "all-to-all sends p(n-p) blocks out of every node, equally by all NICs, and is bound by them") {
  const Cluster cluster = of_nodes("dgx-h100-x4", 4);
  const CollectiveResult result = run(cluster, {CollectiveKind::AllToAll, "nccl-p2p", 64_MiB});
  const double block = 64 * mebibyte / 32;
  for (const double sent : sent_by_nodes(cluster, result)) {
    CHECK(sent == exactly(8 * 24 * block));
  }
  CHECK(carried(cluster, result, "node2.nic5 -> switch") == exactly(24 * block));
  // 50 GB/s a NIC. What starts late or ends early costs at most as much again.
  const double bound = 24 * block / 50e9;
  CHECK(seconds(result) >= bound);
  CHECK(seconds(result) < 2 * bound);
}

// 8 rings, each in another order, whose first GPU receives from the NIC. Two rails in turn: the last GPU
// leaves by its own NIC, so of 8 rings a GPU receives 7 over NVLink, each 2S(n-1)/n / 8. One rail: the last
// GPU sends over NVLink to the first, too, which makes it 8; what goes on to the NIC is the same.
TEST_CASE("a ring leaving through PXN loads the NVLink of the GPU that it leaves by") {
  const Cluster cluster = of_nodes("dgx-h100-x4", 2);
  const double ring = 2.0 * 15 / 16 * 256 * mebibyte;
  const auto run_with = [&](const char* cross_nic) {
    return run(cluster,
               {CollectiveKind::AllReduce, "nccl-ring", 256_MiB, {{"NCCL_CROSS_NIC", cross_nic}}});
  };
  const CollectiveResult own = run_with("2");
  const CollectiveResult relayed = run_with("0");
  for (const std::string link : {"node0.nvswitch -> node0.gpu3", "node1.nvswitch -> node1.gpu3"}) {
    CHECK(carried(cluster, own, link) == exactly(7.0 / 8 * ring));
    CHECK(carried(cluster, relayed, link) == exactly(ring));
  }
  CHECK(carried(cluster, own, "node0.gpu0 -> node0.pcie-switch0") == exactly(ring / 8));
  CHECK(carried(cluster, relayed, "node0.gpu0 -> node0.pcie-switch0") == exactly(ring / 8));
}

// 8 NICs of 50 GB/s; 2S(n-1)/n out of each node. The trees send only S.
TEST_CASE("a ring over two nodes is bound by the NICs, and trees are faster than that bound") {
  const Cluster cluster = of_nodes("dgx-h100-x4", 2);
  const double bytes = 1024 * mebibyte;
  const double bound = 2.0 * 15 / 16 * bytes / 400e9;
  const auto time_of = [&](const char* algorithm) {
    return seconds(run(cluster, {CollectiveKind::AllReduce, algorithm, 1_GiB}));
  };
  const double ring = time_of("nccl-ring");
  CHECK(ring >= bound);
  CHECK(ring == Approx(bound).epsilon(0.05));
  CHECK(time_of("nccl-tree") < bound);
  CHECK(time_of("nvls-tree") < bound);
}

// S leaves and S enters each node. With GPUDirect RDMA both cross each link once, at 25 GB/s. Through
// memory both go up to the CPU and down again, one after the other on either direction of its one link.
TEST_CASE(
    "without GPUDirect RDMA a NIC that shares its switch's link to the CPU has half its rate") {
  const Cluster cluster = described(pairs_below_a_switch(2));
  const double bytes = 256 * mebibyte;
  const CollectiveResult direct = run(cluster, {CollectiveKind::AllReduce, "nccl-ring", 256_MiB});
  CHECK(seconds(direct) == about(bytes / 25e9));
  CHECK(carried(cluster, direct, "node0.pcie-switch -> node0.cpu") == 0);
  const CollectiveResult bounced = run(
      cluster, {CollectiveKind::AllReduce, "nccl-ring", 256_MiB, {{"NCCL_NET_GDR_LEVEL", "LOC"}}});
  CHECK(carried(cluster, bounced, "node0.pcie-switch -> node0.cpu") == exactly(2 * bytes));
  CHECK(carried(cluster, bounced, "node0.cpu -> node0.pcie-switch") == exactly(2 * bytes));
  CHECK(carried(cluster, bounced, "node0.nic -> switch") == exactly(bytes));
  CHECK(seconds(bounced) == about(2 * bytes / 25e9));
}

// All rings leave by it: 2S(n-1)/n at 25 GB/s.
TEST_CASE("8 GPUs on one NIC have its rate") {
  const Cluster cluster = described(one_nic_for_all(2));
  const double through = 2.0 * 15 / 16 * 64 * mebibyte;
  const CollectiveResult result = run(cluster, {CollectiveKind::AllReduce, "nccl-ring", 64_MiB});
  CHECK(carried(cluster, result, "node0.nic -> switch") == exactly(through));
  CHECK(seconds(result) == Approx(through / 25e9).epsilon(0.05));
}

// Blocks of S/n. Two GPUs of one CPU exchange one block each: S/2 over 31.5 GB/s. With four at each of two
// CPUs, 4 · 4 blocks of S/8 go each way over the socket link: 2 S over 20.8 GB/s, 6.06 times as long. Or
// as nccl-tests counts, S/t (n-1)/n: less than a third of the rate.
TEST_CASE("8 PCIe GPUs behind two sockets fall far below 2") {
  const auto time_of = [](int gpus) {
    const Cluster cluster = described(gpus_at_root_ports(gpus));
    return seconds(run(cluster, {CollectiveKind::AllToAll, "nccl-p2p", 64_MiB}));
  };
  const double two = time_of(2);
  const double eight = time_of(8);
  CHECK(two == about(32 * mebibyte / 31.5e9));
  CHECK(eight >= 128 * mebibyte / 20.8e9);
  CHECK(eight == Approx(128 * mebibyte / 20.8e9).epsilon(0.1));
}

// What a switched-off P2P does: the bytes of the NVLinks go over PCIe and through the CPU.
TEST_CASE("GPUs without P2P use no NVLink") {
  const Cluster cluster = of_nodes("dgx-a100-x4", 1);
  const CollectiveResult result =
      run(cluster, {CollectiveKind::AllReduce, "nccl-ring", 16_MiB, {{"NCCL_P2P_DISABLE", "1"}}});
  CHECK(carried(cluster, result, "gpu0 -> nvswitch") == 0);
  CHECK(carried(cluster, result, "gpu0 -> pcie-switch0") > 0);
}
