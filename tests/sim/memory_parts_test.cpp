// What steps read and write in the memory of their GPU, and what it does to times where memory is scarce.

#include "sim/memory_parts.hpp"

#include <utility>
#include <vector>

#include "sim/step_costs.hpp"
#include "tests/catch.hpp"
#include "tests/sim/costly_programs.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

LaneWork lane_work(WireProtocol protocol, Kernel kernel = Kernel::Collective) {
  LaneWork work;
  work.protocol = protocol;
  work.kernel = kernel;
  work.threads = 512;
  return work;
}

struct Accesses {
  std::uint32_t reads = 0;
  std::uint32_t received = 0;
  std::uint32_t writes = 0;
};

StepWork step_with(Accesses accesses, Bytes bytes = 1'200_B) {
  StepWork step;
  step.primitive = accesses.received > 0 ? Primitive::Receive : Primitive::Send;
  step.own_reads = accesses.reads;
  step.received = accesses.received;
  step.own_writes = accesses.writes;
  step.bytes = bytes;
  return step;
}

/// GPUs on a switch, 50 GB/s each way, with memory of such a bandwidth.
ClusterSpec star_with_memory(std::uint32_t gpus, Bandwidth bandwidth) {
  ClusterSpec spec = star(gpus);
  MemoryLevelSpec memory;
  memory.bandwidth = {bandwidth, FigureSource::Nominal};
  spec.node.gpu_memory = {memory};
  return spec;
}

constexpr Bytes message = 1'000'000_B;

/// Each GPU k sends a message to GPU k + 1, with `lanes` lanes, and keeps what it receives.
TableProgram shift_by_one(std::uint32_t ranks, std::uint32_t lanes) {
  TableProgram program = program_for(ranks);
  program.set_lanes(lane_of(WireProtocol::Simple));
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const Rank next((rank + 1) % ranks);
      const auto slot = program.connect({Rank(rank), lane}, {next, lanes + lane});
      program.add(Rank(rank), lane, step(message).from(input(0_B)).send(slot.send));
      program.add(next, lanes + lane, step(message).receive(slot.receive).to(output(0_B)));
    }
  }
  return program;
}

/// The same on two nodes of four GPUs, inside each.
TableProgram shift_inside_nodes() {
  TableProgram program = program_for(8);
  program.set_lanes(lane_of(WireProtocol::Simple));
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    const Rank next(rank / 4 * 4 + (rank + 1) % 4);
    const auto slot = program.connect({Rank(rank), 0}, {next, 1});
    program.add(Rank(rank), 0, step(message).from(input(0_B)).send(slot.send));
    program.add(next, 1, step(message).receive(slot.receive).to(output(0_B)));
  }
  return program;
}

RunResult shifted(const ClusterSpec& spec, std::uint32_t lanes, const CostParameters& costs) {
  const Cluster cluster(spec);
  return run_on_all(cluster, shift_by_one(spec.node.gpus, lanes), paying(costs));
}

}  // namespace

TEST_CASE("a byte of a primitive comes to so many bytes of memory traffic", "[memory]") {
  const LaneWork ring = lane_work(WireProtocol::Simple);
  const auto factor = [&](Accesses accesses) {
    return memory_bytes(ring, step_with(accesses)).count() / 1'200;
  };
  CHECK(factor({1, 0, 0}) == 1);  // send
  CHECK(factor({1, 0, 1}) == 2);  // copySend
  CHECK(factor({0, 1, 1}) == 3);  // recv, recvCopySend
  CHECK(factor({1, 1, 0}) == 3);  // recvReduceSend
  CHECK(factor({1, 1, 1}) == 4);  // recvReduceCopySend
  CHECK(factor({1, 3, 0}) == 7);  // of three children
}

