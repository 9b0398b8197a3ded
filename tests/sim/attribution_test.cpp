#include "sim/attribution.hpp"

#include "tests/catch.hpp"
#include "tests/sim/programs.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

Duration part(const RunResult& result, Cause cause, std::optional<LevelId> level = std::nullopt) {
  Duration sum{};
  for (const AttributedTime& time : result.operations.back().attribution) {
    if (time.cause == cause && (!level || time.level == level)) {
      sum += time.time;
    }
  }
  return sum;
}

Duration sum_of(const RunResult& result) {
  Duration sum{};
  for (const AttributedTime& time : result.operations.back().attribution) {
    sum += time.time;
  }
  return sum;
}

/// A message of 1000 bytes in two hops, and one of 51,000 bytes in one, from two ranks to two lanes
/// or slots of rank 0: both arrive at the same time, since a latency is 50,000 bytes long.
constexpr std::int64_t long_bytes = 51'000;
constexpr std::int64_t short_bytes = 500;

}  // namespace

TEST_CASE("parts of a total come by cause and then by level, without those that are zero") {
  const AttributionLayout layout(2);
  std::vector<std::int64_t> vector(layout.size());
  vector[layout.latency(LevelId(1))] = 5;
  vector[layout.wire(LevelId(1))] = 4;
  vector[layout.wire(LevelId(0))] = 3;
  vector[layout.credit_wait()] = 2;
  vector[layout.compute()] = 1;
  const std::vector<AttributedTime> parts = layout.parts(vector.data());
  REQUIRE(parts.size() == 5);
  CHECK(parts[0].cause == Cause::Compute);
  CHECK_FALSE(parts[0].level);
  CHECK(parts[1].cause == Cause::CreditWait);
  CHECK(parts[2].cause == Cause::Wire);
  CHECK(parts[2].level == LevelId(0));
  CHECK(parts[3].level == LevelId(1));
  CHECK(parts[4].cause == Cause::Latency);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    CHECK(parts[i].time == Duration(i + 1));
  }
  CHECK(name_of(Cause::CreditWait) == "credit_wait");
}

TEST_CASE("what others on the same link cost is sharing") {
  TableProgram program = program_for(3);
  program.connect({Rank(0), 0}, {Rank(2), 0});
  program.connect({Rank(1), 0}, {Rank(2), 1});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    program.add(Rank(rank), 0, step(1000_B).send(0));
    program.add(Rank(2), rank, step(1000_B).receive(0));
  }
  const RunResult result = run_on_all(Cluster(star(3)), std::move(program));
  CHECK(part(result, Cause::Wire) == wire(1000));
  CHECK(part(result, Cause::Sharing) == wire(1000));
  CHECK(part(result, Cause::Latency) == latency);
  CHECK(sum_of(result) == result.time);
}

