#include "sim/executor.hpp"

#include <malloc.h>

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/sim/programs.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Rank 0 sends `count` messages of `bytes` to rank 1, which receives them one by one.
TableProgram messages_in_a_row(Bytes bytes, int count) {
  TableProgram program = program_for(2);
  const auto slot = program.connect({Rank(0), 0}, {Rank(1), 0});
  for (int i = 0; i < count; ++i) {
    program.add(Rank(0), 0, step(bytes).send(slot.send));
    program.add(Rank(1), 0, step(bytes).receive(slot.receive));
  }
  return program;
}

}  // namespace

TEST_CASE("a message takes its bytes and then the route's latency") {
  const RunResult result = run_on_all(Cluster(mesh(2)), messages_in_a_row(1000_B, 1));
  const OperationResult& operation = result.operations.at(0);
  CHECK(operation.time_of_rank == std::vector<Duration>{wire(1000), wire(1000) + latency});
  CHECK(result.time == wire(1000) + latency);
  CHECK(operation.start == Time{});
  CHECK(operation.end == at(result.time));
  CHECK(result.transfers == 1);
}

TEST_CASE("a send holds its lane until the last byte has left, latency does not") {
  // The second message leaves at 2 wires, and arrives one latency later.
  const RunResult result = run_on_all(Cluster(mesh(2)), messages_in_a_row(1000_B, 2));
  CHECK(result.time == wire(2000) + latency);
  CHECK(result.operations.at(0).time_of_rank.at(0) == wire(2000));
}

TEST_CASE("no bytes take the latency") {
  CHECK(run_on_all(Cluster(mesh(2)), messages_in_a_row(0_B, 3)).time == latency);
}

TEST_CASE("a step with several sends starts all at once and holds its lane until the last left") {
  // Both leave over the sender's link to the switch: at half its rate they are out at 2 wires.
  // Then a third message of the same lane.
  TableProgram program = program_for(3);
  const auto first = program.connect({Rank(0), 0}, {Rank(1), 0});
  const auto second = program.connect({Rank(0), 0}, {Rank(2), 0});
  program.add(Rank(0), 0, step(1000_B).send(first.send, 2));
  program.add(Rank(0), 0, step(1000_B).send(first.send));
  program.add(Rank(1), 0, step(1000_B).receive(first.receive));
  program.add(Rank(1), 0, step(1000_B).receive(first.receive));
  program.add(Rank(2), 0, step(1000_B).receive(second.receive));
  const auto times = run_on_all(Cluster(star(3)), std::move(program)).operations.at(0).time_of_rank;
  CHECK(times == std::vector<Duration>{wire(3000), wire(3000) + latency, wire(2000) + latency});
}

TEST_CASE("a fused step receives before it sends") {
  TableProgram program = program_for(3);
  const auto first = program.connect({Rank(0), 0}, {Rank(1), 0});
  const auto second = program.connect({Rank(1), 0}, {Rank(2), 0});
  program.add(Rank(0), 0, step(1000_B).send(first.send));
  program.add(Rank(1), 0, step(1000_B).receive(first.receive).send(second.send));
  program.add(Rank(2), 0, step(1000_B).receive(second.receive));
  CHECK(run_on_all(Cluster(mesh(3)), std::move(program)).time == 2 * (wire(1000) + latency));
}

TEST_CASE("a step receives from several peers when the last message is there") {
  TableProgram program = program_for(3);
  const auto quick = program.connect({Rank(0), 0}, {Rank(2), 0});
  const auto slow = program.connect({Rank(1), 0}, {Rank(2), 0});
  const auto on = program.connect({Rank(2), 0}, {Rank(0), 1});
  program.add(Rank(0), 0, step(1000_B).send(quick.send));
  const auto delay = program.connect({Rank(1), 0}, {Rank(0), 2});
  program.add(Rank(1), 0, step(5000_B).send(delay.send));
  program.add(Rank(0), 2, step(5000_B).receive(delay.receive));
  program.add(Rank(1), 0, step(1000_B).send(slow.send));
  program.add(Rank(2), 0, step(1000_B).receive(quick.receive, 2).send(on.send));
  program.add(Rank(0), 1, step(1000_B).receive(on.receive));
  // Rank 1's message leaves at 6000 bytes; then rank 2 sends 1000 more.
  CHECK(run_on_all(Cluster(mesh(3)), std::move(program)).time == wire(7000) + 2 * latency);
}

