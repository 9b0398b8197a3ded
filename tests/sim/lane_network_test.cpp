// Messages between nodes of lanes with a protocol: staging, proxy, wire. Two nodes of GPUs with a NIC
// of 50 GB/s each way, so that a byte takes 20 ps there.

#include "tests/catch.hpp"
#include "tests/sim/costly_programs.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

/// Ranks 0 and 1 on node 0, rank 2 on node 1.
std::shared_ptr<const Communicator> two_and_one(const Cluster& cluster) {
  return gpus(cluster, {0, 1, 8});
}

Duration latency_between(const Cluster& cluster, Rank from, Rank to) {
  const Communicator communicator = *two_and_one(cluster);
  return cluster.router().route(communicator[from.index()], communicator[to.index()]).latency;
}

const Lane simple = lane_of(WireProtocol::Simple);

/// Lane k of rank 0 sends `count` messages to lane k of rank 2, for so many lanes.
TableProgram over_network(const Lane& lane, Bytes bytes, int count, std::uint32_t lanes = 1) {
  TableProgram program = program_for(3);
  program.set_lanes(lane);
  for (std::uint32_t number = 0; number < lanes; ++number) {
    const auto slot = program.connect({Rank(0), number}, {Rank(2), number});
    for (int i = 0; i < count; ++i) {
      program.add(Rank(0), number, step(bytes).from(input(0_B)).send(slot.send));
      program.add(Rank(2), number, step(bytes).receive(slot.receive).to(output(0_B)));
    }
  }
  return program;
}

RunResult run_over_network(const Cluster& cluster, TableProgram program,
                           const RunOptions& options) {
  return run(cluster, {collective(std::move(program), two_and_one(cluster))}, options);
}

}  // namespace

