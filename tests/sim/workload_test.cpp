#include "sim/workload.hpp"

#include "tests/catch.hpp"
#include "tests/sim/programs.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::int64_t block = 100'000;

/// A ring all-gather of one block a rank, and how long it takes on a machine of its own.
Collective ring_of(const std::shared_ptr<const Communicator>& communicator,
                   Launch launch = Launch::Blocking) {
  return collective("ring", CollectiveKind::AllGather,
                    Bytes(block * static_cast<std::int64_t>(communicator->size())), communicator,
                    launch);
}
Duration ring_time(std::int64_t ranks, std::int64_t sharing = 1) {
  return (ranks - 1) * (sharing * wire(block) + latency);
}

}  // namespace

TEST_CASE("two collectives at once on disjoint GPUs do not see each other") {
  const Cluster cluster(star(8));
  const RunResult result =
      run(cluster, {ring_of(gpus(cluster, {0, 1, 2, 3})), ring_of(gpus(cluster, {7, 6, 5}))});
  CHECK(result.operations[0].end == at(ring_time(4)));
  CHECK(result.operations[1].start == Time{});
  CHECK(result.operations[1].end == at(ring_time(3)));
  CHECK(result.time == ring_time(4));
}

TEST_CASE("two collectives at once on the same GPUs share the links") {
  const Cluster cluster(star(4));
  const auto all = gpus(cluster);
  const RunResult result = run(cluster, {ring_of(all, Launch::Asynchronous), ring_of(all)});
  // Two messages on each link at all times: each at half the rate.
  CHECK(result.operations[0].end == at(ring_time(4, 2)));
  CHECK(result.operations[1].end == at(ring_time(4, 2)));
}

TEST_CASE("two collectives that have one GPU in common follow each other there, if blocking") {
  const Cluster cluster(mesh(5));
  const RunResult result =
      run(cluster, {ring_of(gpus(cluster, {0, 1, 2})), ring_of(gpus(cluster, {2, 3, 4}))});
  // GPUs 3 and 4 start at once, but GPU 2 sends its block when it has left the first collective, at
  // ring_time(3). That block needs two messages to GPU 4, like the last block of any ring of three.
  CHECK(result.operations[0].end == at(ring_time(3)));
  CHECK(result.operations[1].start == Time{});
  CHECK(result.operations[1].time_of_rank.at(2) == 2 * ring_time(3));
  CHECK(result.time == 2 * ring_time(3));
}

TEST_CASE("two collectives at once that have one GPU in common share that one's links") {
  const Cluster cluster(star(5));
  const RunResult result = run(cluster, {ring_of(gpus(cluster, {0, 1, 2}), Launch::Asynchronous),
                                         ring_of(gpus(cluster, {2, 3, 4}))});
  // First messages: those of GPU 2's two lanes share its link out, those of GPUs 1 and 4 share its
  // link in; 0 to 1 and 3 to 4 have the whole rate. So after 2 wires GPU 2 goes on with what arrived
  // a latency later, two at once again: out after 2 more wires. GPUs 0 and 3 end with that.
  CHECK(result.time == ring_time(3, 2));
  // The same from GPU 2 on round either ring: it is rank 2 of the one and rank 0 of the other.
  for (std::size_t distance = 0; distance < 3; ++distance) {
    CHECK(result.operations[0].time_of_rank.at((2 + distance) % 3) ==
          result.operations[1].time_of_rank.at(distance));
  }
}

TEST_CASE("a collective on a subgroup in any order uses the links of its GPUs and no others") {
  const Cluster cluster(star(8));
  const auto group = gpus(cluster, {6, 1, 4});
  const RunResult result = run(cluster, {ring_of(group)});
  CHECK(result.time == ring_time(3));
  const Graph& graph = cluster.graph();
  for (std::size_t link = 0; link < result.links.size(); ++link) {
    const auto& [source, target] =
        std::pair(graph.link(LinkId(link)).source, graph.link(LinkId(link)).target);
    const bool in_group = std::any_of(group->begin(), group->end(),
                                      [&](DeviceId gpu) { return gpu == source || gpu == target; });
    CHECK(result.links[link].fine_bytes == to_fine(Bytes(in_group ? 2 * block : 0)));
  }
}