TEST_CASE("latency counts for the level of each link, bytes for that of the narrowest") {
  // From node to node: gpu -> switch (500 ns), -> nic (1 us), -> leaf (1 us), and back down. The
  // first of the narrowest links is that to the NIC: 12.5 GB/s, 80 ps a byte.
  const Cluster cluster(textbook_nodes(2));
  const auto levels = cluster.graph().levels();
  const auto level = [&](std::string_view name) {
    return LevelId(std::find(levels.begin(), levels.end(), name) - levels.begin());
  };
  TableProgram program = program_for(2);
  program.connect({Rank(0), 0}, {Rank(1), 0});
  program.add(Rank(0), 0, step(1000_B).send(0));
  program.add(Rank(1), 0, step(1000_B).receive(0));
  const RunResult result = run(cluster, {collective(std::move(program), gpus(cluster, {0, 4}))});
  const auto outer = level("leaf");
  const auto inner = LevelId(outer == LevelId(0) ? 1 : 0);
  CHECK(part(result, Cause::Wire, inner) == Duration(80'000));
  CHECK(part(result, Cause::Latency, inner) == std::chrono::microseconds(3));
  CHECK(part(result, Cause::Latency, outer) == std::chrono::microseconds(2));
  CHECK(sum_of(result) == result.time);
}

TEST_CASE("bytes count for the level of the link that is the narrowest when they have left") {
  // The uplink of the NIC falls from 12.5 GB/s to 1 GB/s at the start: 1000 ps a byte on the leaf.
  const Cluster cluster(textbook_nodes(2));
  const Graph& graph = cluster.graph();
  const auto pair = gpus(cluster, {0, 4});
  Workload workload;
  for (const RouteHop& hop : cluster.router().route(pair->at(0), pair->at(1)).hops) {
    if (graph.levels()[graph.link(hop.link).level.index()] == "leaf") {
      workload.capacity_changes.push_back({Time{}, hop.link, 1_GBps});
    }
  }
  REQUIRE(workload.capacity_changes.size() == 2);
  workload.capacity_changes.pop_back();
  const LevelId outer = graph.link(workload.capacity_changes[0].link).level;
  for (const NetworkModel network : {NetworkModel::Flow, NetworkModel::Ideal}) {
    TableProgram program = program_for(2);
    program.connect({Rank(0), 0}, {Rank(1), 0});
    program.add(Rank(0), 0, step(1000_B).send(0));
    program.add(Rank(1), 0, step(1000_B).receive(0));
    workload.operations.assign(1, collective(std::move(program), pair));
    RunOptions options;
    options.network = network;
    const RunResult result = run_workload(cluster, workload, options);
    CHECK(part(result, Cause::Wire, outer) == Duration(1'000'000));
    CHECK(part(result, Cause::Wire) == Duration(1'000'000));
  }
}

TEST_CASE("a sprayed route's latency is that of its slowest path") {
  const Cluster cluster(dgx_leaf_spine(4, 32, 1, RoutingKind::Spray));
  TableProgram program = program_for(2);
  program.connect({Rank(0), 0}, {Rank(1), 0});
  program.add(Rank(0), 0, step(64_B).send(0));
  program.add(Rank(1), 0, step(64_B).receive(0));
  const auto pair = gpus(cluster, {0, 31});
  const Route route = cluster.router().route(pair->at(0), pair->at(1));
  REQUIRE(std::any_of(route.hops.begin(), route.hops.end(),
                      [](const RouteHop& hop) { return hop.share_denominator > 1; }));
  const RunResult result = run(cluster, {collective(std::move(program), pair)});
  CHECK(part(result, Cause::Latency) == route.latency);
  CHECK(sum_of(result) == result.time);
}

TEST_CASE("a lane that is as late as its message counts its own time") {
  // Rank 1 sends for as long as rank 0's message takes to arrive: 51,000 bytes.
  TableProgram program = program_for(2);
  program.connect({Rank(0), 0}, {Rank(1), 0});
  program.connect({Rank(1), 0}, {Rank(0), 1});
  program.add(Rank(0), 0, step(1000_B).send(0));
  program.add(Rank(1), 0, step(Bytes(long_bytes)).send(0));
  program.add(Rank(1), 0, step(1000_B).receive(0));
  const auto back = program.connect({Rank(1), 0}, {Rank(0), 2});
  program.add(Rank(1), 0, step(1000_B).send(back.send));
  program.add(Rank(0), 1, step(Bytes(long_bytes)).receive(0));
  program.add(Rank(0), 2, step(1000_B).receive(0));
  const RunResult result = run_on_all(Cluster(mesh(2)), std::move(program));
  CHECK(result.time == wire(long_bytes + 1000) + latency);
  CHECK(part(result, Cause::Wire) == wire(long_bytes + 1000));
  CHECK(part(result, Cause::Latency) == latency);
}

TEST_CASE("of two messages as late as each other the lower slot counts") {
  for (const bool long_first : {true, false}) {
    TableProgram program = program_for(4);
    const auto long_one = [&] { program.connect({Rank(1), 0}, {Rank(0), 0}); };
    if (long_first) {
      long_one();
    }
    program.connect({Rank(3), 0}, {Rank(0), 0});
    if (!long_first) {
      long_one();
    }
    const auto relay = program.connect({Rank(2), 0}, {Rank(3), 0});
    // Rank 0 wants messages of one size, so the rest of the long one goes before on its own slot.
    const auto before = program.connect({Rank(1), 0}, {Rank(0), 1});
    program.add(Rank(1), 0, step(Bytes(long_bytes - short_bytes)).send(before.send));
    program.add(Rank(1), 0, step(Bytes(short_bytes)).send(0));
    program.add(Rank(0), 1, step(Bytes(long_bytes - short_bytes)).receive(0));
    program.add(Rank(2), 0, step(Bytes(short_bytes)).send(relay.send));
    program.add(Rank(3), 0, step(Bytes(short_bytes)).receive(0).send(0));
    program.add(Rank(0), 0, step(Bytes(short_bytes)).receive(0, 2));
    const RunResult result = run_on_all(Cluster(mesh(4)), std::move(program));
    CHECK(result.time == wire(long_bytes) + latency);
    CHECK(part(result, Cause::Wire) == (long_first ? wire(long_bytes) : wire(2 * short_bytes)));
    CHECK(part(result, Cause::Latency) == (long_first ? latency : 2 * latency));
  }
}

TEST_CASE("a join counts the time of the lane that was last, the lowest of equals") {
  // Lanes 1 and 2 of rank 0 receive the two messages at the same time; lane 0 joins them and sends.
  for (const std::uint32_t long_lane : {1U, 2U}) {
    const std::uint32_t relay_lane = 3 - long_lane;
    TableProgram program = program_for(4);
    program.connect({Rank(1), 0}, {Rank(0), long_lane});
    program.add(Rank(1), 0, step(Bytes(long_bytes)).send(0));
    program.add(Rank(0), long_lane, step(Bytes(long_bytes)).receive(0));
    program.connect({Rank(2), 0}, {Rank(3), 0});
    program.connect({Rank(3), 0}, {Rank(0), relay_lane});
    program.add(Rank(2), 0, step(Bytes(short_bytes)).send(0));
    program.add(Rank(3), 0, step(Bytes(short_bytes)).receive(0).send(0));
    program.add(Rank(0), relay_lane, step(Bytes(short_bytes)).receive(0));
    program.connect({Rank(0), 0}, {Rank(1), 1});
    program.add(Rank(0), 0, step(100_B).send(0).phase(1).join(0));
    program.add(Rank(1), 1, step(100_B).receive(0));
    const RunResult result = run_on_all(Cluster(mesh(4)), std::move(program));
    CHECK(result.time == wire(long_bytes) + latency + wire(100) + latency);
    const bool counts_long = long_lane == 1;
    CHECK(part(result, Cause::Wire) ==
          wire(100) + (counts_long ? wire(long_bytes) : wire(2 * short_bytes)));
    CHECK(part(result, Cause::Latency) == (counts_long ? 2 : 3) * latency);
  }
}

TEST_CASE("waiting for a step of another lane counts that lane's time") {
  TableProgram program = program_for(3);
  program.connect({Rank(1), 0}, {Rank(0), 1});
  program.connect({Rank(0), 0}, {Rank(2), 0});
  program.add(Rank(1), 0, step(1000_B).send(0));
  program.add(Rank(0), 1, step(1000_B).receive(0));
  program.add(Rank(0), 0, step(300_B).send(0).after(1, 0));
  program.add(Rank(2), 0, step(300_B).receive(0));
  const RunResult result = run_on_all(Cluster(mesh(3)), std::move(program));
  CHECK(part(result, Cause::Wire) == wire(1300));
  CHECK(part(result, Cause::Latency) == 2 * latency);
  CHECK(sum_of(result) == result.time);
}

TEST_CASE("waiting for a FIFO slot is credit_wait") {
  // One slot; rank 1 takes the first message when it has sent 200,000 bytes. So the second waits
  // from 1000 to 200,000 bytes, the third for the latency of the second.
  TableProgram program = program_for(2);
  const auto slot = program.connect({Rank(0), 0}, {Rank(1), 0});
  const auto busy = program.connect({Rank(1), 0}, {Rank(0), 1});
  program.set_lane(Rank(0), 0, Lane{0, 0, 1});
  program.add(Rank(1), 0, step(200'000_B).send(busy.send));
  program.add(Rank(0), 1, step(200'000_B).receive(busy.receive));
  for (int i = 0; i < 3; ++i) {
    program.add(Rank(0), 0, step(1000_B).send(slot.send));
    program.add(Rank(1), 0, step(1000_B).receive(slot.receive));
  }
  const RunResult result = run_on_all(Cluster(mesh(2)), std::move(program));
  CHECK(result.time == wire(202'000) + 2 * latency);
  CHECK(part(result, Cause::Wire) == wire(3000));
  CHECK(part(result, Cause::CreditWait) == wire(199'000) + latency);
  CHECK(part(result, Cause::Latency) == latency);
}

TEST_CASE("computing counts as compute, and what follows behind it") {
  const Cluster cluster(mesh(2));
  const auto all = gpus(cluster);
  const RunResult result =
      run(cluster, {Compute{gpus(cluster, {1}), std::chrono::milliseconds(3), Launch::Blocking},
                    collective("ring", CollectiveKind::AllGather, 2000_B, all)});
  CHECK(part(result, Cause::Compute) == std::chrono::milliseconds(3));
  CHECK(sum_of(result) == result.time);
  CHECK(result.operations[0].attribution.size() == 1);
}

TEST_CASE("every collective's parts sum to its time") {
  for (std::uint32_t ranks = 2; ranks <= 9; ++ranks) {
    const Cluster cluster(star(ranks));
    const RunResult result =
        run(cluster, {collective("ring", CollectiveKind::AllReduce, 10'007_B, gpus(cluster))});
    CHECK(sum_of(result) == result.time);
    CHECK(part(result, Cause::Latency) == 2 * (ranks - 1) * latency);
  }
}
