// Steps that leave data where others read them, and steps that read and write through a switch.

#include "tests/catch.hpp"
#include "tests/sim/costly_programs.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;
using Catch::Matchers::ContainsSubstring;

namespace {

const Lane multicast = lane_of(WireProtocol::Simple, Kernel::Multicast);

/// Bytes to the switch and from it, by rank.
struct Traffic {
  std::vector<std::int64_t> up;
  std::vector<std::int64_t> down;
  bool operator==(const Traffic&) const = default;
};

Traffic traffic_of(const Cluster& cluster, const RunResult& result, std::uint32_t ranks) {
  Traffic traffic;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::string gpu = "gpu" + std::to_string(rank);
    traffic.up.push_back(bytes_between(cluster, result, gpu, "switch"));
    traffic.down.push_back(bytes_between(cluster, result, "switch", gpu));
  }
  return traffic;
}

enum class Does { Reduce, Broadcast, Both };

/// Lane 1 of every head reads what lane 0 of the others has posted, and writes to lane 2 of all.
TableProgram through_switch(std::uint32_t ranks, std::uint32_t heads, Does what, Bytes bytes,
                            const Lane& lane = multicast) {
  TableProgram program = program_for(ranks);
  program.set_lanes(lane);
  for (std::uint32_t head = 0; head < heads; ++head) {
    const Rank self(head);
    StepMaker through = step(bytes).moves(Movement::Multimem).from(input(0_B)).to(output(0_B));
    for (std::uint32_t other = 0; other < ranks; ++other) {
      if (other == head) {
        continue;
      }
      if (what != Does::Broadcast) {
        const auto slot = program.connect({Rank(other), 0}, {self, 1});
        program.add(
            Rank(other), 0,
            step(bytes).moves(Movement::Post).from(input(0_B)).to(scratch(0_B)).send(slot.send));
      }
      if (what != Does::Reduce) {
        const auto slot = program.connect({self, 1}, {Rank(other), 2});
        program.add(Rank(other), 2, step(bytes).receive(slot.receive).to(output(0_B)));
      }
    }
    if (what != Does::Broadcast) {
      through.receive(0, ranks - 1);
    }
    if (what != Does::Reduce) {
      through.send(0, ranks - 1);
    }
    program.add(self, 1, through);
  }
  return program;
}

}  // namespace

