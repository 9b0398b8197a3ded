// How sends and receives are dealt to rounds, channels, batches, lanes and warps.

#include "algorithms/nccl/send_recv_program.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/algorithms/nccl/send_recv_machines.hpp"
#include "tests/algorithms/program_laws.hpp"
#include "tests/catch.hpp"

using namespace collsim;
using namespace collsim::nccl;
using nccl::test::call_of;
using nccl::test::h100;
using nccl::test::h100_nodes;
using nccl::test::ReferenceMachine;

namespace {

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = kib * 1024;
constexpr std::int64_t gib = mib * 1024;

std::unique_ptr<Program> program_of(const ReferenceMachine& machine, CollectiveKind kind,
                                    std::int64_t bytes,
                                    EqualChannels equal = EqualChannels::Apart) {
  const CollectiveCall call = call_of(kind, machine.communicator.ranks, bytes);
  return build_send_recv_program(send_recv_plan(machine.input(), call), equal);
}

/// How many lanes of a rank are of each sort: "Copy Simple 608".
std::map<std::string, int> lane_sorts(const Program& program, Rank rank) {
  std::map<std::string, int> sorts;
  for (std::uint32_t number = 0; number < program.lane_count(rank); ++number) {
    const Lane lane = program.lane(rank, number);
    const Step step = program.step(rank, number, 0);
    const std::string kind = step.sends.count > 0      ? "Send"
                             : step.receives.count > 0 ? "Receive"
                                                       : "Copy";
    ++sorts[kind + " " + std::string(name_of(lane.protocol)) + " " + std::to_string(lane.threads)];
  }
  return sorts;
}

using Sorts = std::map<std::string, int>;

/// By multiplicity: how many channels of a rank have it.
std::map<std::uint32_t, int> multiplicities(const Program& program, Rank rank) {
  std::map<std::uint32_t, std::uint32_t> by_channel;
  for (std::uint32_t number = 0; number < program.lane_count(rank); ++number) {
    const Lane lane = program.lane(rank, number);
    by_channel[lane.channel] = lane.multiplicity;
  }
  std::map<std::uint32_t, int> counts;
  for (const auto& [channel, multiplicity] : by_channel) {
    ++counts[multiplicity];
  }
  return counts;
}

}  // namespace

// A block has 20 warps. One work alone: 9 receive and 10 send, one of which posts; a copy has all 19.
TEST_CASE("send/recv program: 8 GPUs serve a peer on four channels each") {
  const auto program = program_of(h100(1), CollectiveKind::AllToAll, mib);
  CHECK(program->algorithm() == "nccl-p2p");
  CHECK(program->channels() == 32);
  CHECK(program->chunks() == 1);  // parts of 256 KiB in slots of 512 KiB
  CHECK(program->transfer_count() == 8 * 7 * 4);
  for (const Rank rank : {Rank(0), Rank(5)}) {
    CHECK(lane_sorts(*program, rank) ==
          Sorts{{"Copy Simple 608", 4}, {"Receive Simple 288", 28}, {"Send Simple 288", 28}});
  }
  const Lane lane = program->lane(Rank(0), 0);
  CHECK(lane.fifo_depth == 8U);
  CHECK(lane.kernel == Kernel::SendRecv);
  CHECK(lane.group == lane.channel);
  CHECK(lane.multiplicity == 1);
}

// 512 KiB are the last of LL: nobody posts, so all 10 warps of the send write.
TEST_CASE("send/recv program: LL moves a part in chunks of 32 KiB of data") {
  const auto program = program_of(h100(1), CollectiveKind::AllToAll, 512 * kib);
  CHECK(program->chunks() == 4);  // parts of 128 KiB
  CHECK(lane_sorts(*program, Rank(3)) ==
        Sorts{{"Copy Simple 608", 4}, {"Receive LL 288", 28}, {"Send LL 320", 28}});
}

