// What steps of lanes with a protocol cost, and when: the semantics of sim/executor.hpp on programs
// written out by hand. On the machine of these tests a byte takes 20 ps and a route 1 us.

#include "tests/catch.hpp"
#include "tests/sim/costly_programs.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

/// Rank 0 sends `count` messages of `bytes` to rank 1.
TableProgram messages(const Lane& lane, Bytes bytes, int count = 1) {
  TableProgram program = program_for(2);
  program.set_lanes(lane);
  const auto slot = program.connect({Rank(0), 0}, {Rank(1), 0});
  for (int i = 0; i < count; ++i) {
    program.add(Rank(0), 0, step(bytes).from(input(0_B)).send(slot.send));
    program.add(Rank(1), 0, step(bytes).receive(slot.receive).to(output(0_B)));
  }
  return program;
}

const Lane simple = lane_of(WireProtocol::Simple);

std::vector<Duration> times_of_ranks(const RunResult& result) {
  return result.operations.at(0).time_of_rank;
}

}  // namespace

TEST_CASE("a slice holds its lane, flows, and is seen a hand-off after the wire's latency") {
  const CostParameters costs =
      costs_with({{CostItem::SimpleSliceCopy, us(3)}, {CostItem::SimpleHandoffNvlink, us(5)}});
  const RunResult result = run_on_all(Cluster(mesh(2)), messages(simple, 1000_B), paying(costs));
  // The receiver synchronises as well, when it has the slice.
  CHECK(times_of_ranks(result) ==
        std::vector<Duration>{us(3) + wire(1000), us(3) + wire(1000) + latency + us(5) + us(3)});
  CHECK(part_of(result, CostItem::SimpleSliceCopy) == us(6));
  CHECK(part_of(result, CostItem::SimpleHandoffNvlink) == us(5));
  CHECK(part_of(result, Cause::Wire) == wire(1000));
  CHECK(part_of(result, Cause::Latency) == latency);
  check_explained(result);
}