TEST_CASE("messages that come early wait for the step that receives them") {
  // Rank 1 is busy for 10,000 bytes before it looks for its messages, which are there by then. It
  // takes that of the later slot first.
  TableProgram program = program_for(3);
  const auto a = program.connect({Rank(0), 0}, {Rank(1), 0});
  const auto b = program.connect({Rank(2), 0}, {Rank(1), 0});
  const auto busy = program.connect({Rank(1), 0}, {Rank(2), 1});
  program.add(Rank(0), 0, step(100_B).send(a.send));
  program.add(Rank(0), 0, step(200_B).send(a.send));
  program.add(Rank(2), 0, step(300_B).send(b.send));
  program.add(Rank(2), 1, step(10'000_B).receive(busy.receive));
  program.add(Rank(1), 0, step(10'000_B).send(busy.send));
  program.add(Rank(1), 0, step(300_B).receive(b.receive));
  program.add(Rank(1), 0, step(100_B).receive(a.receive));
  program.add(Rank(1), 0, step(200_B).receive(a.receive));
  const RunResult result = run_on_all(Cluster(mesh(3)), std::move(program));
  // The last message came at 300 bytes and one latency, before the 10,000th byte had left? No: a
  // latency is 50,000 bytes long. It came after, and the lane waited for it.
  CHECK(result.operations.at(0).time_of_rank.at(1) == wire(300) + latency);
  CHECK(result.time == wire(10'000) + latency);
}

TEST_CASE("a step waits for a step of another lane of its rank") {
  TableProgram program = program_for(2);
  const auto first = program.connect({Rank(0), 0}, {Rank(1), 0});
  const auto second = program.connect({Rank(0), 1}, {Rank(1), 1});
  program.add(Rank(0), 0, step(1000_B).send(first.send));
  program.add(Rank(0), 0, step(1000_B).send(first.send));
  program.add(Rank(0), 1, step(500_B).send(second.send).after(0, 0));
  for (int i = 0; i < 2; ++i) {
    program.add(Rank(1), 0, step(1000_B).receive(first.receive));
  }
  program.add(Rank(1), 1, step(500_B).receive(second.receive));
  RunOptions options = ideal();
  options.critical_path = true;
  const Cluster cluster(mesh(2));
  // Lane 1 starts at 1000 bytes beside the second message of lane 0; `ideal` lets them overlap.
  const RunResult result = run_on_all(cluster, program, options);
  CHECK(result.time == wire(2000) + latency);
  CHECK(result.contention_ignored);
  // `flow` shares the link: 500 bytes each by 1000 + 2·500, the rest alone.
  CHECK(run_on_all(cluster, program).time == wire(2500) + latency);
}

TEST_CASE("a join waits for the earlier phases of all lanes of its group, and of no other") {
  TableProgram program = program_for(2);
  const auto connect = [&](std::uint32_t lane) {
    return program.connect({Rank(0), lane}, {Rank(1), lane});
  };
  const auto quick = connect(0);
  const auto slow = connect(1);
  const auto other = connect(2);
  program.set_lane(Rank(0), 2, Lane{0, 1, std::nullopt});
  program.add(Rank(0), 0, step(1000_B).send(quick.send));
  program.add(Rank(0), 0, step(1000_B).send(quick.send).phase(1).join(0));
  program.add(Rank(0), 1, step(4000_B).send(slow.send));
  program.add(Rank(0), 1, step(100_B).send(slow.send).phase(1));
  program.add(Rank(0), 2, step(50'000_B).send(other.send));
  program.add(Rank(1), 0, step(1000_B).receive(quick.receive));
  program.add(Rank(1), 0, step(1000_B).receive(quick.receive));
  program.add(Rank(1), 1, step(4000_B).receive(slow.receive));
  program.add(Rank(1), 1, step(100_B).receive(slow.receive));
  program.add(Rank(1), 2, step(50'000_B).receive(other.receive));
  // Lane 0's second message starts when lane 1 has sent 4000 bytes, and not when lane 2 has sent
  // its own. Rank 1's end shows lane 2 only, so look at the steps.
  struct Steps : TraceObserver {
    std::vector<StepRecord> records;
    void on_step(const StepRecord& record) override { records.push_back(record); }
    void on_transfer(const TransferRecord&) override {}
  } steps;
  RunOptions options = ideal();
  options.observer = &steps;
  CHECK(run_on_all(Cluster(mesh(2)), std::move(program), options).time == wire(50'000) + latency);
  const auto joined = std::find_if(steps.records.begin(), steps.records.end(), [](const auto& r) {
    return r.rank == Rank(0) && r.lane == 0 && r.index == 1;
  });
  REQUIRE(joined != steps.records.end());
  CHECK(joined->reached == at(wire(1000)));
  CHECK(joined->ready == at(wire(4000)));
  CHECK(joined->end == at(wire(5000)));
}

TEST_CASE("a lane of its own FIFO depth sends only what the receiver has room for") {
  // Rank 1 takes the first message when it has sent 200,000 bytes itself (4 latencies). With one
  // slot the second message starts then; with two it starts at once, and the third one then.
  for (const std::uint32_t depth : {1U, 2U}) {
    TableProgram program = messages_in_a_row(1000_B, 0);
    const auto slot = program.connect({Rank(0), 0}, {Rank(1), 0});
    const auto busy = program.connect({Rank(1), 0}, {Rank(0), 1});
    program.set_lane(Rank(0), 0, Lane{0, 0, depth});
    program.add(Rank(1), 0, step(200'000_B).send(busy.send));
    program.add(Rank(0), 1, step(200'000_B).receive(busy.receive));
    for (int i = 0; i < 3; ++i) {
      program.add(Rank(0), 0, step(1000_B).send(slot.send));
      program.add(Rank(1), 0, step(1000_B).receive(slot.receive));
    }
    const RunResult result = run_on_all(Cluster(mesh(2)), std::move(program));
    // Depth 1: the second starts at 200,000 bytes, arrives a wire and a latency later and is taken
    // at once, then the third. Depth 2: the third starts at 200,000 bytes.
    const std::int64_t after = depth == 1 ? 2 : 1;
    CHECK(result.operations.at(0).time_of_rank.at(1) ==
          wire(200'000) + after * (wire(1000) + latency));
  }
}

TEST_CASE("a ring with one FIFO slot goes round: a slot is free when its message was taken") {
  TableProgram program = program_for(3);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    program.connect({Rank(rank), 0}, {Rank((rank + 1) % 3), 0});
    program.set_lane(Rank(rank), 0, Lane{0, 0, 1});
    program.add(Rank(rank), 0, step(1000_B).send(0));
    for (int i = 0; i < 4; ++i) {
      program.add(Rank(rank), 0, step(1000_B).receive(0).send(0));
    }
    program.add(Rank(rank), 0, step(1000_B).receive(0));
  }
  CHECK(run_on_all(Cluster(mesh(3)), std::move(program)).time == 5 * (wire(1000) + latency));
}

TEST_CASE("a lane may use many slots, in turn and at once") {
  // 40 peers: more than a lane keeps routes open for.
  constexpr std::uint32_t peers = 40;
  TableProgram program = program_for(peers + 1);
  for (std::uint32_t peer = 1; peer <= peers; ++peer) {
    program.connect({Rank(0), 0}, {Rank(peer), 0});
    for (int i = 0; i < 3; ++i) {
      program.add(Rank(peer), 0, step(10_B).receive(0));
    }
  }
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t slot = 0; slot < peers; ++slot) {
      program.add(Rank(0), 0, step(10_B).send(slot));
    }
  }
  program.add(Rank(0), 0, step(10_B).send(0, peers));
  const RunResult result = run_on_all(Cluster(mesh(peers + 1)), std::move(program));
  CHECK(result.time == wire(10 * (2 * peers + 1)) + latency);
  CHECK(result.transfers == 3 * peers);
}

TEST_CASE("a rank without lanes or steps is done at once") {
  CHECK(run_on_all(Cluster(mesh(3)), program_for(3)).time == Duration{});
  TableProgram program = program_for(2);
  program.add(Rank(0), 0, step(1000_B).from(input(0_B)).to(output(0_B)));
  CHECK(run_on_all(Cluster(mesh(2)), std::move(program)).time == Duration{});
}

TEST_CASE("the links say how much crossed them") {
  const Cluster cluster(star(3));
  const RunResult result =
      run(cluster, {collective("ring", CollectiveKind::AllGather, Bytes(3 * 1600), gpus(cluster))});
  // Two messages of 1600 bytes a rank, out and in.
  REQUIRE(result.links.size() == 6);
  for (const LinkUse& link : result.links) {
    CHECK(link.fine_bytes == to_fine(3200_B));
    CHECK(link.busy == wire(3200));
    CHECK(link.peak_flows == 1);
  }
}

TEST_CASE("a change of capacity holds from its time on") {
  const Cluster cluster(mesh(2));
  Workload workload;
  workload.operations.emplace_back(collective(messages_in_a_row(1000_B, 1), gpus(cluster)));
  // Half the bytes at 50 GB/s, the other half at 25 GB/s.
  const auto link = cluster.router().route(gpus(cluster)->at(0), gpus(cluster)->at(1)).hops[0].link;
  workload.capacity_changes.push_back({at(wire(500)), link, 25_GBps});
  CHECK(run_workload(cluster, workload).time == wire(500) + 2 * wire(500) + latency);
}

TEST_CASE("changes of capacity that make no sense are refused") {
  const Cluster cluster(mesh(2));
  Workload workload;
  workload.capacity_changes.push_back({Time{}, LinkId(0), 0_GBps});
  CHECK_THROWS_WITH(run_workload(cluster, workload),
                    ContainsSubstring("a link's bandwidth must be positive"));
  workload.capacity_changes.assign(1, {Time{}, LinkId(77), 1_GBps});
  CHECK_THROWS_WITH(run_workload(cluster, workload), ContainsSubstring("there is no link 77"));
  workload.capacity_changes.assign(1, {Time(Duration(-1)), LinkId(0), 1_GBps});
  CHECK_THROWS_WITH(run_workload(cluster, workload),
                    ContainsSubstring("lies before the start of the run"));
}

TEST_CASE("a message of another size than expected is named") {
  TableProgram program = program_for(2);
  program.connect({Rank(0), 0}, {Rank(1), 0});
  program.add(Rank(0), 0, step(100_B).send(0));
  program.add(Rank(1), 0, step(99_B).receive(0));
  CHECK_THROWS_WITH(run_on_all(Cluster(mesh(2)), std::move(program)),
                    "rank 1 lane 0 step 0 receives 99 bytes, but the message from rank 0 has 100");
}

TEST_CASE("connections that do not fit are named") {
  const auto run_broken = [](const auto& breaks) {
    TableProgram program = messages_in_a_row(1_B, 1);
    breaks(program);
    run_on_all(Cluster(mesh(2)), std::move(program));
  };
  CHECK_THROWS_WITH(run_broken([](auto& program) { program.sends(Rank(0), 0)[0].peer = Rank(5); }),
                    "rank 0 lane 0 slot 0 sends to rank 5 lane 0 slot 0, which does not exist");
  CHECK_THROWS_WITH(run_broken([](auto& program) { program.sends(Rank(0), 0)[0].peer = Rank(0); }),
                    "rank 0 lane 0 slot 0 sends to rank 0 lane 0 slot 0, which is itself");
  CHECK_THROWS_WITH(
      run_broken([](auto& program) { program.receives(Rank(1), 0)[0].slot = 3; }),
      "rank 0 lane 0 slot 0 sends to rank 1 lane 0 slot 0, which receives from rank 0 lane 0 slot "
      "3");
}

TEST_CASE("phases that fall and lanes that do not exist are named") {
  TableProgram falling = program_for(2);
  falling.add(Rank(0), 0, step(0_B).phase(2));
  falling.add(Rank(0), 0, step(0_B).phase(1));
  CHECK_THROWS_WITH(run_on_all(Cluster(mesh(2)), std::move(falling)),
                    "rank 0 lane 0 step 1: its phase is below that of the step before");
  TableProgram missing = program_for(2);
  missing.add(Rank(1), 0, step(0_B).after(4, 0));
  CHECK_THROWS_WITH(run_on_all(Cluster(mesh(2)), std::move(missing)),
                    "rank 1 lane 0 step 0 waits for lane 4, which its rank does not have");
}

TEST_CASE("time that does not fit is the user's error") {
  // 2^62 bytes at 20 ps a byte are some 10^20 ps.
  CHECK_THROWS_AS(run_on_all(Cluster(mesh(2)), messages_in_a_row(Bytes(INT64_C(1) << 62), 1)),
                  InputError);
}

TEST_CASE("a run can be interrupted") {
  const Cluster cluster(star(256));
  RunOptions options = ideal();
  std::uint64_t seen = 0;
  options.progress = [&](std::uint64_t transfers) {
    seen = transfers;
    return false;
  };
  // 2·255·256 transfers.
  CHECK_THROWS_WITH(
      run(cluster, {collective("ring", CollectiveKind::AllReduce, 1_MiB, gpus(cluster))}, options),
      "interrupted");
  CHECK(seen > 0);
  CHECK(seen < 2 * 255 * 256);
}

TEST_CASE("observers see every step and transfer and change nothing") {
  struct Counts : TraceObserver {
    std::uint64_t steps = 0;
    std::vector<TransferRecord> transfers;
    std::size_t hops = 0;
    void on_step(const StepRecord&) override { ++steps; }
    void on_transfer(const TransferRecord& record) override {
      hops += record.route->hops.size();
      transfers.push_back(record);
    }
  } counts;
  RunOptions options;
  options.observer = &counts;
  const Cluster cluster(star(2));
  const RunResult result = run_on_all(cluster, messages_in_a_row(1000_B, 2), options);
  CHECK(result.time == run_on_all(cluster, messages_in_a_row(1000_B, 2)).time);
  CHECK(counts.steps == 4);
  REQUIRE(counts.transfers.size() == 2);
  CHECK(counts.hops == 4);
  const TransferRecord& second = counts.transfers.back();
  CHECK(second.from == Rank(0));
  CHECK(second.to == Rank(1));
  CHECK(second.bytes == 1000_B);
  CHECK(second.start == at(wire(1000)));
  CHECK(second.left == at(wire(2000)));
  CHECK(second.arrived == at(wire(2000) + latency));
  CHECK(second.received == second.arrived);
}

TEST_CASE("the critical path is a chain of stretches without gaps") {
  // As "a fused step receives before it sends", and rank 0 has sent something else before.
  TableProgram program = program_for(3);
  const auto first = program.connect({Rank(0), 0}, {Rank(1), 0});
  const auto second = program.connect({Rank(1), 0}, {Rank(2), 0});
  program.add(Rank(0), 0, step(500_B).send(first.send));
  program.add(Rank(0), 0, step(1000_B).send(first.send));
  program.add(Rank(1), 0, step(500_B).receive(first.receive));
  program.add(Rank(1), 0, step(1000_B).receive(first.receive).send(second.send));
  program.add(Rank(2), 0, step(1000_B).receive(second.receive));
  RunOptions options;
  options.critical_path = true;
  const RunResult result = run_on_all(Cluster(mesh(3)), std::move(program), options);
  const std::vector<CriticalStep>& path = result.operations.at(0).critical_path;
  REQUIRE(path.size() == 4);
  CHECK(path[0].rank == Rank(0));
  CHECK(path[0].left == at(wire(500)));
  CHECK(path[0].end == at(wire(500)));
  CHECK(path[1].index == 1);
  CHECK(path[1].primitive == Primitive::Send);
  CHECK(path[1].bytes == 1000_B);
  CHECK_FALSE(path[1].from);
  CHECK(path[1].left == at(wire(1500)));
  CHECK(path[2].rank == Rank(1));
  CHECK(path[2].from == Rank(0));
  CHECK(path[2].start == at(wire(1500) + latency));
  CHECK(path[3].rank == Rank(2));
  CHECK(path[3].primitive == Primitive::Receive);
  CHECK(path[3].start == path[3].end);
  CHECK(path[0].start == Time{});
  for (std::size_t i = 1; i < path.size(); ++i) {
    CHECK(path[i].start == path[i - 1].end);
  }
  CHECK(path.back().end == at(result.time));
}

TEST_CASE("memory follows ranks and messages under way, not steps") {
  struct Heap : TraceObserver {
    std::size_t steps = 0;
    std::size_t peak = 0;
    void on_step(const StepRecord&) override {
      if (++steps % 16 == 0) {
        peak = std::max(peak, mallinfo2().uordblks);
      }
    }
    void on_transfer(const TransferRecord&) override {}
  };
  const Cluster cluster(star(16));
  const auto peak = [&](std::uint32_t chunks) {
    ProgramRequest request;
    request.call = call_for_size(CollectiveKind::AllReduce, 16, 4_MiB, DataType::Float32);
    request.chunks = chunks;
    const Collective ring{build_program(find_algorithm("ring"), request), gpus(cluster)};
    Heap heap;
    RunOptions options;
    options.observer = &heap;
    const std::size_t before = mallinfo2().uordblks;
    run(cluster, {ring}, options);
    CHECK(heap.steps == std::size_t{16} * 31 * chunks);
    return heap.peak - std::min(before, heap.peak);
  };
  const std::size_t few = peak(1);
  // 64 times the steps; some blocks grow once.
  CHECK(peak(64) <= few + few / 2);
}
