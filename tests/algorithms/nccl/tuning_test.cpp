#include "algorithms/nccl/tuning.hpp"

#include <string>

#include "tests/algorithms/nccl/reference_machines.hpp"
#include "tests/catch.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

using test::a100;
using test::constants_of;
using test::h100;
using test::ReferenceMachine;

using A = Algorithm;
using F = Function;
using P = Protocol;

}  // namespace

// "latency/bandwidth" of NCCL 2.28.9 itself, as its tuning log has them.
TEST_CASE("tuning: one node of 8 H100") {
  const ReferenceMachine machine = h100(1);
  CHECK(machine.row(F::AllReduce, A::Tree) == "15.2/43.6 31.5/128.8 64.4/165.6");
  CHECK(machine.row(F::AllReduce, A::Ring) == "15.0/80.6 40.6/189.3 56.0/205.7");
  CHECK(machine.cell(F::AllReduce, A::Nvls, P::Simple) == "25.0/272.0");
  for (const F function : {F::AllGather, F::ReduceScatter}) {
    CHECK(machine.row(function, A::Ring) == "10.8/161.1 27.3/378.5 32.2/411.4");
    CHECK(machine.cell(function, A::Nvls, P::Simple) == "25.0/208.2");
  }
  for (const F function : {F::Broadcast, F::Reduce}) {
    CHECK(machine.row(function, A::Ring) == "7.2/141.0 15.9/331.2 11.8/360.0");
  }
}

TEST_CASE("tuning: fewer GPUs of the node") {
  struct Case {
    int gpus;
    float nvls;
    std::string ring;
    std::string switched;
  };
  const std::vector<Case> cases{
      {2, 60, "15.2/360.0", "25.0/102.0"}, {3, 60, "22.0/270.0", "25.0/135.0"},
      {4, 60, "28.8/240.0", "25.0/160.0"}, {5, 60, "35.6/225.0", "25.0/187.5"},
      {6, 50, "42.4/216.0", "25.0/216.0"}, {7, 40, "49.2/210.0", "25.0/238.0"}};
  for (const Case& each : cases) {
    INFO(each.gpus);
    const ReferenceMachine machine = test::few_h100(each.gpus, each.nvls);
    CHECK(machine.cell(F::AllReduce, A::Ring, P::Simple) == each.ring);
    CHECK(machine.cell(F::AllReduce, A::Nvls, P::Simple) == each.switched);
  }
}

TEST_CASE("tuning: several nodes of 8 H100") {
  const ReferenceMachine two = h100(2);
  CHECK(two.row(F::AllReduce, A::Tree) == "25.2/16.6 48.5/124.8 92.4/140.8");
  CHECK(two.row(F::AllReduce, A::Ring) == "40.0/20.8 75.2/156.6 131.6/204.8");
  CHECK(two.cell(F::AllReduce, A::NvlsTree, P::Simple) == "66.8/246.2");
  CHECK(two.row(F::AllGather, A::Ring) == "23.3/41.6 44.6/313.2 70.0/409.6");
  CHECK(two.row(F::Broadcast, A::Ring) == "49.8/39.0 78.0/293.6 232.4/384.0");

  const ReferenceMachine three = h100(3);
  CHECK(three.row(F::AllReduce, A::Tree) == "25.2/8.7 48.5/98.6 92.4/122.4");
  CHECK(three.cell(F::AllReduce, A::NvlsTree, P::Simple) == "66.8/189.9");

  const ReferenceMachine sixteen = h100(16);
  CHECK(sixteen.row(F::AllReduce, A::Tree) == "55.2/8.7 99.5/98.6 176.4/122.4");
  CHECK(sixteen.row(F::AllReduce, A::Ring) == "311.6/10.3 559.6/148.0 1190.0/193.5");
  CHECK(sixteen.cell(F::AllReduce, A::NvlsTree, P::Simple) == "192.2/183.4");
  CHECK(sixteen.row(F::AllGather, A::Ring) == "159.1/20.6 286.8/295.9 599.2/387.0");
}

TEST_CASE("tuning: A100 on AMD") {
  CHECK(a100(1).row(F::AllReduce, A::Ring) == "15.0/50.1 40.6/126.2 56.0/137.1");
  CHECK(a100(2).row(F::AllReduce, A::Ring) == "68.0/12.0 78.0/85.3 204.4/102.4");
  CHECK(a100(2).row(F::AllReduce, A::Tree) == "25.2/11.2 48.5/80.0 92.4/94.4");
  CHECK(a100(4).row(F::AllReduce, A::Ring) == "134.8/9.8 150.0/82.6 428.4/99.1");
  CHECK(a100(16).row(F::AllReduce, A::Tree) == "55.2/9.5 99.5/66.8 176.4/71.2");
}