TEST_CASE("FIFOs hold flags beside the data", "[memory]") {
  const StepWork reduce = step_with({1, 1, 1});
  // Two own accesses of 1,200 bytes, two of the FIFO's: 2,400 bytes in LL, 1,280 in LL128.
  CHECK(memory_bytes(lane_work(WireProtocol::LL), reduce) == 7'200_B);
  CHECK(memory_bytes(lane_work(WireProtocol::LL128), reduce) == 4'960_B);
}

TEST_CASE("what is stored in windows goes through no FIFO, but in LL", "[memory]") {
  const StepWork reduce = step_with({1, 2, 1});
  CHECK(memory_bytes(lane_work(WireProtocol::Simple, Kernel::Symmetric), reduce) == 2'400_B);
  CHECK(memory_bytes(lane_work(WireProtocol::LL, Kernel::Symmetric), reduce) == 12'000_B);
  CHECK(memory_bytes(lane_work(WireProtocol::Simple, Kernel::CopyEngine), step_with({1, 0, 0})) ==
        1'200_B);
}

TEST_CASE("NVLS copies, and its switch reads and writes as much", "[memory]") {
  const LaneWork nvls = lane_work(WireProtocol::Simple, Kernel::Multicast);
  StepWork copy = step_with({1, 0, 1});
  copy.primitive = Primitive::CopySend;
  copy.movement = Movement::Post;
  copy.to_scratch = true;
  CHECK(memory_bytes(nvls, copy) == 3'600_B);
  copy.movement = Movement::Multimem;
  CHECK(memory_bytes(nvls, copy) == 0_B);
  // The fabric's switches work on no GPU's memory here.
  CHECK(memory_bytes(lane_work(WireProtocol::Simple), copy) == 0_B);
}

TEST_CASE("the slower of threads and memory is what a step takes, and names it", "[memory]") {
  CostParameters costs;
  set_rate(costs, CostItem::SimpleChannelRate, 10_GBps);
  LaneWork work = lane_work(WireProtocol::Simple);
  const StepWork send = step_with({1, 0, 0}, 100'000_B);
  CHECK(step_cost(costs, work, send).work.item == CostItem::SimpleChannelRate);
  work.memory = 20_GBps;  // 5 us; threads take 10
  CHECK(step_cost(costs, work, send).work.item == CostItem::SimpleChannelRate);
  CHECK(step_cost(costs, work, send).work.time == us(10));
  work.memory = 4_GBps;
  CHECK(step_cost(costs, work, send).work.item == CostItem::ShareMemory);
  CHECK(step_cost(costs, work, send).work.time == us(25));
}

TEST_CASE("memory that keeps up with the links limits nothing, and none is described", "[memory]") {
  const CostParameters free;
  // 5 accesses of 50 GB/s.
  const RunResult unlimited = shifted(star(4), 2, free);
  CHECK(shifted(star_with_memory(4, 250_GBps), 2, free).time == unlimited.time);
  CHECK(part_of(unlimited, CostItem::ShareMemory) == Duration{});
  CHECK(shifted(star_with_memory(4, 40_GBps), 2, free).time > unlimited.time);
}

TEST_CASE("lanes share the memory, of which copies have a share", "[memory]") {
  CostParameters costs;
  set_share(costs, CostItem::ShareMemory, 500'000);
  // Two lanes send, two receive: each has a quarter of 20 GB/s. A message is read in 200 us; received, it is written,
  // read and written, which takes 600 us, after a latency of 1 us.
  const RunResult result = shifted(star_with_memory(4, 40_GBps), 2, costs);
  CHECK(result.time == us(200) + latency + us(600));
  // The wire's two messages of 1 MB at 50 GB/s together take 40 us, the first 20 of which each has for itself.
  CHECK(part_of(result, CostItem::ShareMemory) == us(800) - us(20));
  check_explained(result);
}

TEST_CASE("programs without a protocol cost nothing but the wire, in any memory", "[memory]") {
  const CostParameters costs;
  TableProgram program = program_for(2);
  const auto slot = program.connect({Rank(0), 0}, {Rank(1), 0});
  program.add(Rank(0), 0, step(message).from(input(0_B)).send(slot.send));
  program.add(Rank(1), 0, step(message).receive(slot.receive).to(output(0_B)));
  const Cluster cluster(star_with_memory(2, 1_GBps));
  CHECK(run_on_all(cluster, std::move(program), paying(costs)).time ==
        wire(message.count()) + latency);
}

TEST_CASE("GPUs with unlike memories are not folded together", "[memory]") {
  const CostParameters costs;
  const auto nodes_with = [](Bandwidth first, Bandwidth second) {
    ClusterSpec spec = textbook_nodes(1);
    spec.node.gpu_memory = star_with_memory(4, first).node.gpu_memory;
    NodeGroupSpec other;
    other.node = spec.node;
    other.node.gpu_memory[0].bandwidth->value = second;
    other.count = 1;
    spec.more_nodes = {other};
    return Cluster(spec);
  };
  const auto run_folded = [&](const Cluster& cluster, FoldMode fold, std::size_t most_compared) {
    RunOptions options;
    options.costs = &costs;
    options.fold = fold;
    options.most_compared = most_compared;
    return run_on_all(cluster, shift_inside_nodes(), options);
  };
  const Cluster alike = nodes_with(40_GBps, 40_GBps);
  const Cluster unlike = nodes_with(40_GBps, 20_GBps);
  const auto times_of = [](const RunResult& result) { return result.operations[0].time_of_rank; };
  constexpr std::size_t all = std::size_t{1} << 20U;
  CHECK(run_folded(alike, FoldMode::Require, all).folding.ranks.classes == 1);
  const RunResult folded = run_folded(unlike, FoldMode::Require, all);
  CHECK(folded.folding.ranks.classes == 2);
  CHECK(times_of(folded) == times_of(run_folded(unlike, FoldMode::Off, all)));
  CHECK(times_of(folded)[4] > times_of(folded)[0]);
  // Where shifts of ranks alone are looked for, that by a node is the only one.
  constexpr std::size_t shifts = 1;
  CHECK(run_folded(alike, FoldMode::Require, shifts).folding.ranks.classes == 4);
  CHECK_THROWS_AS(run_folded(unlike, FoldMode::Require, shifts), InputError);
}