TEST_CASE("rank order is the communicator's: who is rank 0 sends first") {
  const Cluster cluster(mesh(3));
  const auto order = gpus(cluster, {2, 0, 1});
  const RunResult result =
      run(cluster, {collective("ring", CollectiveKind::Broadcast, Bytes(block), order)});
  // Rank 0 is the root: done when its message has left. Rank 1 forwards it, rank 2 is two messages
  // away.
  CHECK(result.operations[0].time_of_rank ==
        std::vector<Duration>{wire(block), 2 * wire(block) + latency, 2 * (wire(block) + latency)});
  const Route route = cluster.router().route(order->at(0), order->at(1));
  CHECK(result.links[route.hops[0].link.index()].fine_bytes == to_fine(Bytes(block)));
}

TEST_CASE("blocking operations follow each other on every GPU") {
  const Cluster cluster(star(4));
  const Collective ring = ring_of(gpus(cluster));
  const RunResult result = run(cluster, {ring, ring, ring});
  for (int i = 0; i < 3; ++i) {
    CHECK(result.operations[static_cast<std::size_t>(i)].start == at(i * ring_time(4)));
    CHECK(result.operations[static_cast<std::size_t>(i)].end == at((i + 1) * ring_time(4)));
  }
  CHECK(result.transfers == 3 * 12);
}

TEST_CASE("a rank may be ahead by a whole operation") {
  // The root of a chain is done when its bytes have left, and starts the next broadcast. The second
  // rank ends call k (from 1) at k+1 wires and a latency, and the third a latency after that.
  const Cluster cluster(mesh(3));
  const Collective broadcast =
      collective("ring", CollectiveKind::Broadcast, Bytes(block), gpus(cluster));
  const RunResult result = run(cluster, {broadcast, broadcast, broadcast});
  CHECK(result.operations[2].time_of_rank == std::vector<Duration>{3 * wire(block),
                                                                   4 * wire(block) + latency,
                                                                   4 * wire(block) + 2 * latency});
}

TEST_CASE("a computation delays what comes behind it on its GPUs") {
  const Cluster cluster(star(4));
  const Duration computing = std::chrono::milliseconds(1);
  const RunResult result = run(
      cluster, {Compute{gpus(cluster, {1}), computing, Launch::Blocking}, ring_of(gpus(cluster))});
  CHECK(result.operations[0].time_of_rank == std::vector<Duration>{computing});
  CHECK(result.operations[1].start == Time{});
  // Everyone needs rank 1's block, and rank 0 is the last to get it, after three messages.
  CHECK(result.time == computing + ring_time(4));
}

TEST_CASE("asynchronous operations overlap until a wait") {
  const Cluster cluster(star(4));
  const auto all = gpus(cluster);
  const Duration computing = std::chrono::microseconds(5);
  const RunResult result =
      run(cluster, {ring_of(all, Launch::Asynchronous), Compute{all, computing, Launch::Blocking},
                    Wait{all, OperationId(0)}, Compute{all, computing, Launch::Blocking}});
  REQUIRE(ring_time(4) > computing);
  CHECK(result.operations[1].end == at(computing));
  CHECK(result.operations[2].start == at(computing));
  CHECK(result.operations[2].end == at(ring_time(4)));
  CHECK(result.time == ring_time(4) + computing);
  // The attribution of what follows a wait goes through what was waited for.
  CHECK(result.operations[3].attribution.at(0).cause == Cause::Compute);
  CHECK(result.operations[3].attribution.at(0).time == computing);
}