TEST_CASE("tuning: NVLink domains of a rack") {
  CHECK(test::nvlink_domain(16).cell(F::AllReduce, A::Nvls, P::Simple) == "25.0/473.6");
  CHECK(test::nvlink_domain(36).cell(F::AllReduce, A::Nvls, P::Simple) == "25.0/471.9");
  const ReferenceMachine rack = test::nvlink_domain(72);
  CHECK(rack.cell(F::AllReduce, A::Nvls, P::Simple) == "25.0/465.3");
  CHECK(rack.row(F::AllReduce, A::Ring) == "91.8/143.0 283.8/335.9 491.2/365.1");
  CHECK(rack.row(F::AllGather, A::Ring) == "49.2/286.0 148.9/671.7 249.8/730.1");

  const ReferenceMachine two = test::two_nvl72();
  CHECK(two.cell(F::AllReduce, A::Ring, P::Simple) == "1002.0/363.3");
  CHECK(two.row(F::AllReduce, A::Tree) == "102.0/19.5 208.5/253.4 604.4/331.9");
  CHECK(two.cell(F::AllReduce, A::NvlsTree, P::Simple) == "66.8/462.0");
}

TEST_CASE("tuning: one GPU a node") {
  const ReferenceMachine eight = test::single_h100(8);
  CHECK(eight.row(F::AllReduce, A::Ring) == "76.6/11.7 133.0/25.2 204.4/27.4");
  CHECK(eight.row(F::AllReduce, A::Tree) == "36.8/4.9 65.0/17.6 92.4/18.8");
  CHECK(eight.cell(F::AllGather, A::Pat, P::Simple) == "42.4/36.0");
  CHECK(eight.row(F::AllGather, A::Ring) == "41.6/23.3 73.5/50.5 106.4/54.9");
  CHECK(test::single_h100(2).cell(F::AllGather, A::Pat, P::Simple) == "17.6/72.0");
}

TEST_CASE("tuning: GPUs on PCIe have no LL128") {
  CHECK(test::pcie4().row(F::AllReduce, A::Ring) ==
        "12.6/6.7 LL128 needs NVLink between the GPUs 42.6/13.3");
  CHECK(test::pcie4().row(F::AllReduce, A::Tree) ==
        "12.8/2.4 LL128 needs NVLink between the GPUs 32.4/9.2");
}

// A log of NCCL 2.29.2 on 4 H100 without usable Ring and Tree: latencies stand there all the same.
TEST_CASE("tuning: an excluded entry keeps the latency that NCCL logs") {
  ReferenceMachine machine = test::few_h100(4, 60);
  machine.set("NCCL_ALGO", "NVLS");
  const auto latency = [&machine](F function, A algorithm, P protocol) {
    return test::one_decimal(
        static_cast<double>(machine.entry(function, algorithm, protocol).latency));
  };
  CHECK(latency(F::AllReduce, A::Tree, P::LL) == "10.4");
  CHECK(latency(F::AllReduce, A::Ring, P::LL128) == "25.4");
  CHECK(latency(F::AllReduce, A::CollNetDirect, P::LL) == "2.4");
  CHECK(latency(F::AllReduce, A::CollNetDirect, P::Simple) == "40.8");
  CHECK(latency(F::AllReduce, A::CollNetChain, P::Simple) == "46.8");
  CHECK(latency(F::AllReduce, A::NvlsTree, P::Simple) == "25.0");
  CHECK(latency(F::Broadcast, A::Tree, P::LL) == "0.0");
  CHECK(latency(F::AllReduce, A::Nvls, P::LL) == "0.0");
  CHECK(machine.entry(F::AllReduce, A::Ring, P::LL).bandwidth == 0);
}

TEST_CASE("tuning: NICs with a latency cost it once, with Simple twice") {
  ReferenceMachine machine = h100(2);
  // 2·(7·0.6 + 1·(5.0 + 10)) + 6.8 and 2·(7·4 + 1·(14 + 20)) + 8.4.
  machine.graphs.tree.latency_inter = 10;
  CHECK(machine.entry(F::AllReduce, A::Tree, P::LL).latency == Approx(45.2F));
  CHECK(machine.entry(F::AllReduce, A::Tree, P::Simple).latency == Approx(132.4F));
}

TEST_CASE("tuning: a ring over several nodes pays the CPU's network overhead") {
  ReferenceMachine machine = h100(2);
  const auto latency = [&machine] { return machine.entry(F::AllGather, A::Ring, P::LL).latency; };
  // 6.6 + 14 · max(0.6, overhead) + 1 · 2.7.
  CHECK(latency() == Approx(23.3F));
  machine.communicator.cpu_vendor = HostVendor::Amd;
  CHECK(latency() == Approx(37.3F));
  machine.communicator.cpu_architecture = HostArchitecture::Arm;
  CHECK(latency() == Approx(23.3F));
  machine.set("NCCL_NET_OVERHEAD", "500");
  CHECK(latency() == Approx(6.6F + 14 * 0.6F + 2.7F));
  machine.set("NCCL_NET_OVERHEAD", "3000");
  CHECK(latency() == Approx(6.6F + 14 * 3.0F + 2.7F));
}