// Four parts of 12 KiB (33 KiB / 4, rounded up to 4 KiB): the last is empty and still a message.
TEST_CASE("send/recv program: an empty part is one empty message") {
  const auto program = program_of(h100(1), CollectiveKind::AllToAll, 33 * kib);
  CHECK(program->transfer_count() == 8 * 7 * 4);
  std::map<std::int64_t, int> messages;  // by bytes
  for (std::uint32_t number = 0; number < program->lane_count(Rank(0)); ++number) {
    const Step step = program->step(Rank(0), number, 0);
    messages[step.bytes.count()] += static_cast<int>(step.sends.count);
  }
  CHECK(messages == std::map<std::int64_t, int>{{0, 7}, {9 * kib, 7}, {12 * kib, 14}});
}

// A lone send or receive has the warps of both. The root serves each peer on four channels.
TEST_CASE("send/recv program: gather and scatter") {
  const auto gather = program_of(h100(1), CollectiveKind::Gather, mib);
  CHECK(lane_sorts(*gather, Rank(0)) == Sorts{{"Copy Simple 608", 4}, {"Receive Simple 608", 28}});
  CHECK(lane_sorts(*gather, Rank(1)) == Sorts{{"Send Simple 576", 4}});
  CHECK(gather->transfer_count() == 7 * 4);
  const auto scatter = program_of(h100(1), CollectiveKind::Scatter, mib);
  CHECK(lane_sorts(*scatter, Rank(0)) == Sorts{{"Copy Simple 608", 4}, {"Send Simple 576", 28}});
  CHECK(lane_sorts(*scatter, Rank(1)) == Sorts{{"Receive Simple 608", 4}});

  CollectiveCall in_place = call_of(CollectiveKind::Gather, 8, mib);
  in_place.in_place = InPlace::Yes;
  const auto program =
      build_send_recv_program(send_recv_plan(h100(1).input(), in_place), EqualChannels::Apart);
  CHECK(lane_sorts(*program, Rank(0)) == Sorts{{"Receive Simple 608", 28}});
}

// Two nodes: 16 channels, 1 for each peer, and the 8 rounds of a group on the same. A group of 8 has
// 2 warps a work: 1 sends, 1 receives. Inside the node 16 KiB go by LL, over the network by Simple.
TEST_CASE("send/recv program: the eight rounds of a group share a block") {
  const auto program = program_of(h100(2), CollectiveKind::AllToAll, 16 * kib);
  CHECK(program->channels() == 2);
  CHECK(lane_sorts(*program, Rank(9)) == Sorts{{"Copy Simple 64", 1},
                                               {"Receive LL 32", 7},
                                               {"Receive Simple 32", 8},
                                               {"Send LL 32", 7},
                                               {"Send Simple 32", 8}});
}

// 32 nodes: 32 groups on 16 channels, so each channel has two batches; 64 KiB go by Simple to all,
// so that a place in the batch is one lane each way. The own block is on the first channel alone.
TEST_CASE("send/recv program: a batch begins when the one before is complete") {
  const auto program = program_of(h100(32), CollectiveKind::AllToAll, 64 * kib);
  CHECK(program->channels() == 16);
  const Rank rank(77);
  CHECK(program->lane_count(rank) == 16 * 16 + 1);
  int joins = 0;
  for (std::uint32_t number = 0; number < program->lane_count(rank); ++number) {
    const Lane lane = program->lane(rank, number);
    std::uint64_t phase = 0;
    for (std::uint64_t index = 0; index < program->step_count(rank, number); ++index) {
      const Step step = program->step(rank, number, index);
      CHECK(step.phase <= 1);
      // A lane that has nothing in the first batch begins with the join.
      CHECK(step.join.has_value() == (step.phase != phase));
      if (step.join) {
        CHECK(*step.join == lane.group);
        ++joins;
      }
      phase = step.phase;
    }
  }
  CHECK(joins == 16 * 16);
}