TEST_CASE("a lane copies its message to the proxy and goes on") {
  // Copies of 10 us, 3 us of the proxy, 2 us on the wire: nothing waits for anything.
  CostParameters costs = costs_with({{CostItem::NetworkMessage, us(3)},
                                     {CostItem::SimpleHandoffNetwork, us(9)},
                                     {CostItem::SimpleSliceCopy, us(1)}});
  set_rate(costs, CostItem::SimpleChannelRate, 10_GBps);
  const Cluster cluster(dgx(2));
  const RunResult result =
      run_over_network(cluster, over_network(simple, 100'000_B, 2), paying(costs));
  const Duration arrival =
      us(22) + us(3) + us(2) + latency_between(cluster, Rank(0), Rank(2)) + us(9);
  CHECK(result.operations[0].time_of_rank == std::vector<Duration>{us(22), us(0), arrival + us(1)});
  CHECK(part_of(result, CostItem::SimpleChannelRate) == us(20));
  CHECK(part_of(result, CostItem::NetworkMessage) == us(3));
  CHECK(part_of(result, CostItem::SimpleHandoffNetwork) == us(9));
  CHECK(part_of(result, Cause::Wire) == us(2));
  CHECK(result.transfers == 2);
  check_explained(result);
}

TEST_CASE("a proxy works on all messages of its GPU side by side") {
  // Two of 3 us take 6 each; then both share the NIC: 4 us.
  const CostParameters costs = costs_with({{CostItem::NetworkMessage, us(3)}});
  const Cluster cluster(dgx(2));
  const RunResult result =
      run_over_network(cluster, over_network(simple, 100'000_B, 1, 2), paying(costs));
  CHECK(result.time == us(6) + us(4) + latency_between(cluster, Rank(0), Rank(2)));
  CHECK(part_of(result, CostItem::NetworkMessage) == us(6));
  CHECK(part_of(result, Cause::Wire) == us(2));
  CHECK(part_of(result, Cause::Sharing) == us(2));
  check_explained(result);
}

TEST_CASE("GPUs have proxies of their own") {
  const CostParameters costs = costs_with({{CostItem::NetworkMessage, us(3)}});
  const Cluster cluster(dgx(2));
  TableProgram program = program_for(3);
  program.set_lanes(simple);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const auto slot = program.connect({Rank(rank), 0}, {Rank(2), rank});
    program.add(Rank(rank), 0, step(0_B).send(slot.send));
    program.add(Rank(2), rank, step(0_B).receive(slot.receive));
  }
  const RunResult result = run_over_network(cluster, std::move(program), paying(costs));
  CHECK(result.time == us(3) + std::max(latency_between(cluster, Rank(0), Rank(2)),
                                        latency_between(cluster, Rank(1), Rank(2))));
}

TEST_CASE("messages of a connection go over the wire one after the other") {
  // All three are ready at once: the first arrives after 2 us and not, shared with the others, after 6.
  const CostParameters free;
  const Cluster cluster(dgx(2));
  Recorder recorder;
  RunOptions options = paying(free);
  options.observer = &recorder;
  const RunResult result = run_over_network(cluster, over_network(simple, 100'000_B, 3), options);
  REQUIRE(recorder.transfers.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(recorder.transfers[i].start == Time{});
    CHECK(recorder.transfers[i].left == at(us(2) * (static_cast<int>(i) + 1)));
  }
  CHECK(result.operations[0].time_of_rank[0] == Duration{});  // its copies are free
  // What the last one waited for the others counts as sharing.
  CHECK(part_of(result, Cause::Wire) == us(2));
  CHECK(part_of(result, Cause::Sharing) == us(4));
  check_explained(result);
}

TEST_CASE("a step's messages within the node hold their lane, those between nodes do not") {
  // To rank 1 over NVLink of 450 GB/s, 450,000 bytes take 1 us; the NIC needs 9 us.
  const CostParameters free;
  const Cluster cluster(dgx(2));
  TableProgram program = program_for(3);
  program.set_lanes(simple);
  const auto first = program.connect({Rank(0), 0}, {Rank(1), 0});
  program.connect({Rank(0), 0}, {Rank(2), 0});
  program.add(Rank(0), 0, step(450'000_B).from(input(0_B)).send(first.send, 2));
  program.add(Rank(1), 0, step(450'000_B).receive(0).to(output(0_B)));
  program.add(Rank(2), 0, step(450'000_B).receive(0).to(output(0_B)));
  const RunResult result = run_over_network(cluster, std::move(program), paying(free));
  CHECK(result.operations[0].time_of_rank ==
        std::vector<Duration>{us(1), us(1) + latency_between(cluster, Rank(0), Rank(1)),
                              us(9) + latency_between(cluster, Rank(0), Rank(2))});
  check_explained(result);
}

TEST_CASE("credit of a message over the network comes back from the receiver as well") {
  const CostParameters costs = costs_with({{CostItem::SimpleSliceCopy, us(3)}});
  Lane one_slot = simple;
  one_slot.fifo_depth = 1;
  const Cluster cluster(dgx(2));
  const RunResult result =
      run_over_network(cluster, over_network(one_slot, 100'000_B, 2), paying(costs));
  const Duration one = us(3) + us(2) + latency_between(cluster, Rank(0), Rank(2)) + us(3);
  CHECK(result.time == 2 * one);
  CHECK(part_of(result, Cause::CreditWait) == one - us(3));
  check_explained(result);
}

TEST_CASE("flags of LL cross the network, too") {
  const CostParameters free;
  const Cluster cluster(dgx(2));
  const RunResult result = run_over_network(
      cluster, over_network(lane_of(WireProtocol::LL), 100'000_B, 1), paying(free));
  CHECK(result.time == us(4) + latency_between(cluster, Rank(0), Rank(2)));
  for (const LinkUse& use : result.links) {
    CHECK((whole_bytes(use) == 0 || whole_bytes(use) == 200'000));
  }
}

TEST_CASE("LL's lines are read in host memory, each channel's by its own block") {
  // 2 x 100,000 bytes: 4 us on the wire, 20 us at 10 GB/s. Of two channels, each: 8 us, as they share the wire, and 20.
  CostParameters costs;
  set_rate(costs, CostItem::LLNetworkRate, 10_GBps);
  const Cluster cluster(dgx(2));
  for (const std::uint32_t channels : {1U, 2U}) {
    const RunResult result = run_over_network(
        cluster, over_network(lane_of(WireProtocol::LL), 100'000_B, 1, channels), paying(costs));
    CHECK(result.time ==
          us(4 * static_cast<int>(channels)) + us(20) + latency_between(cluster, Rank(0), Rank(2)));
    CHECK(part_of(result, CostItem::LLNetworkRate) == us(20));
    check_explained(result);
  }
}

TEST_CASE("a message that asks its receiver first is later, but holds nothing") {
  // Two of 2 us on the wire, one after the other; each 5 us later.
  CostParameters costs = costs_with({{CostItem::NetworkRendezvous, us(5)}});
  const Cluster cluster(dgx(2));
  const auto time = [&](Bytes eager) {
    costs.set(CostItem::NetworkEager, {eager.count(), CostSource::Estimate});
    const RunResult result =
        run_over_network(cluster, over_network(simple, 100'000_B, 2), paying(costs));
    check_explained(result);
    CHECK(part_of(result, CostItem::NetworkRendezvous) == (eager < 100'000_B ? us(5) : us(0)));
    return result.time;
  };
  const Duration way = latency_between(cluster, Rank(0), Rank(2));
  CHECK(time(99'999_B) == us(4) + way + us(5));
  CHECK(time(100'000_B) == us(4) + way);
}

TEST_CASE("a small message does not overtake one that has to ask first") {
  // 100,000 bytes take 2 us and a rendezvous of 50; 1,000 bytes behind them need none, and still come after.
  CostParameters costs = costs_with({{CostItem::NetworkRendezvous, us(50)}});
  costs.set(CostItem::NetworkEager, {10'000, CostSource::Measured});
  const Cluster cluster(dgx(2));
  TableProgram program = program_for(3);
  program.set_lanes(simple);
  const auto slot = program.connect({Rank(0), 0}, {Rank(2), 0});
  for (const Bytes bytes : {100'000_B, 1'000_B}) {
    program.add(Rank(0), 0, step(bytes).from(input(0_B)).send(slot.send));
    program.add(Rank(2), 0, step(bytes).receive(slot.receive).to(output(0_B)));
  }
  const RunResult result = run_over_network(cluster, std::move(program), paying(costs));
  const Duration first = us(2) + latency_between(cluster, Rank(0), Rank(2)) + us(50);
  CHECK(result.time == first);
  check_explained(result);
}