TEST_CASE("tuning: LL over several nodes is limited by the CPU's vendor") {
  ReferenceMachine machine = h100(2);
  const auto ll = [&machine] { return machine.cell(F::AllReduce, A::Ring, P::LL); };
  CHECK(ll() == "40.0/20.8");  // 39.0 · 16/30
  machine.communicator.cpu_vendor = HostVendor::Mixed;
  CHECK(ll() == "40.0/12.0");  // 22.5 · 16/30
  machine.communicator.cpu_vendor = HostVendor::Zhaoxin;
  CHECK(ll() == "40.0/20.8");
}

TEST_CASE("tuning: POWER hosts count Tree's Simple hop over PCIe as Ring's") {
  ReferenceMachine machine = test::pcie4();
  CHECK(machine.entry(F::AllReduce, A::Tree, P::Simple).latency == Approx(8.4F + 6 * 4.0F));
  machine.communicator.cpu_architecture = HostArchitecture::Power;
  CHECK(machine.entry(F::AllReduce, A::Tree, P::Simple).latency == Approx(8.4F + 6 * 5.7F));
}

// CollNet figures follow from the formulas: 8 search channels of 60 GB/s for the chain, 8 heads of
// 40 GB/s for direct, N = 2, n = 16.
TEST_CASE("tuning: CollNet") {
  ReferenceMachine machine = h100(2);
  test::add_collnet(machine, 8, {true, true});
  // Chain: 8·60/2; 2·7·2.8 + 30.
  CHECK(machine.cell(F::AllReduce, A::CollNetChain, P::Simple) == "69.2/240.0");
  // Direct: 8·40, one GPU a NIC, ·0.85 for sm 90, /2; 2·(3.7 + 7·0.4) + 31.
  CHECK(machine.cell(F::AllReduce, A::CollNetDirect, P::Simple) == "44.0/136.0");
  // AG: ranks per node · min(40, 0.9 · 48).
  CHECK(machine.cell(F::AllGather, A::CollNetDirect, P::Simple) == "44.0/320.0");
  // NVLS over the network: min(40·0.85·7/8·2, 48) · 8 · 16/30; 25 + 18.
  CHECK(machine.cell(F::AllReduce, A::Nvls, P::Simple) == "43.0/204.8");
  machine.communicator.min_sm = 80;
  CHECK(machine.cell(F::AllReduce, A::CollNetDirect, P::Simple) == "44.0/160.0");
  machine.graphs.collnet_direct->channels.resize(4);
  // 4·40, two GPUs a NIC count as 1.5, /2.
  CHECK(machine.cell(F::AllReduce, A::CollNetDirect, P::Simple) == "44.0/53.3");
}

TEST_CASE("tuning: nothing is modelled for one rank") {
  ReferenceMachine machine = h100(1);
  machine.communicator.ranks = 1;
  CHECK(machine.cell(F::AllReduce, A::Ring, P::LL) == "one rank has nothing to choose");
}

// Figures of NCCL 2.27.7 itself.
TEST_CASE("tuning: NVLS up to 2.27") {
  ReferenceMachine machine = h100(1);
  machine.constants = constants_of("2.27.7");
  CHECK(machine.cell(F::AllReduce, A::Nvls, P::Simple) == "25.0/266.7");
  CHECK(machine.cell(F::AllGather, A::Nvls, P::Simple) == "25.0/280.0");
  CHECK(machine.row(F::AllReduce, A::Ring) == "15.0/80.6 40.6/189.3 56.0/205.7");
  machine = h100(2);
  machine.constants = constants_of("2.27.7");
  CHECK(machine.cell(F::AllReduce, A::NvlsTree, P::Simple) == "53.0/266.7");
  machine = h100(4);
  machine.constants = constants_of("2.27.7");
  CHECK(machine.cell(F::AllReduce, A::NvlsTree, P::Simple) == "81.0/160.0");
}

