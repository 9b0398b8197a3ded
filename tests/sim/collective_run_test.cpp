#include "sim/collective_run.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "tests/catch.hpp"
#include "tests/sim/programs.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;
using Catch::Matchers::ContainsSubstring;

namespace {

CollectiveJob job(const Cluster& cluster, const char* algorithm, CollectiveKind kind, Bytes bytes) {
  CollectiveJob job;
  job.gpus = *gpus(cluster);
  job.call =
      call_for_size(kind, static_cast<std::uint32_t>(job.gpus.size()), bytes, DataType::Float32);
  if (!allows_in_place(kind)) {
    job.call.in_place = InPlace::No;
  }
  job.algorithm = algorithm;
  return job;
}

std::int64_t time_ps(const ClusterSpec& spec, NetworkModel model, const char* algorithm,
                     CollectiveKind kind, Bytes bytes) {
  const Cluster cluster(spec);
  RunOptions options;
  options.network = model;
  return run_collective(cluster, job(cluster, algorithm, kind, bytes), options).time.count();
}

Duration sum_of(const std::vector<AttributedTime>& parts) {
  Duration sum{};
  for (const AttributedTime& part : parts) {
    sum += part.time;
  }
  return sum;
}

}  // namespace

// A byte takes 20 ps and a route 10^6 ps of latency, on mesh and star. The comments say what the
// longest chain of messages is; the numbers are its sum.