// One node of 72: 72 rounds, a part each, on 32 channels: a channel has the rounds k, k + 32 and, for
// 8 of them, k + 64. Up to 2.28 they share a block: 6 warps each for three of them (2 receive, 3 send,
// one of which posts), 10 for two (4 receive, 5 send). From 2.29 on they follow each other.
TEST_CASE("send/recv program: rounds of different eights side by side or not") {
  ReferenceMachine machine = nccl::test::nvlink_domain(72);
  const auto together = program_of(machine, CollectiveKind::AllToAll, mib);
  CHECK(lane_sorts(*together, Rank(70)) == Sorts{{"Copy Simple 160", 1},
                                                 {"Receive Simple 64", 8 * 3 - 1},
                                                 {"Send Simple 64", 8 * 3 - 1},
                                                 {"Receive Simple 128", 24 * 2},
                                                 {"Send Simple 128", 24 * 2}});
  machine.constants = nccl::test::constants_of("2.30");
  const auto apart = program_of(machine, CollectiveKind::AllToAll, mib);
  CHECK(lane_sorts(*apart, Rank(70)) ==
        Sorts{{"Copy Simple 608", 1}, {"Receive Simple 288", 32}, {"Send Simple 288", 32}});
}

// 128 groups on 16 channels: 8 batches of 8. Nothing grows with the square of the ranks.
TEST_CASE("send/recv program: 1,024 ranks have as many lanes as a block has places") {
  const auto program = program_of(h100(128), CollectiveKind::AllToAll, 64 * kib);
  // Inside the node one chunk of 128 KiB at most, over the network chunks of 32 KiB.
  CHECK(program->transfer_count() == 1024 * (7 + 1016 * 2));
  std::set<std::uint32_t> counts;
  for (std::uint32_t rank = 0; rank < 1024; ++rank) {
    counts.insert(program->lane_count(Rank(rank)));
  }
  CHECK(counts == std::set<std::uint32_t>{16 * 16 + 1});
  const auto gather = program_of(h100(128), CollectiveKind::Gather, 64 * kib);
  CHECK(gather->lane_count(Rank(1)) == 1);
}

// 32 parts of 32 MiB, one a channel: all channels are equal.
TEST_CASE("send/recv program: equal channels are joined") {
  const auto program = program_of(h100(1), CollectiveKind::AllToAll, gib, EqualChannels::Joined);
  CHECK(multiplicities(*program, Rank(6)) == std::map<std::uint32_t, int>{{32, 1}});
  CHECK(program->channels() == 32);
  CHECK(program->transfer_count() == 8 * 7 * 64);
  // One peer on four channels, the next on four others.
  const auto small = program_of(h100(1), CollectiveKind::AllToAll, mib, EqualChannels::Joined);
  CHECK(multiplicities(*small, Rank(6)) == std::map<std::uint32_t, int>{{4, 8}});
  // The last part is shorter: 3 · 260 KiB + 248 KiB.
  const auto uneven =
      program_of(h100(1), CollectiveKind::AllToAll, mib + 4 * kib, EqualChannels::Joined);
  CHECK(multiplicities(*uneven, Rank(6)) == std::map<std::uint32_t, int>{{1, 8}, {3, 8}});
  // Apart, all 32 are there.
  const auto apart = program_of(h100(1), CollectiveKind::AllToAll, gib);
  CHECK(multiplicities(*apart, Rank(6)) == std::map<std::uint32_t, int>{{1, 32}});
}

// Groups of 2. Rank 0 sends to its neighbour in round 1 and receives from rank 3, of the other group
// and one local rank back, in round 2 + 1; rank 1 the reverse.
TEST_CASE("send/recv plan: the rounds of send_recv") {
  const ReferenceMachine machine = h100_nodes(2, 2);
  const SendRecvPlan plan =
      send_recv_plan(machine.input(), call_of(CollectiveKind::SendRecv, 4, mib));
  CHECK(rounds_of(plan, Rank(0)) == std::vector<RoundWork>{{1, true, false}, {3, false, true}});
  CHECK(rounds_of(plan, Rank(1)) == std::vector<RoundWork>{{1, false, true}, {3, true, false}});

  const SendRecvPlan one =
      send_recv_plan(h100(1).input(), call_of(CollectiveKind::SendRecv, 8, mib));
  CHECK(rounds_of(one, Rank(7)) == std::vector<RoundWork>{{1, true, true}});
}
