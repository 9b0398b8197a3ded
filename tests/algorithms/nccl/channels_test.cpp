#include "algorithms/nccl/channels.hpp"

#include <algorithm>

#include "tests/algorithms/nccl/reference_machines.hpp"
#include "tests/catch.hpp"

namespace collsim::nccl {

namespace {

using test::a100;
using test::h100;
using test::ReferenceMachine;

std::vector<ExecutionChannel> collective(const ReferenceMachine& machine) {
  return execution_channels(machine.input()).collective;
}

}  // namespace

// Figures of NCCL 2.28.9 itself: collective / NVLS / send-recv / per peer.
TEST_CASE("channels: those of known machines") {
  CHECK(h100(1).channels() == "24/16/32/32");
  CHECK(h100(2).channels() == "16/16/16/2");
  CHECK(h100(4).channels() == "16/16/16/2");
  CHECK(h100(8).channels() == "16/16/16/1");
  CHECK(a100(1).channels() == "24/0/32/32");
  CHECK(a100(2).channels() == "16/0/16/2");
  CHECK(test::nvlink_domain(72).channels() == "32/24/32/32");
  CHECK(test::two_nvl72().channels() == "32/32/32/1");
  CHECK(test::single_h100(8).channels() == "4/0/4/2");
  CHECK(test::pcie4().channels() == "2/0/2/2");
}

TEST_CASE("channels: each search channel runs twice, with either tree") {
  const std::vector<ExecutionChannel> channels = collective(h100(2));
  REQUIRE(channels.size() == 16);
  CHECK(channels[0] == ExecutionChannel{0, 0});
  CHECK(channels[7] == ExecutionChannel{7, 0});
  CHECK(channels[8] == ExecutionChannel{0, 1});
  CHECK(channels[15] == ExecutionChannel{7, 1});
}

TEST_CASE("channels: doubling stops at the version's limit") {
  ReferenceMachine machine = h100(1);
  machine.graphs.ring.channels.resize(32, machine.graphs.ring.channels.front());
  machine.graphs.tree.channels.resize(32, machine.graphs.tree.channels.front());
  machine.configuration.nvls = Switch::Off;
  CHECK(collective(machine).size() == 64);
  machine.constants = test::constants_of("2.24");
  CHECK(collective(machine).size() == 32);
}

TEST_CASE("channels: ring and tree have as many search channels as the one with fewer") {
  ReferenceMachine machine = h100(1);
  machine.graphs.tree.channels.resize(1);
  CHECK(search_channels(machine.graphs) == 1);
  CHECK(collective(machine).size() == 2);
}

TEST_CASE("channels: CollNet adds half as many where its chain is faster inside a node") {
  ReferenceMachine machine = h100(2);
  test::add_collnet(machine, 8, {});
  CHECK(collective(machine).size() == 24);
  CHECK(collective(machine)[16] == ExecutionChannel{0, 0});

  machine.graphs.collnet_chain->bandwidth_intra = machine.graphs.collnet_chain->bandwidth_inter;
  CHECK(collective(machine).size() == 16);
  machine.graphs.collnet_chain->bandwidth_intra += 1;
  machine.configuration.collnet_nodes = 3;  // too few nodes for CollNet
  CHECK(collective(machine).size() == 16);
  machine.configuration.collnet_nodes = 2;
  machine.configuration.collnet = false;
  CHECK(collective(machine).size() == 16);
}

TEST_CASE("channels: fast search channels of sm 90 are doubled again up to 16") {
  ReferenceMachine machine = h100(2);
  machine.graphs.ring.channels.resize(4);
  machine.graphs.tree.channels.resize(4);
  CHECK(collective(machine).size() == 16);

  SECTION("not at 45 GB/s") {
    machine.graphs.ring.bandwidth_intra = 45;
    CHECK(collective(machine).size() == 8);
  }
  SECTION("not below sm 90") {
    machine.communicator.min_sm = 89;
    CHECK(collective(machine).size() == 8);
  }
  SECTION("not on one node") {
    machine.communicator.nodes = 1;
    CHECK(collective(machine).size() == 8);
  }
  SECTION("not from 16 on") {
    machine = h100(2);
    CHECK(collective(machine).size() == 16);
  }
}

TEST_CASE("channels: a network that unpacks on the GPU doubles them up to 16") {
  ReferenceMachine machine = a100(2);
  machine.graphs.ring.channels.resize(4);
  machine.graphs.tree.channels.resize(4);
  CHECK(collective(machine).size() == 8);
  machine.communicator.unpacking_network = true;
  CHECK(collective(machine).size() == 16);
  machine.communicator.nodes = 1;
  CHECK(collective(machine).size() == 8);
}

TEST_CASE("channels: the greatest number is applied before the least, which copies") {
  ReferenceMachine machine = h100(2);
  machine.set("NCCL_MAX_NCHANNELS", "3");
  CHECK(collective(machine).size() == 3);
  machine.set("NCCL_MIN_NCHANNELS", "8");
  const std::vector<ExecutionChannel> channels = collective(machine);
  REQUIRE(channels.size() == 8);
  CHECK(channels[3] == ExecutionChannel{0, 0});
  CHECK(channels[5] == ExecutionChannel{2, 0});
  CHECK(channels[7] == ExecutionChannel{1, 0});
}

TEST_CASE("channels: CTAs bound them like channels, and NVLS, too") {
  ReferenceMachine machine = h100(2);
  machine.set("NCCL_MAX_CTAS", "4");
  CHECK(machine.channels() == "4/4/4/1");
  machine.set("NCCL_MAX_CTAS", "64").set("NCCL_MIN_CTAS", "20");
  CHECK(machine.channels() == "20/20/32/2");
}

TEST_CASE("channels: NVLS has its own number") {
  ReferenceMachine machine = h100(1);
  CHECK(nvls_setup(machine.input()).channels == 16);
  machine.set("NCCL_NVLS_NCHANNELS", "8");
  CHECK(nvls_setup(machine.input()).channels == 8);
  machine.set("NCCL_NVLS_ENABLE", "0");
  CHECK(nvls_setup(machine.input()).channels == 0);

  machine = h100(1);
  machine.communicator.supports_nvls = false;
  CHECK(nvls_setup(machine.input()).channels == 0);
  machine.set("NCCL_NVLS_ENABLE", "1");
  CHECK(nvls_setup(machine.input()).channels == 16);
  machine.graphs.nvls->channels.clear();
  CHECK(nvls_setup(machine.input()).channels == 0);
}

// Release note of 2.28: at most 16 instead of 32 channels on several nodes of Blackwell.
TEST_CASE("channels: up to 2.27 there are at least as many as NVLS channels") {
  ReferenceMachine machine = h100(2);
  machine.communicator.min_sm = 100;
  machine.communicator.max_sm = 100;
  CHECK(machine.channels() == "16/32/16/2");
  machine.constants = test::constants_of("2.27");
  CHECK(machine.channels() == "32/32/32/2");
  // NVLS is not set up for two ranks of a node.
  machine.communicator.max_ranks_per_node = 2;
  CHECK(machine.channels() == "16/32/16/2");
}

TEST_CASE("channels: from 2.30 on NVLS on several nodes of sm 100 follows the NICs") {
  constexpr std::int64_t kib = 1024;
  struct Case {
    int nodes;
    int ranks;
    float nic;
    PathType path;
    NvlsSetup expected;
  };
  // NCCL 2.30.7, src/transport/nvls.cc: what each of its branches sets.
  const std::vector<Case> cases{
      {2, 4, 48, PathType::Pxn, {32, 256 * kib, 256 * kib}},
      {2, 5, 48, PathType::Pxn, {32, 128 * kib, 128 * kib}},
      {2, 8, 48, PathType::Pxb, {32, 128 * kib, 64 * kib}},
      {2, 8, 96, PathType::Pxb, {32, 128 * kib, 128 * kib}},
      {2, 16, 48, PathType::Pxn, {32, 128 * kib, 64 * kib}},
      {3, 8, 96, PathType::Pxn, {24, 256 * kib, 256 * kib}},
      {3, 9, 96, PathType::Pxn, {32, 128 * kib, 128 * kib}},
      {3, 32, 96, PathType::Pxn, {32, 128 * kib, 64 * kib}},
      {3, 8, 48, PathType::Pxn, {24, 128 * kib, 128 * kib}},
      {3, 8, 48, PathType::Pxb, {24, 128 * kib, 64 * kib}},
      {3, 8, 47, PathType::Pxb, {32, 128 * kib, 128 * kib}},
      {4, 8, 47, PathType::Pxb, {32, 128 * kib, 64 * kib}},
  };
  for (const Case& each : cases) {
    INFO(each.nodes << " nodes of " << each.ranks << ", " << each.nic << " GB/s");
    ReferenceMachine machine = h100(each.nodes);
    machine.communicator.min_sm = 100;
    machine.communicator.min_ranks_per_node = each.ranks;
    machine.communicator.slowest_nic = each.nic;
    machine.graphs.nvls->type_inter = each.path;
    machine.constants = test::constants_of("2.30");
    const NvlsSetup setup = nvls_setup(machine.input());
    CHECK(setup.channels == each.expected.channels);
    CHECK(setup.chunk == each.expected.chunk);
    CHECK(setup.tree_chunk == each.expected.tree_chunk);
  }
}

TEST_CASE("channels: those of send and receive are a power of two within their bounds") {
  ReferenceMachine machine = h100(1);
  machine.set("NCCL_MAX_P2P_NCHANNELS", "5");
  CHECK(machine.channels() == "24/16/8/8");
  machine.set("NCCL_MAX_P2P_NCHANNELS", "64").set("NCCL_MIN_P2P_NCHANNELS", "33");
  CHECK(machine.channels() == "24/16/64/64");  // a peer: 2 · 18 links, rounded up
}

TEST_CASE("channels: a peer on the node has two for each parallel NVLink") {
  ReferenceMachine machine = h100(1);
  machine.communicator.local_paths = {{PathType::Nvl, 61.8F, 20.6F},
                                      {PathType::Nvl, 370.8F, 20.6F}};
  CHECK(machine.channels() == "24/16/32/8");  // 2 · 3 links of the weakest pair, rounded up
  machine.communicator.local_paths = {{PathType::Nvb, 61.8F, 20.6F}};
  CHECK(machine.channels() == "24/16/32/2");
  machine.constants = test::constants_of("2.29.7");
  CHECK(machine.channels() == "24/16/32/8");
  machine.communicator.local_paths = {{PathType::Pix, 24.0F, 0.0F}};
  CHECK(machine.channels() == "24/16/32/2");
}

TEST_CASE("channels: a remote peer has two, fewer in large communicators, at least its NICs") {
  // Halved while 2 · ranks > 4 · 16 channels: at 40 ranks, not at 32.
  CHECK(h100(4).channels() == "16/16/16/2");
  CHECK(h100(5).channels() == "16/16/16/1");
  ReferenceMachine machine = h100(5);
  machine.communicator.nics = {{4, 192.0F}};
  CHECK(machine.channels() == "16/16/16/4");
  machine.set("NCCL_NCHANNELS_PER_NET_PEER", "3");
  CHECK(machine.channels() == "16/16/16/4");  // rounded up
}

TEST_CASE("channels: from 2.29 on a remote peer has one for each 14 GB/s of its NICs") {
  ReferenceMachine machine = h100(2);
  machine.constants = test::constants_of("2.29.7");
  // ceil(48 / 14) = 4, a power of two; 4 · ceil(16 / 8) = 8 channels in one round of 16.
  CHECK(machine.channels() == "16/16/16/4");
  machine.communicator.nics = {{0, 0.0F}};
  CHECK(machine.channels() == "16/16/16/2");
  // 64 ranks are 8 batches: 4 · 8 and 2 · 8 channels against 16.
  ReferenceMachine large = h100(8);
  large.constants = test::constants_of("2.29.7");
  CHECK(large.channels() == "16/16/16/2");
  large.set("NCCL_NCHANNELS_PER_NET_PEER", "8");
  CHECK(large.channels() == "16/16/16/8");
}

}  // namespace collsim::nccl
