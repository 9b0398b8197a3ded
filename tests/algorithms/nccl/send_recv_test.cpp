// How sends and receives are cut, and in which order a rank serves its peers.

#include "algorithms/nccl/send_recv.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/nccl/p2p_schedule.hpp"
#include "tests/algorithms/nccl/reference_machines.hpp"
#include "tests/catch.hpp"

namespace collsim::nccl {

namespace {

using test::h100;
using test::ReferenceMachine;

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = kib * 1024;
constexpr std::int64_t gib = mib * 1024;

/// "Simple 4 x 262144 in 524288".
std::string send(const ReferenceMachine& machine, std::int64_t bytes, PeerIs peer) {
  const SendRecvShape result =
      send_recv_shape(machine.input(), execution_channels(machine.input()), bytes, peer);
  return std::string(name(result.protocol)) + " " + std::to_string(result.parts) + " x " +
         std::to_string(result.part) + " in " + std::to_string(result.chunk);
}

std::string partners(const std::vector<P2pRound>& rounds) {
  std::string text;
  for (const P2pRound& round : rounds) {
    text += (text.empty() ? "" : " ") + std::to_string(round.send_to.value()) + "/" +
            std::to_string(round.receive_from.value());
  }
  return text;
}

}  // namespace

// 8 H100: 32 channels a peer at most, 4 where all 8 peers are served at once.
TEST_CASE("send and receive: inside a node") {
  ReferenceMachine machine = h100(1);
  CHECK(send_recv_slot(machine.input()) == 512 * kib);
  CHECK(send(machine, mib, PeerIs::Local) == "Simple 4 x 262144 in 524288");
  CHECK(send(machine, 512 * kib, PeerIs::Local) == "LL 4 x 131072 in 32768");
  CHECK(send(machine, 512 * kib + 1, PeerIs::Local) == "Simple 4 x 135168 in 524288");
  // Parts of at least 8 KiB for LL, 64 KiB for Simple.
  CHECK(send(machine, 8 * kib, PeerIs::Local) == "LL 1 x 8192 in 32768");
  CHECK(send(machine, 8 * kib + 1, PeerIs::Local) == "LL 2 x 8192 in 32768");
  CHECK(send(machine, 0, PeerIs::Local) == "LL 1 x 0 in 32768");
  // Parts of more than 32 slots are doubled up to all channels of a peer.
  CHECK(send(machine, 64 * mib + 1, PeerIs::Local) == "Simple 8 x 8392704 in 524288");
  CHECK(send(machine, gib, PeerIs::Local) == "Simple 32 x 33554432 in 524288");
  machine.set("NCCL_P2P_LL_THRESHOLD", "0");
  CHECK(send(machine, 1, PeerIs::Local) == "Simple 1 x 1 in 524288");
  machine.set("NCCL_P2P_NVL_CHUNKSIZE", "262144");
  CHECK(send(machine, mib, PeerIs::Local) == "Simple 4 x 262144 in 262144");
  machine.communicator.all_nvlink = false;
  CHECK(send_recv_slot(machine.input()) == 128 * kib);
  machine.set("NCCL_P2P_PCI_CHUNKSIZE", "65536");
  CHECK(send_recv_slot(machine.input()) == 64 * kib);
  machine.set("NCCL_BUFFSIZE", "131072");
  CHECK(send_recv_slot(machine.input()) == 16 * kib);
}

// 32 channels a peer: parts of whole 2 MiB, however few they are; no LL.
TEST_CASE("send and receive: in 2.7") {
  ReferenceMachine machine = test::a100(1);
  machine.constants = test::constants_of("2.7");
  CHECK(send(machine, 1, PeerIs::Local) == "Simple 1 x 1 in 524288");
  CHECK(send(machine, 2 * mib, PeerIs::Local) == "Simple 1 x 2097152 in 524288");
  CHECK(send(machine, 2 * mib + 1, PeerIs::Local) == "Simple 2 x 2097152 in 524288");
  CHECK(send(machine, 48 * mib, PeerIs::Local) == "Simple 24 x 2097152 in 524288");
  CHECK(send(machine, 64 * mib, PeerIs::Local) == "Simple 32 x 2097152 in 524288");
  CHECK(send(machine, 96 * mib, PeerIs::Local) == "Simple 24 x 4194304 in 524288");
}

// Two nodes: 16 channels, 2 a peer, 1 where all 16 peers are served at once; slots of 128 KiB.
TEST_CASE("send and receive: over the network") {
  ReferenceMachine machine = h100(2);
  CHECK(send(machine, mib, PeerIs::Remote) == "Simple 2 x 524288 in 131072");
  CHECK(send(machine, mib - 1, PeerIs::Remote) == "Simple 2 x 524288 in 65536");
  CHECK(send(machine, 128 * kib, PeerIs::Remote) == "Simple 1 x 131072 in 65536");
  CHECK(send(machine, 128 * kib - 1, PeerIs::Remote) == "Simple 1 x 131071 in 32768");
  CHECK(send(machine, 32 * kib, PeerIs::Local) == "LL 1 x 32768 in 32768");
  machine.set("NCCL_ALLOC_P2P_NET_LL_BUFFERS", "1");
  // 2 channels a peer: up to 32 KiB. Less than 8 slots of the wire: half the chunk.
  CHECK(send(machine, 32 * kib, PeerIs::Remote) == "LL 1 x 32768 in 16384");
  CHECK(send(machine, 32 * kib + 1, PeerIs::Remote) == "Simple 1 x 32769 in 32768");
  machine.set("NCCL_P2P_NET_CHUNKSIZE", "262144");
  CHECK(send(machine, gib, PeerIs::Remote) == "Simple 2 x 536870912 in 262144");
  machine.set("NCCL_CHUNK_SIZE", "100000");
  CHECK(send(machine, gib, PeerIs::Remote) == "Simple 2 x 536870912 in 98304");
}

// From 2.29 on: parts as for Simple first, of at least 64 KiB; LL up to 16 KiB a channel used.
TEST_CASE("send and receive: the threshold of LL from 2.29 on") {
  ReferenceMachine machine = h100(1);
  machine.constants = test::constants_of("2.29.7");
  CHECK(send(machine, 16 * kib, PeerIs::Local) == "LL 1 x 16384 in 32768");
  CHECK(send(machine, 16 * kib + 1, PeerIs::Local) == "Simple 1 x 16385 in 524288");
  CHECK(send(machine, 64 * kib + 1, PeerIs::Local) == "Simple 2 x 36864 in 524288");
}

TEST_CASE("send and receive: a chunk keeps its four leading bits") {
  CHECK(eight_bit_float(131072) == 131072);
  CHECK(eight_bit_float(15) == 15);
  CHECK(eight_bit_float(16) == 16);
  CHECK(eight_bit_float(17) == 16);
  CHECK(eight_bit_float(100000) == 98304);  // 1100 0011 0101 0000 0 → 1100 and 13 zeros
}

TEST_CASE("send and receive: rounds begin at channels with reversed bits") {
  const ReferenceMachine one = h100(1);
  const Channels channels = execution_channels(one.input());
  std::vector<int> first;
  for (int round = 0; round < 8; ++round) {
    first.push_back(send_recv_channel(one.input(), channels, round, 0));
  }
  // Five bits: 0 → 0, 1 → 16, 2 → 8, 3 → 24, … : eight peers of four channels each, disjoint.
  CHECK(first == std::vector<int>{0, 16, 8, 24, 4, 20, 12, 28});
  CHECK(send_recv_channel(one.input(), channels, 7, 3) == 31);
  CHECK(send_recv_channel(one.input(), channels, 7, 4) == 0);

  const ReferenceMachine two = h100(2);
  const Channels few = execution_channels(two.input());
  CHECK(send_recv_channel(two.input(), few, 7, 0) == 0);  // the whole group shares a block
  CHECK(send_recv_channel(two.input(), few, 8, 0) == 8);  // 1 of four bits
  CHECK(send_recv_channel(two.input(), few, 15, 1) == 9);
}

TEST_CASE("schedule: groups are visited at triangular distances") {
  CHECK(group_distances(16) ==
        std::vector<int>{0, 1, 3, 6, 10, 15, 5, 12, 4, 13, 7, 2, 14, 11, 9, 8});
  CHECK(group_distances(1) == std::vector<int>{0});
  CHECK(group_distances(3) == std::vector<int>{0, 1, 2});  // of 0 1 3 2 without 3
}

TEST_CASE("schedule: the node first, then the other one, rail by rail") {
  const ReferenceMachine machine = h100(2);
  CHECK(partners(p2p_schedule(machine.communicator, machine.configuration, Rank(1))) ==
        "1/1 2/0 3/7 4/6 5/5 6/4 7/3 0/2 9/9 10/8 11/15 12/14 13/13 14/12 15/11 8/10");
}

TEST_CASE("schedule: groups") {
  ReferenceMachine machine = h100(1);
  const auto size = [&machine] {
    return p2p_group_size(machine.communicator, machine.configuration);
  };
  CHECK(size() == 8);
  machine = test::nvlink_domain(72);
  CHECK(size() == 72);
  machine = test::two_nvl72();
  CHECK(size() == 8);
  machine.set("NCCL_P2P_SCHEDULE_GROUP_SIZE", "16");
  CHECK(size() == 8);  // gcd(16, 72)
  machine = test::single_h100(4);
  CHECK(size() == 1);
}

TEST_CASE("schedule: every rank meets every other once, and both ends agree on the round") {
  for (const int nodes : {1, 2, 3, 5}) {
    ReferenceMachine machine = h100(nodes);
    machine.communicator.max_ranks_per_node = 6;
    machine.communicator.ranks = 6 * nodes;
    const int ranks = machine.communicator.ranks;
    const P2pSchedule schedule(
        static_cast<std::uint32_t>(ranks),
        static_cast<std::uint32_t>(p2p_group_size(machine.communicator, machine.configuration)));
    std::vector<std::vector<P2pRound>> all;
    for (int rank = 0; rank < ranks; ++rank) {
      all.push_back(p2p_schedule(machine.communicator, machine.configuration, Rank(rank)));
    }
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      std::vector<bool> met(all.size(), false);
      REQUIRE(all[rank].size() == all.size());
      for (std::size_t round = 0; round < all[rank].size(); ++round) {
        const Rank peer = all[rank][round].send_to;
        met[peer.index()] = true;
        CHECK(all[peer.index()][round].receive_from == Rank(rank));
        CHECK(schedule.round_of(Rank(rank), peer) == round);
      }
      CHECK(std::count(met.begin(), met.end(), true) == ranks);
    }
  }
}

}  // namespace collsim::nccl