TEST_CASE("what is posted moves no bytes and is seen after latency and hand-off") {
  CostParameters costs =
      costs_with({{CostItem::MulticastStage, us(8)}, {CostItem::MulticastHandoff, us(2)}});
  set_rate(costs, CostItem::MulticastCopyRate, 10_GBps);
  TableProgram program = program_for(2);
  program.set_lanes(multicast);
  const auto slot = program.connect({Rank(0), 0}, {Rank(1), 0});
  program.add(
      Rank(0), 0,
      step(100'000_B).moves(Movement::Post).from(input(0_B)).to(scratch(0_B)).send(slot.send));
  program.add(Rank(1), 0, step(100'000_B).receive(slot.receive).to(output(0_B)));
  const Cluster cluster(star(2));
  const RunResult result = run_on_all(cluster, std::move(program), paying(costs));
  // Each copies for 10 us, after its stage.
  CHECK(result.operations[0].time_of_rank ==
        std::vector<Duration>{us(18), us(18) + latency + us(2) + us(18)});
  CHECK(traffic_of(cluster, result, 2) == Traffic{{0, 0}, {0, 0}});
  CHECK(result.transfers == 0);
  CHECK(part_of(result, CostItem::MulticastCopyRate) == us(20));
  CHECK(part_of(result, CostItem::MulticastHandoff) == us(2));
  check_explained(result);
}

TEST_CASE("copies of one primitive synchronise once, and each is seen when it is done") {
  CostParameters costs = costs_with({{CostItem::MulticastStage, us(8)}});
  set_rate(costs, CostItem::MulticastCopyRate, 10_GBps);
  TableProgram program = program_for(3);
  program.set_lanes(multicast);
  for (std::uint32_t to = 1; to < 3; ++to) {
    const auto slot = program.connect({Rank(0), 0}, {Rank(to), 0});
    StepMaker copy = step(100'000_B).moves(Movement::Post).from(input(0_B)).to(scratch(0_B));
    copy.send(slot.send);
    program.add(Rank(0), 0, to == 1 ? copy : copy.continues());
    program.add(Rank(to), 0, step(0_B).receive(slot.receive));
  }
  Recorder recorder;
  RunOptions options = paying(costs);
  options.observer = &recorder;
  // The receivers have no use for the data: sizes that differ are none of a flag's business.
  CHECK_THROWS_WITH(run_on_all(Cluster(star(3)), std::move(program), options),
                    ContainsSubstring("receives 0 bytes, but the message from rank 0 has 100000"));
}

TEST_CASE("what a primitive posts is told to all peers at its end") {
  CostParameters costs = costs_with({{CostItem::MulticastHandoff, us(2)}});
  set_rate(costs, CostItem::MulticastCopyRate, 10_GBps);
  TableProgram program = program_for(3);
  program.set_lanes(multicast);
  const auto later = GENERATE(true, false);
  for (std::uint32_t to = 1; to < 3; ++to) {
    const auto slot = program.connect({Rank(0), 0}, {Rank(to), 0});
    StepMaker copy = step(100'000_B).moves(Movement::Post).from(input(0_B)).to(scratch(0_B));
    copy.send(slot.send);
    program.add(Rank(0), 0, to == 1 && later ? copy.posts_later() : copy);
    program.add(Rank(to), 0, step(100'000_B).receive(slot.receive));
  }
  const RunResult result = run_on_all(Cluster(star(3)), std::move(program), paying(costs));
  // Two copies of 10 us, and each receiver's.
  const Duration last = us(20) + latency + us(2) + us(10);
  CHECK(result.operations[0].time_of_rank ==
        std::vector<Duration>{us(20), later ? last : last - us(10), last});
  check_explained(result);
}

TEST_CASE("reading through a switch takes the bytes from all and brings them once") {
  const CostParameters free;
  const Cluster cluster(star(4));
  const RunResult result =
      run_on_all(cluster, through_switch(4, 1, Does::Reduce, 1000_B), paying(free));
  CHECK(traffic_of(cluster, result, 4) == Traffic{{1000, 1000, 1000, 1000}, {1000, 0, 0, 0}});
  // Posts take a latency, then the bytes flow over all links at once.
  CHECK(result.time == latency + wire(1000));
  CHECK(result.transfers == 1);
  check_explained(result);
}

TEST_CASE("writing through a switch takes the bytes once and brings them to all") {
  const CostParameters free;
  const Cluster cluster(star(4));
  const RunResult result =
      run_on_all(cluster, through_switch(4, 1, Does::Broadcast, 1000_B), paying(free));
  CHECK(traffic_of(cluster, result, 4) == Traffic{{1000, 0, 0, 0}, {1000, 1000, 1000, 1000}});
  CHECK(result.time == wire(1000) + latency);
  CHECK(result.transfers == 1);
  check_explained(result);
}

TEST_CASE("a head that reduces and writes has its links twice, the others once") {
  const CostParameters free;
  const Cluster cluster(star(4));
  const RunResult result =
      run_on_all(cluster, through_switch(4, 1, Does::Both, 1000_B), paying(free));
  CHECK(traffic_of(cluster, result, 4) ==
        Traffic{{2000, 1000, 1000, 1000}, {2000, 1000, 1000, 1000}});
  CHECK(result.time == latency + 2 * wire(1000) + latency);
  CHECK(part_of(result, Cause::Wire) == 2 * wire(1000));
  check_explained(result);
}

TEST_CASE("where every rank is the head of its block, each link carries S + S/n each way") {
  // S = 4000: a link has 2 of its own block and one of each other: 5000 = S (1 + 1/4).
  const CostParameters free;
  const Cluster cluster(star(4));
  const RunResult result =
      run_on_all(cluster, through_switch(4, 4, Does::Both, 1000_B), paying(free));
  CHECK(traffic_of(cluster, result, 4) ==
        Traffic{{5000, 5000, 5000, 5000}, {5000, 5000, 5000, 5000}});
  // Four flows of equal rate share links that take 5 of it: 1000 bytes at a fifth of the rate.
  CHECK(result.time == latency + 5 * wire(1000) + latency);
  CHECK(part_of(result, Cause::Wire) == 2 * wire(1000));
  CHECK(part_of(result, Cause::Sharing) == 3 * wire(1000));
  check_explained(result);
}

TEST_CASE("a stage through the switch costs its synchronisation, and its messages a hand-off") {
  const CostParameters costs =
      costs_with({{CostItem::MulticastStage, us(8)}, {CostItem::MulticastHandoff, us(2)}});
  const Cluster cluster(star(2));
  const RunResult result =
      run_on_all(cluster, through_switch(2, 1, Does::Both, 1000_B), paying(costs));
  // Post, reduce and write, receive: a stage each, a hand-off between them.
  CHECK(result.time == us(24) + 2 * (latency + us(2)) + 2 * wire(1000));
  CHECK(part_of(result, CostItem::MulticastStage) == us(24));
  CHECK(part_of(result, CostItem::MulticastHandoff) == us(4));
  check_explained(result);
}

TEST_CASE("programs may read and write through a switch without a protocol") {
  const Cluster cluster(star(4));
  const RunResult result = run_on_all(cluster, through_switch(4, 1, Does::Both, 1000_B, Lane{}));
  CHECK(result.time == latency + 2 * wire(1000) + latency);
}

TEST_CASE("observers see the messages of a transfer through a switch one by one") {
  const CostParameters free;
  const Cluster cluster(star(4));
  Recorder recorder;
  RunOptions options = paying(free);
  options.observer = &recorder;
  run_on_all(cluster, through_switch(4, 1, Does::Both, 1000_B), options);
  CHECK(recorder.transfers.size() == 6);  // three posts, three written
  CHECK(std::ranges::count_if(recorder.transfers, [](const TransferRecord& transfer) {
          return transfer.from == Rank(0) && transfer.left == at(latency + 2 * wire(1000));
        }) == 3);
}

TEST_CASE("GPUs without a switch between them have no transfers through one") {
  const CostParameters free;
  CHECK_THROWS_WITH(
      run_on_all(Cluster(mesh(2)), through_switch(2, 1, Does::Both, 1000_B), paying(free)),
      ContainsSubstring("no switch joins gpu0 and gpu1 directly, as NVLink SHARP needs"));
}