TEST_CASE("ring all-reduce of 1 GiB on a mesh of 8") {
  // 14 steps of an eighth: 14·(2^27·20 + 10^6).
  CHECK(time_ps(mesh(8), NetworkModel::Ideal, "ring", CollectiveKind::AllReduce, 1_GiB) ==
        37'594'963'840);
}

TEST_CASE("naive and ring all-gather of 128 MiB on a star of 8") {
  // Gather: seven blocks share the root's link, 7·2^24·20 + 10^6; then the whole buffer to seven
  // peers over the root's link: 7·2^27·20 + 10^6.
  CHECK(time_ps(star(8), NetworkModel::Flow, "naive", CollectiveKind::AllGather, 128_MiB) ==
        21'141'292'160);
  // 7 steps of an eighth: 7·(2^24·20 + 10^6).
  CHECK(time_ps(star(8), NetworkModel::Flow, "ring", CollectiveKind::AllGather, 128_MiB) ==
        2'355'810'240);
}

TEST_CASE("naive all-reduce of 1 GiB on a star of 8 costs eight times the ring") {
  // Seven buffers to the root and seven back: 2·(7·2^30·20 + 10^6).
  CHECK(time_ps(star(8), NetworkModel::Flow, "naive", CollectiveKind::AllReduce, 1_GiB) ==
        300'649'710'720);
  CHECK(time_ps(star(8), NetworkModel::Flow, "ring", CollectiveKind::AllReduce, 1_GiB) ==
        37'594'963'840);
}

TEST_CASE("tree broadcast of 1 MiB to 5 ranks on a mesh") {
  // The root sends to three children one after the other; the last arrives at 3·2^20·20 + 10^6, the
  // grandchild at 2·(2^20·20 + 10^6), before that.
  CHECK(time_ps(mesh(5), NetworkModel::Ideal, "tree", CollectiveKind::Broadcast, 1_MiB) ==
        63'914'560);
}

TEST_CASE("bruck all-gather of 5 MiB on a mesh of 5") {
  // Rounds of 1, 2 and 1 blocks of 2^20: 4·2^20·20 + 3·10^6.
  CHECK(time_ps(mesh(5), NetworkModel::Ideal, "bruck", CollectiveKind::AllGather, 5_MiB) ==
        86'886'080);
}

TEST_CASE("halving-doubling all-reduce of 1 MiB on a mesh of 8") {
  // Halves, quarters, eighths and back: 2·(7/8·2^20·20 + 3·10^6).
  CHECK(time_ps(mesh(8), NetworkModel::Ideal, "halving-doubling", CollectiveKind::AllReduce,
                1_MiB) == 42'700'160);
}

TEST_CASE("direct all-reduce of 1 MiB on a star of 8") {
  // Seven eighths in and out of every rank, twice: 2·(7·2^17·20 + 10^6).
  CHECK(time_ps(star(8), NetworkModel::Flow, "direct", CollectiveKind::AllReduce, 1_MiB) ==
        38'700'160);
}

TEST_CASE("a result has everything that output shows") {
  const Cluster cluster(star(8));
  const CollectiveResult result =
      run_collective(cluster, job(cluster, "ring", CollectiveKind::AllReduce, 1_MiB));
  CHECK(result.algorithm == "ring");
  CHECK(result.channels == 1);
  CHECK(result.chunks == 1);
  CHECK(result.time_of_rank == std::vector<Duration>(8, result.time));
  CHECK(sum_of(result.attribution) == result.time);
  CHECK(result.links.size() == 16);
  CHECK(result.elapsed == result.time);
  CHECK(result.transfers == 8 * 14);
  CHECK(result.events >= 2 * result.transfers);
  CHECK(result.simulated_calls == 1);
  CHECK(result.critical_path.empty());
  CHECK(result.warnings.empty());
  // The ring is optimal in bandwidth: the bound of the GPUs' links is its wire time.
  REQUIRE_FALSE(result.bounds.empty());
  CHECK(result.bounds.front().time <= result.time);
  CHECK(result.bounds.front().time >= result.time - 14 * latency);
}

TEST_CASE("0 bytes and 1 rank take no time") {
  for (const CollectiveKind kind :
       {CollectiveKind::AllReduce, CollectiveKind::AllGather, CollectiveKind::Broadcast}) {
    const Cluster cluster(star(8));
    const CollectiveResult nothing = run_collective(cluster, job(cluster, "ring", kind, 0_B));
    CHECK(nothing.time == Duration{});
    CHECK(nothing.time_of_rank.size() == 8);
    CHECK(nothing.transfers == 0);
    CHECK(nothing.bounds.empty());
    CHECK(nothing.attribution.empty());
    CollectiveJob alone = job(cluster, "ring", kind, 1_MiB);
    alone.gpus.resize(1);
    alone.call = call_for_size(kind, 1, 1_MiB, DataType::Float32);
    for (const InPlace in_place : {InPlace::Yes, InPlace::No}) {
      alone.call.in_place = in_place;
      CHECK(run_collective(cluster, alone).time == Duration{});
      CHECK(run_back_to_back(cluster, alone, {5, 20}).time == Duration{});
    }
  }
}

TEST_CASE("a job needs as many GPUs as ranks, and an algorithm that exists") {
  const Cluster cluster(star(8));
  CollectiveJob wrong = job(cluster, "ring", CollectiveKind::AllReduce, 1_MiB);
  wrong.gpus.pop_back();
  CHECK_THROWS_WITH(run_collective(cluster, wrong), "the call is for 8 ranks, the job has 7 GPUs");
  wrong = job(cluster, "rnig", CollectiveKind::AllReduce, 1_MiB);
  CHECK_THROWS_AS(run_collective(cluster, wrong), InputError);
}

TEST_CASE("time that does not fit is the user's error, with a hint") {
  const Cluster cluster(star(8));
  const CollectiveJob large =
      job(cluster, "ring", CollectiveKind::AllReduce, Bytes(INT64_C(1) << 61));
  try {
    static_cast<void>(run_collective(cluster, large));
    FAIL("no error");
  } catch (const InputError& error) {
    CHECK_THAT(error.message(), ContainsSubstring("106 days"));
    CHECK_FALSE(error.hint().empty());
  }
}

TEST_CASE("bytes on the links of a level that do not fit are the user's error") {
  const Cluster cluster(star(16));
  // A ring sends 30 sixteenths over each of the 32 links: 60·S in all, at most 2^63 - 1.
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 60 / 64 * 64;
  const auto ring = [&](std::int64_t bytes) {
    return job(cluster, "ring", CollectiveKind::AllReduce, Bytes(bytes));
  };
  U128 sum = 0;
  for (const LinkUse& use : run_collective(cluster, ring(most)).links) {
    sum += whole_bytes(use);
  }
  CHECK((sum == static_cast<U128>(most) * 60));
  try {
    static_cast<void>(run_collective(cluster, ring(most + 64)));
    FAIL("no error");
  } catch (const RangeError& error) {
    CHECK(error.render() ==
          "error: the bytes on the links of level \"link\" exceed 2^63 - 1\n"
          "hint: fewer bytes, ranks or iterations");
  }
}

TEST_CASE("fewer channels and chunks than asked for are reported") {
  const Cluster cluster(star(4));
  CollectiveJob small = job(cluster, "ring", CollectiveKind::AllGather, 64_B);
  small.call = call_for_size(CollectiveKind::AllGather, 4, 64_B, DataType::Float64);
  small.channels = 9;
  small.chunks = 2;
  // 16 bytes a block are two elements: two channels of one chunk.
  const CollectiveResult result = run_collective(cluster, small);
  CHECK(result.channels == 2);
  CHECK(result.warnings ==
        std::vector<std::string>{"2 of 9 channels in use: the data have no more parts",
                                 "1 of 2 chunks in use: the data have no more parts"});
}

TEST_CASE("ideal says when it ignored that transfers overlapped") {
  const Cluster cluster(star(8));
  const CollectiveJob naive = job(cluster, "naive", CollectiveKind::AllGather, 1_MiB);
  const CollectiveResult result = run_collective(cluster, naive, ideal());
  CHECK(result.contention_ignored);
  REQUIRE(result.warnings.size() == 1);
  CHECK_THAT(result.warnings.front(), ContainsSubstring("overlapped"));
  CHECK_FALSE(run_collective(cluster, naive).contention_ignored);
}

TEST_CASE("calls that all ranks end together cost the same each") {
  const Cluster cluster(star(8));
  const CollectiveJob ring = job(cluster, "ring", CollectiveKind::AllReduce, 1_MiB);
  const CollectiveResult once = run_collective(cluster, ring);
  const CollectiveResult many = run_back_to_back(cluster, ring, {5, 20});
  CHECK(many.simulated_calls == 1);
  CHECK(many.time == once.time);
  CHECK(many.time_of_rank == once.time_of_rank);
  // The same as simulating them all.
  const std::shared_ptr<const Program> program = program_of(cluster, ring);
  const std::vector<Workload::Operation> calls(25, Collective{program, gpus(cluster)});
  const RunResult full = run(cluster, calls);
  CHECK(full.time == 25 * many.time);
  CHECK(full.operations[24].time_of_rank == std::vector<Duration>(8, 25 * many.time));
  CHECK(full.links[0].fine_bytes == 25 * many.links[0].fine_bytes);
}

TEST_CASE("a process that launches for all GPUs shows where it is nearly as slow as they are") {
  const Cluster cluster(star(8));
  const CollectiveJob ring = job(cluster, "ring", CollectiveKind::AllReduce, 1_MiB);
  const Duration alone = run_back_to_back(cluster, ring, {5, 20}).time;
  const auto together = [&](Duration host, AttributeTo attribute) {
    RunOptions options;
    options.host_per_call = host;
    options.attribute = attribute;
    return run_back_to_back(cluster, ring, {5, 20}, options);
  };
  const auto of_process = [](const CollectiveResult& result) {
    Duration sum{};
    Duration process{};
    for (const AttributedTime& part : result.attribution) {
      sum += part.time;
      process += part.parameter == CostItem::LaunchProcess ? part.time : Duration{};
    }
    CHECK(sum == result.time);
    return process;
  };
  // As slow: the fourth root of 2 times as long. To each is due what is lost without it; for a fit both
  // have the same part.
  const CollectiveResult equal = together(alone, AttributeTo::Causes);
  const double fourth_root = std::sqrt(std::sqrt(2.0));
  CHECK(equal.time == Duration(std::llround(static_cast<double>(alone.count()) * fourth_root)));
  CHECK(of_process(equal) == equal.time - alone);
  CHECK(equal.time_of_rank == std::vector<Duration>(8, equal.time));
  const Duration fitted = of_process(together(alone, AttributeTo::Limits));
  CHECK(std::chrono::abs(2 * fitted - equal.time) <= Duration(2));
  // Ten times as slow: (1 + 10^-4)^(1/4) is 1 + 2.5 · 10^-5 times as long as the longer one.
  const Duration host = 10 * alone;
  const Duration more = together(host, AttributeTo::Causes).time - host;
  CHECK(std::abs(static_cast<double>(more.count()) / static_cast<double>(host.count()) - 2.5e-5) <
        1e-8);
}

TEST_CASE("calls that overlap cost the mean of what each rank needs for one") {
  // A chain of 3 ends call k (from 1) at k wires, (k+1) wires + L, and (k+1) wires + 2L: the second
  // rank forwards what the first one sent, the third receives that.
  const Cluster cluster(mesh(3));
  const CollectiveJob chain = job(cluster, "ring", CollectiveKind::Broadcast, 100'000_B);
  const CollectiveResult warm = run_back_to_back(cluster, chain, {2, 10});
  CHECK(warm.simulated_calls == 12);
  CHECK(warm.time_of_rank == std::vector<Duration>(3, wire(100'000)));
  CHECK(warm.time == wire(100'000));
  CHECK(sum_of(warm.attribution) == warm.time);
  CHECK(warm.elapsed == wire(1'300'000) + 2 * latency);
  CHECK(warm.transfers == 24);
  // Without warm-up the ranks' first calls count from the start.
  const CollectiveResult cold = run_back_to_back(cluster, chain, {0, 10});
  CHECK(cold.time_of_rank == std::vector<Duration>{wire(100'000), wire(110'000) + latency / 10,
                                                   wire(110'000) + latency / 5});
  // The mean: 320,000 bytes and 3/10 of a latency, 6,700,000 ps, over three.
  CHECK(cold.time == 2'233'333_ps);
  CHECK(sum_of(cold.attribution) == cold.time);
}

TEST_CASE("one timed call is an isolated one") {
  const Cluster cluster(mesh(3));
  const CollectiveJob chain = job(cluster, "ring", CollectiveKind::Broadcast, 100'000_B);
  const CollectiveResult once = run_back_to_back(cluster, chain, {0, 1});
  CHECK(once.time == run_collective(cluster, chain).time);
  CHECK(once.simulated_calls == 1);
  CHECK_THROWS_WITH(run_back_to_back(cluster, chain, {3, 0}),
                    "at least one iteration must be timed");
  CHECK_THROWS_AS(run_back_to_back(cluster, chain, {4'000'000'000U, 4'000'000'000U}), InputError);
}