TEST_CASE("tuning: AllGather with NVLS and CollNet up to 2.26") {
  ReferenceMachine machine = h100(1);
  machine.constants = constants_of("2.26");
  CHECK(machine.cell(F::AllGather, A::Nvls, P::Simple) == "25.0/320.0");  // 8 · min(40, 60)
  machine.constants = constants_of("2.22");
  CHECK(machine.cell(F::AllGather, A::Nvls, P::Simple) == "25.0/266.7");  // · 5/6
  machine.constants = constants_of("2.20");
  CHECK(machine.cell(F::AllGather, A::Nvls, P::Simple) == "23.0/266.7");

  ReferenceMachine network = h100(2);
  network.constants = constants_of("2.26");
  test::add_collnet(network, 8, {true, true});
  CHECK(network.cell(F::AllGather, A::CollNetDirect, P::Simple) == "44.0/272.0");  // 8·40·0.85
  // One rank a node: 40 · 0.95; no local peers, but Tree's latency over the network: 14.
  network = test::single_h100(2);
  network.constants = constants_of("2.26");
  test::add_collnet(network, 1, {true, true});
  CHECK(network.cell(F::AllGather, A::CollNetDirect, P::Simple) == "14.0/38.0");
}

// 2·7·28 + 0 and 14·0.6 + 6.6; LL: up to 2.20 a quarter of 360 · 8/14, capped at 87.7.
TEST_CASE("tuning: versions before 2.23") {
  ReferenceMachine machine = h100(1);
  machine.constants = constants_of("2.22");
  CHECK(machine.entry(F::AllReduce, A::Tree, P::Simple).latency == Approx(392.0F));
  CHECK(machine.cell(F::AllReduce, A::Ring, P::LL) == "15.0/80.6");
  machine.constants = constants_of("2.20");
  CHECK(machine.cell(F::AllReduce, A::Ring, P::LL) == "15.0/50.1");  // 87.7 · 8/14
  CHECK(machine.entry(F::AllReduce, A::Nvls, P::Simple).latency == Approx(23.0F));
  machine.graphs.ring.bandwidth_intra = 15;                          // 180 of all
  CHECK(machine.cell(F::AllReduce, A::Ring, P::LL) == "15.0/25.7");  // 45 · 8/14
  CHECK(machine.cell(F::AllGather, A::Ring, P::LL) == "10.8/68.6");  // 60 · 8/7
  CHECK(machine.cell(F::Reduce, A::Ring, P::LL) == "7.2/45.0");
  machine.constants = constants_of("2.18");
  CHECK(machine.entry(F::AllReduce, A::Tree, P::Simple).latency == Approx(2 * 7 * 4.0F));
  CHECK(machine.entry(F::AllReduce, A::Nvls, P::Simple).latency == Approx(23.0F));

  ReferenceMachine single = test::single_h100(2);
  for (const char* version : {"2.20", "2.22"}) {
    INFO(version);
    single.constants = constants_of(version);
    // 6.6 + (2 - 4)·1.0 + 4·2.7: the model counts as many network hops as nodes, twice.
    CHECK(single.entry(F::AllReduce, A::Ring, P::LL).latency == Approx(6.6F - 2 + 10.8F));
    // 14 + (2 - 4)·2.5 + 4·4.0; 0.7 · 48.
    CHECK(single.cell(F::AllReduce, A::Ring, P::LL128) == "25.0/33.6");
  }
}

// The table that NCCL 2.7.3 logged on three A100 of a node with NVSwitch: 12 rings of 21 GB/s.
TEST_CASE("tuning: the rings of 2.7") {
  ReferenceMachine machine = test::a100(1);
  machine.communicator.ranks = 3;
  machine.communicator.max_ranks_per_node = 3;
  machine.graphs.ring.channels.resize(12);
  machine.graphs.ring.bandwidth_intra = 21;
  machine.constants = constants_of("2.7");
  CHECK(machine.row(F::Reduce, A::Ring) == "4.1/58.0 11.9/144.0 11.8/231.8");
  CHECK(machine.row(F::AllGather, A::Ring) == "4.5/115.9 13.8/319.9 15.2/347.8");
  CHECK(machine.row(F::ReduceScatter, A::Ring) == "4.5/115.9 13.8/273.6 15.2/347.8");
  CHECK(machine.row(F::AllReduce, A::Ring) == "5.5/43.5 17.6/150.3 22.0/173.9");
}

// Tables of NCCL 2.29.2 and the tags that follow.
TEST_CASE("tuning: Blackwell's ring with LL128 changed in 2.29.2 and 2.29.7") {
  ReferenceMachine machine = test::nvlink_domain(8);
  machine.graphs.ring.channels.resize(16);
  const auto busy = [&machine](const std::string& version) {
    machine.constants = constants_of(version);
    return test::one_decimal(
        static_cast<double>(machine.entry(F::Broadcast, A::Ring, P::LL128).bandwidth));
  };
  CHECK(busy("2.28.9") == "662.4");  // 0.92 · 720
  CHECK(busy("2.29.2") == "552.0");  // 16 · 34.5
  CHECK(busy("2.29.7") == "640.0");  // 16 · 40
}

}  // namespace collsim::nccl