TEST_CASE("a wait for what is over takes no time") {
  const Cluster cluster(star(4));
  const auto all = gpus(cluster);
  const Duration computing = std::chrono::milliseconds(1);
  const RunResult result =
      run(cluster, {ring_of(all, Launch::Asynchronous), Compute{all, computing, Launch::Blocking},
                    Wait{all, OperationId(0)}, Wait{all, OperationId(2)}});
  CHECK(result.time == computing);
  CHECK(result.operations[2].attribution.at(0).cause == Cause::Compute);
  CHECK(result.operations[3].end == at(computing));
}

TEST_CASE("asynchronous computations run side by side") {
  const Cluster cluster(mesh(2));
  const auto all = gpus(cluster);
  const RunResult result =
      run(cluster, {Compute{all, std::chrono::microseconds(7), Launch::Asynchronous},
                    Compute{all, std::chrono::microseconds(5), Launch::Asynchronous},
                    Wait{all, OperationId(1)}, Wait{all, OperationId(0)}});
  CHECK(result.operations[2].end == at(std::chrono::microseconds(5)));
  CHECK(result.time == std::chrono::microseconds(7));
}

TEST_CASE("the critical path runs through operations") {
  const Cluster cluster(mesh(2));
  const auto all = gpus(cluster);
  RunOptions options;
  options.critical_path = true;
  const Duration computing = std::chrono::milliseconds(1);
  const RunResult result = run(
      cluster, {Compute{gpus(cluster, {1}), computing, Launch::Blocking}, ring_of(all)}, options);
  const std::vector<CriticalStep>& path = result.operations[1].critical_path;
  REQUIRE(path.size() == 3);
  CHECK(path[0].operation == OperationId(0));
  CHECK(path[0].end == at(computing));
  CHECK(path[1].operation == OperationId(1));
  CHECK(path[1].rank == Rank(1));
  CHECK(path[2].rank == Rank(0));
  CHECK(path[2].end == at(result.time));
}

TEST_CASE("an empty workload takes no time") {
  CHECK(run(Cluster(mesh(2)), {}).time == Duration{});
}

TEST_CASE("workloads that make no sense are refused") {
  const Cluster cluster(star(3));
  const auto all = gpus(cluster);
  const auto error_of = [&](std::vector<Workload::Operation> operations) -> std::string {
    try {
      run(cluster, std::move(operations));
    } catch (const InputError& error) {
      return error.path() + ": " + error.message();
    }
    return "no error";
  };
  const auto none = std::make_shared<const Communicator>();
  const auto twice = gpus(cluster, {0, 1, 0});
  const auto a_switch =
      std::make_shared<const Communicator>(Communicator{device(cluster.graph(), "switch")});
  Collective ring = ring_of(all);
  CHECK(error_of({Compute{none, 1_ps, Launch::Blocking}}) ==
        "operations[0]: an operation needs a communicator of at least one GPU");
  CHECK(error_of({Compute{nullptr, 1_ps, Launch::Blocking}}) ==
        "operations[0]: an operation needs a communicator of at least one GPU");
  CHECK(error_of({ring, Compute{twice, 1_ps, Launch::Blocking}}) ==
        "operations[1]: the communicator holds gpu0 twice");
  CHECK_THAT(error_of({Compute{a_switch, 1_ps, Launch::Blocking}}),
             ContainsSubstring("which is not a GPU"));
  CHECK(error_of({Compute{all, Duration(-1), Launch::Blocking}}) ==
        "operations[0]: a computation cannot take less than no time");
  CHECK(error_of({Wait{all, OperationId(0)}}) ==
        "operations[0]: waits for operation 0, which does not stand before it");
  CHECK(error_of({ring_of(gpus(cluster, {0, 1})), Wait{all, OperationId(0)}}) ==
        "operations[1]: gpu2 waits for operation 0, in which it takes no part");
  ring.communicator = gpus(cluster, {0, 1});
  CHECK(error_of({ring}) == "operations[0]: the program is for 3 ranks, the communicator has 2");
  ring.program = nullptr;
  CHECK(error_of({ring}) == "operations[0]: a collective needs a program");
}