TEST_CASE("bytes flow no faster than the lane's threads move them") {
  // 100,000 bytes: 2 us on the wire, 10 us at 10 GB/s; into the own memory 20 us at 5 GB/s.
  CostParameters costs;
  set_rate(costs, CostItem::SimpleChannelRate, 10_GBps);
  set_rate(costs, CostItem::SimpleLocalRate, 5_GBps);
  const RunResult result = run_on_all(Cluster(mesh(2)), messages(simple, 100'000_B), paying(costs));
  CHECK(times_of_ranks(result) == std::vector<Duration>{us(10), us(10) + latency + us(20)});
  CHECK(part_of(result, Cause::Wire) == us(2));
  CHECK(part_of(result, CostItem::SimpleChannelRate) == us(8));
  CHECK(part_of(result, CostItem::SimpleLocalRate) == us(20));
  check_explained(result);
}

TEST_CASE("threads that are slower than the wire do not load it the whole time") {
  // Two lanes of 30 GB/s on a link of 50: 25 each, 100,000 bytes in 4 us; with the wire's 2 us, 10/3 us
  // would be the threads' and the rest is sharing.
  CostParameters costs;
  set_rate(costs, CostItem::SimpleChannelRate, 30_GBps);
  TableProgram program = program_for(2);
  program.set_lanes(simple);
  for (std::uint32_t lane = 0; lane < 2; ++lane) {
    const auto slot = program.connect({Rank(0), lane}, {Rank(1), lane});
    program.add(Rank(0), lane, step(100'000_B).from(input(0_B)).send(slot.send));
    program.add(Rank(1), lane, step(100'000_B).receive(slot.receive).to(output(0_B)));
  }
  const RunResult result = run_on_all(Cluster(mesh(2)), std::move(program), paying(costs));
  CHECK(result.time == us(4) + latency);
  CHECK(part_of(result, Cause::Wire) == us(2));
  // 10/3 us, rounded up to the picosecond where a transfer's time is.
  CHECK(part_of(result, CostItem::SimpleChannelRate) == Duration(3'333'334) - us(2));
  CHECK(part_of(result, Cause::Sharing) == us(4) - Duration(3'333'334));
  check_explained(result);
}

TEST_CASE("a local step takes its bytes at their local rate") {
  CostParameters costs = costs_with({{CostItem::SimpleSliceReduce, us(2)}});
  set_rate(costs, CostItem::SimpleLocalRate, 10_GBps);
  TableProgram program = program_for(2);
  program.set_lanes(simple);
  program.add(Rank(0), 0, step(100'000_B).from(input(0_B)).with(scratch(0_B)).to(output(0_B)));
  const RunResult result = run_on_all(Cluster(mesh(2)), std::move(program), paying(costs));
  CHECK(times_of_ranks(result) == std::vector<Duration>{us(12), us(0)});
  CHECK(part_of(result, CostItem::SimpleSliceReduce) == us(2));
  CHECK(part_of(result, CostItem::SimpleLocalRate) == us(10));
  CHECK(result.transfers == 0);
  check_explained(result);
}

TEST_CASE("a step that only waits costs nothing") {
  const CostParameters costs = costs_with({{CostItem::SimpleSliceCopy, us(3)}});
  TableProgram program = program_for(2);
  program.set_lanes(simple);
  program.add(Rank(0), 0, step(0_B).after(1, 0));
  program.add(Rank(0), 1, step(8_B).from(input(0_B)).to(output(0_B)));
  const RunResult result = run_on_all(Cluster(mesh(2)), std::move(program), paying(costs));
  CHECK(result.time == us(3));
}

TEST_CASE("an empty slice costs its synchronisation and its hand-off") {
  const CostParameters costs =
      costs_with({{CostItem::SimpleSliceCopy, us(3)}, {CostItem::SimpleHandoffNvlink, us(5)}});
  const RunResult result = run_on_all(Cluster(mesh(2)), messages(simple, 0_B), paying(costs));
  CHECK(result.time == us(3) + latency + us(5) + us(3));
}

TEST_CASE("credit comes back when the receiving step is complete") {
  // One slot: the second send waits until the receiver has synchronised and taken the first.
  const CostParameters costs = costs_with({{CostItem::SimpleSliceCopy, us(3)}});
  Lane one_slot = simple;
  one_slot.fifo_depth = 1;
  const RunResult result =
      run_on_all(Cluster(mesh(2)), messages(one_slot, 1000_B, 2), paying(costs));
  const Duration one = us(3) + wire(1000) + latency + us(3);
  CHECK(times_of_ranks(result) == std::vector<Duration>{one + us(3) + wire(1000), 2 * one});
  CHECK(part_of(result, Cause::CreditWait) == latency + us(3));
  check_explained(result);
  // Two slots: the second send follows the first.
  Lane two_slots = simple;
  two_slots.fifo_depth = 2;
  CHECK(run_on_all(Cluster(mesh(2)), messages(two_slots, 1000_B, 2), paying(costs)).time ==
        2 * (us(3) + wire(1000)) + latency + us(3));
}

TEST_CASE("a fused step receives, pays, and sends") {
  // 0 → 1 → 2 with a hop of 1 us beside the wire, and passes: 512 threads take 8,192 bytes in 2.
  CostParameters costs =
      costs_with({{CostItem::LLHopNvlink, us(1)}, {CostItem::LLPassCopy, us(2)}});
  TableProgram program = program_for(3);
  program.set_lanes(lane_of(WireProtocol::LL));
  const auto first = program.connect({Rank(0), 0}, {Rank(1), 0});
  const auto second = program.connect({Rank(1), 0}, {Rank(2), 0});
  program.add(Rank(0), 0, step(8192_B).from(input(0_B)).send(first.send));
  program.add(Rank(1), 0, step(8192_B).receive(first.receive).to(output(0_B)).send(second.send));
  program.add(Rank(2), 0, step(8192_B).receive(second.receive).to(output(0_B)));
  const Cluster cluster(mesh(3));
  const RunResult result = run_on_all(cluster, std::move(program), paying(costs));
  // The flags double the bytes: wire(16,384) is 0.33 us, less than the pass of 2 us.
  CHECK(times_of_ranks(result) ==
        std::vector<Duration>{us(2), us(2 + 1 + 1 + 2), us(2 * (2 + 1 + 1) + 2)});
  CHECK(part_of(result, Cause::Wire) == 2 * wire(2 * 8192));
  CHECK(bytes_between(cluster, result, "gpu0", "gpu1") == 2 * 8192);
  check_explained(result);
}

TEST_CASE("lines of LL are seen a hop after they leave, while others still do") {
  // 4,096 bytes are one pass of 512 threads, and with their flags 0.16 us on the wire: the last line
  // comes as late as the first one's hop of 1 us says. With a hop shorter than the wire, no later
  // than the wire brings it.
  const Lane ll = lane_of(WireProtocol::LL);
  const Cluster cluster(mesh(2));
  const auto run_with = [&](Duration hop) {
    const CostParameters costs = costs_with({{CostItem::LLHopNvlink, hop}});
    return run_on_all(cluster, messages(ll, 4096_B), paying(costs));
  };
  const RunResult longer = run_with(us(1));
  CHECK(longer.time == us(1) + latency);
  CHECK(part_of(longer, Cause::Wire) == wire(8192));
  CHECK(part_of(longer, CostItem::LLHopNvlink) == us(1) - wire(8192));
  check_explained(longer);
  CHECK(run_with(ns(100)).time == wire(8192) + latency);
}

TEST_CASE("several sends of a step are bound by the lane's threads each") {
  CostParameters costs = costs_with({{CostItem::SimpleSliceCopy, us(3)}});
  set_rate(costs, CostItem::SimpleChannelRate, 10_GBps);
  TableProgram program = program_for(3);
  program.set_lanes(simple);
  const auto first = program.connect({Rank(0), 0}, {Rank(1), 0});
  program.connect({Rank(0), 0}, {Rank(2), 0});
  program.add(Rank(0), 0, step(100'000_B).from(input(0_B)).send(first.send, 2));
  for (std::uint32_t rank = 1; rank < 3; ++rank) {
    program.add(Rank(rank), 0, step(100'000_B).receive(0).to(output(0_B)));
  }
  const RunResult result = run_on_all(Cluster(mesh(3)), std::move(program), paying(costs));
  CHECK(times_of_ranks(result).at(0) == us(13));
  check_explained(result);
}

TEST_CASE("LL128 puts 16 bytes on the wire for 15") {
  const CostParameters free;
  const Cluster cluster(mesh(2));
  const RunResult result =
      run_on_all(cluster, messages(lane_of(WireProtocol::LL128), 1500_B), paying(free));
  CHECK(result.time == wire(1600) + latency);
  CHECK(bytes_between(cluster, result, "gpu0", "gpu1") == 1600);
}

TEST_CASE("lanes start when their rank has launched, in each operation of the workload") {
  const CostParameters costs =
      costs_with({{CostItem::LaunchCollective, us(5)}, {CostItem::LaunchIsolated, us(2)}});
  const Cluster cluster(mesh(2));
  const Collective once = collective(messages(simple, 1000_B), gpus(cluster));
  const RunResult one = run(cluster, {once}, paying(costs));
  CHECK(one.time == us(5) + wire(1000) + latency);
  CHECK(part_of(one, CostItem::LaunchCollective) == us(5));
  check_explained(one);
  // Rank 0 launches again as soon as its message has left; rank 1 is ready for the second message
  // before that arrives.
  const RunResult two = run(cluster, {once, once}, paying(costs));
  CHECK(two.time == 2 * (us(5) + wire(1000)) + latency);
  RunOptions isolated = paying(costs);
  isolated.call = CallIs::Isolated;
  CHECK(run(cluster, {once}, isolated).time == us(7) + wire(1000) + latency);
}

TEST_CASE("a free set changes nothing but the flags' bytes, and no set changes nothing at all") {
  const CostParameters free;
  const Cluster cluster(mesh(2));
  const Duration plain = wire(1000) + latency;
  CHECK(run_on_all(cluster, messages(simple, 1000_B), paying(free)).time == plain);
  const Lane ll = lane_of(WireProtocol::LL);
  CHECK(run_on_all(cluster, messages(ll, 1000_B), paying(free)).time == plain + wire(1000));
  CHECK(run_on_all(cluster, messages(ll, 1000_B)).time == plain);
}

TEST_CASE("observers see when a step was reached and ready, and when a message was taken") {
  const CostParameters costs =
      costs_with({{CostItem::SimpleSliceCopy, us(3)}, {CostItem::SimpleHandoffNvlink, us(5)}});
  Recorder recorder;
  RunOptions options = paying(costs);
  options.observer = &recorder;
  run_on_all(Cluster(mesh(2)), messages(simple, 1000_B), options);
  const Time left = at(us(3) + wire(1000));
  const Time arrived = left + latency + us(5);
  REQUIRE(recorder.steps.size() == 2);
  CHECK(recorder.steps[0].primitive == Primitive::Send);
  CHECK(recorder.steps[0].reached == Time{});
  CHECK(recorder.steps[0].ready == Time{});
  CHECK(recorder.steps[0].end == left);
  CHECK(recorder.steps[1].primitive == Primitive::Receive);
  CHECK(recorder.steps[1].reached == Time{});
  CHECK(recorder.steps[1].ready == arrived);
  CHECK(recorder.steps[1].end == arrived + us(3));
  REQUIRE(recorder.transfers.size() == 1);
  CHECK(recorder.transfers[0].start == at(us(3)));
  CHECK(recorder.transfers[0].left == left);
  CHECK(recorder.transfers[0].arrived == arrived);
  CHECK(recorder.transfers[0].received == arrived + us(3));
}

namespace {

/// GPUs on a switch by NVLink: 50 GB/s and 500 ns each way.
Cluster nvlink_star(std::uint32_t gpus) {
  ClusterSpec spec = star(gpus);
  spec.node.links[0].kind = LinkKind::Nvlink;
  return Cluster(spec);
}

}  // namespace

TEST_CASE("data have a share of the links' nominal rates, by the kernels that run") {
  CostParameters costs;
  set_share(costs, CostItem::ShareNvlink, 500'000);
  set_share(costs, CostItem::ShareNvlinkSendRecv, 250'000);
  const Cluster cluster = nvlink_star(2);
  const Collective ring = collective(messages(simple, 1000_B), gpus(cluster));
  const Lane sending = lane_of(WireProtocol::Simple, Kernel::SendRecv);
  TableProgram to_several = messages(sending, 1000_B);
  to_several.set_peers(3);
  const Collective sends = collective(std::move(to_several), gpus(cluster));
  CHECK(run(cluster, {ring}, paying(costs)).time == 2 * wire(1000) + latency);
  // Sends to a single other GPU have what rings have.
  const Collective one = collective(messages(sending, 1000_B), gpus(cluster));
  CHECK(run(cluster, {one}, paying(costs)).time == 2 * wire(1000) + latency);
  CHECK(run(cluster, {sends}, paying(costs)).time == 4 * wire(1000) + latency);
  // Where both run, the larger share counts.
  CHECK(run(cluster, {sends, ring}, paying(costs)).operations[0].time_of_rank[1] ==
        2 * wire(1000) + latency);
  // Programs without a protocol have the whole link.
  const Collective plain = collective(messages(Lane{}, 1000_B), gpus(cluster));
  CHECK(run(cluster, {plain}, paying(costs)).time == wire(1000) + latency);
}

TEST_CASE("a link whose capacity changes keeps its share") {
  // 25 of 50 GB/s; from the start on 5 of 10.
  CostParameters costs;
  set_share(costs, CostItem::ShareNvlink, 500'000);
  const Cluster cluster = nvlink_star(2);
  Workload workload;
  workload.operations = {collective(messages(simple, 1000_B), gpus(cluster))};
  const Graph& graph = cluster.graph();
  const LinkId up = graph.links_between(device(graph, "gpu0"), device(graph, "switch"))[0];
  workload.capacity_changes = {{Time{}, up, 10_GBps}};
  CHECK(run_workload(cluster, workload, paying(costs)).time == 10 * wire(1000) + latency);
}
