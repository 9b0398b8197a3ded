// What is folded gives what the run of every lane gives, to the picosecond, in everything but events.

#include <rapidcheck.h>

#include <optional>
#include <sstream>
#include <string>

#include "sim/collective_run.hpp"
#include "tests/catch.hpp"
#include "tests/sim/costly_programs.hpp"
#include "tests/sim/programs.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

void print(std::ostringstream& text, const std::vector<AttributedTime>& parts) {
  for (const AttributedTime& part : parts) {
    text << name_of(part.cause) << ' ' << (part.level ? part.level->value() : 99U) << ' '
         << (part.parameter ? static_cast<int>(*part.parameter) : -1) << ' ' << part.time.count()
         << '\n';
  }
}

/// Everything in a result but events and how it was folded.
std::string text_of(const RunResult& result) {
  std::ostringstream text;
  text << result.time.count() << ' ' << result.transfers << ' ' << result.contention_ignored
       << '\n';
  for (const OperationResult& operation : result.operations) {
    text << operation.start.time_since_epoch().count() << ' '
         << operation.end.time_since_epoch().count() << '\n';
    for (const Duration time : operation.time_of_rank) {
      text << time.count() << ' ';
    }
    text << '\n';
    print(text, operation.attribution);
  }
  for (const LinkUse& link : result.links) {
    text << static_cast<std::uint64_t>(link.fine_bytes >> 64U) << ' '
         << static_cast<std::uint64_t>(link.fine_bytes) << ' ' << link.busy.count() << ' '
         << link.peak_flows << '\n';
  }
  return text.str();
}

/// The run of a workload in which something must be folded; absent: nothing can be.
std::optional<RunResult> folded_run(const Cluster& cluster, const Workload& workload,
                                    RunOptions options) {
  options.fold = FoldMode::Require;
  try {
    return run_workload(cluster, workload, options);
  } catch (const InputError& error) {
    if (error.path() != "--fold") {
      throw;
    }
    return std::nullopt;
  }
}

RunResult full_run(const Cluster& cluster, const Workload& workload, RunOptions options) {
  options.fold = FoldMode::Off;
  return run_workload(cluster, workload, options);
}

/// Compares both runs, where there are two. How many lanes were simulated of how many; absent: all.
std::optional<FoldedCount> compared(const Cluster& cluster, const Workload& workload,
                                    const RunOptions& options = {}) {
  const std::optional<RunResult> folded = folded_run(cluster, workload, options);
  if (!folded) {
    return std::nullopt;
  }
  CHECK(text_of(*folded) == text_of(full_run(cluster, workload, options)));
  return folded->folding.lanes;
}

/// A collective of the table on all GPUs of a cluster, once.
Workload workload_of(const Cluster& cluster, const char* algorithm, CollectiveKind kind,
                     Bytes bytes) {
  Workload workload;
  workload.operations.emplace_back(collective(algorithm, kind, bytes, gpus(cluster)));
  return workload;
}

std::uint64_t lanes_simulated(const Cluster& cluster, const char* algorithm, CollectiveKind kind,
                              Bytes bytes) {
  const auto lanes = compared(cluster, workload_of(cluster, algorithm, kind, bytes));
  REQUIRE(lanes);
  return lanes->classes;
}

}  // namespace

TEST_CASE("ranks around one switch are all alike in a ring") {
  // Equal chunks: 8 ranks, 1 KiB each.
  CHECK(lanes_simulated(Cluster(star(8)), "ring", CollectiveKind::AllReduce, 8_KiB) == 1);
  CHECK(lanes_simulated(Cluster(star(8)), "pairwise", CollectiveKind::AllToAll, 8_KiB) == 1);
  // The first of the 7 lanes of each rank copies the own block, the others do the same.
  CHECK(lanes_simulated(Cluster(star(8)), "direct", CollectiveKind::AllToAll, 8_KiB) == 2);
}

TEST_CASE("in a ring over nodes, the places in a node are told apart") {
  // 4 GPUs a node, nodes around one switch: the last GPU of a node sends over the network.
  CHECK(lanes_simulated(Cluster(textbook_nodes(6)), "ring", CollectiveKind::AllGather, 24_KiB) ==
        4);
}

TEST_CASE("in a ring over leaves, the nodes of a leaf are told apart") {
  // 8 GPUs a node, 8 NICs, leaves of 32 ports: 2 nodes each (16 down, 16 up). A shift by a leaf
  // changes nothing; one by a node does: 16 classes.
  const Cluster cluster(dgx_leaf_spine(8, 32, 1, RoutingKind::Fixed));
  CHECK(lanes_simulated(cluster, "ring", CollectiveKind::AllReduce, 64_KiB) == 16);
}

TEST_CASE("what is too much to compare all with all is folded by a shift of the ranks") {
  RunOptions options;
  options.most_compared = 0;
  const auto simulated = [&](const ClusterSpec& spec, const char* algorithm, Bytes bytes) {
    const Cluster cluster(spec);
    const auto lanes = compared(
        cluster, workload_of(cluster, algorithm, CollectiveKind::AllToAll, bytes), options);
    REQUIRE(lanes);
    return lanes->classes;
  };
  // On one switch by one rank; `direct` has 7 lanes a rank.
  CHECK(simulated(star(8), "pairwise", 8_KiB) == 1);
  CHECK(simulated(star(8), "direct", 8_KiB) == 7);
  // 4 GPUs a node: by a node.
  CHECK(simulated(textbook_nodes(6), "pairwise", 24_KiB) == 4);
  // Leaves of 2 nodes of 8 GPUs: by a leaf.
  CHECK(simulated(dgx_leaf_spine(8, 32, 1, RoutingKind::Fixed), "pairwise", 64_KiB) == 16);
  // Hashed paths: by nothing.
  const Cluster hashed(dgx_leaf_spine(8, 32, 1, RoutingKind::Ecmp));
  options.fold = FoldMode::Require;
  try {
    (void)run_workload(hashed, workload_of(hashed, "pairwise", CollectiveKind::AllToAll, 64_KiB),
                       options);
    FAIL("something was folded");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()) ==
          "--fold: nothing can be folded: there are more lanes than can be compared");
  }
}

TEST_CASE("where one link is slower, lanes differ by how far they are from it") {
  ClusterSpec spec = star(6);
  spec.node.links[0].from = "gpu0";
  spec.node.links[0].bandwidth = Bandwidth::bytes_per_second(25'000'000'000);
  for (const char* const gpu : {"gpu1", "gpu2", "gpu3", "gpu4", "gpu5"}) {
    spec.node.links.push_back(
        link(gpu, "switch", textbook_bandwidth, std::chrono::nanoseconds(500)));
  }
  const Cluster cluster(spec);
  // In a ring all are different.
  CHECK_FALSE(compared(cluster, workload_of(cluster, "ring", CollectiveKind::AllReduce, 6_KiB)));
  // Exchanged directly, the others are alike: lanes to and from gpu0 are not.
  const auto lanes =
      compared(cluster, workload_of(cluster, "direct", CollectiveKind::AllToAll, 6_KiB));
  CHECK((!lanes || lanes->classes < lanes->all));
}

namespace {

enum class Tie { None, AcrossChannels };

/// Channel 0 goes along the ranks, channel 1 back; in each, a lane that copies what has come is a group of its own
/// that the next step joins. Every rank's lanes: relay and copy of each channel.
TableProgram there_and_back(std::uint32_t ranks, Tie tie) {
  TableProgram program = program_for(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (std::uint32_t lane = 0; lane < 4; ++lane) {
      Lane properties;
      properties.channel = lane / 2;
      properties.group = lane;
      program.set_lane(Rank(rank), lane, properties);
    }
  }
  for (std::uint32_t channel = 0; channel < 2; ++channel) {
    const std::uint32_t relay = 2 * channel;
    const auto at = [&](std::uint32_t place) {
      return Rank(channel == 0 ? place : ranks - 1 - place);
    };
    for (std::uint32_t place = 0; place < ranks; ++place) {
      Step step = collsim::test::step(1000_B).from(input(0_B));
      step.receives = {0, place > 0 ? 1U : 0U};
      step.sends = {0, place + 1 < ranks ? 1U : 0U};
      program.add(at(place), relay, step);
      Step copy = collsim::test::step(1000_B).from(input(0_B)).to(output(0_B)).phase(1);
      copy.join = tie == Tie::None ? relay : 2 - relay;
      program.add(at(place), relay + 1, copy);
      if (place + 1 < ranks) {
        (void)program.connect({at(place), relay}, {at(place + 1), relay});
      }
    }
  }
  return program;
}

}  // namespace

TEST_CASE("channels may change places from rank to rank") {
  const Cluster cluster(star(6));
  const auto ranks_simulated = [&](Tie tie) {
    Workload workload;
    workload.operations.emplace_back(collective(there_and_back(6, tie), gpus(cluster)));
    (void)compared(cluster, workload);
    const std::optional<RunResult> folded = folded_run(cluster, workload, {});
    return folded ? folded->folding.ranks.classes : 6;
  };
  // Rank r is to channel 0 what rank 5 - r is to channel 1.
  CHECK(ranks_simulated(Tie::None) == 3);
  // Where channels wait for each other, ties are decided by their order.
  CHECK(ranks_simulated(Tie::AcrossChannels) == 6);
}

TEST_CASE("where a rank runs several operations, its lanes keep their order") {
  const Cluster cluster(star(6));
  const auto program = std::make_shared<const TableProgram>(there_and_back(6, Tie::None));
  Workload workload;
  workload.operations.emplace_back(Collective{program, gpus(cluster), Launch::Blocking});
  const auto& first = std::get<Collective>(workload.operations.front());
  workload.operations.emplace_back(Collective{program, first.communicator, Launch::Blocking});
  CHECK_FALSE(compared(cluster, workload));
}

TEST_CASE("a ring is evaluated without events, all alike or not") {
  const auto run = [](const Cluster& cluster, FoldMode fold, std::int64_t bytes) {
    RunOptions options;
    options.fold = fold;
    return run_workload(
        cluster, workload_of(cluster, "ring", CollectiveKind::AllReduce, Bytes(bytes)), options);
  };
  ClusterSpec spec = textbook_nodes(20);
  const Cluster alike(spec);
  spec.node.links[0].from = "gpu0";
  for (const char* const gpu : {"gpu1", "gpu2", "gpu3"}) {
    spec.node.links.push_back(link(gpu, "switch", textbook_bandwidth, Duration(123'456)));
  }
  const Cluster unlike(spec);
  // 80 ranks, 12,640 messages. One element more makes the chunks unequal, so that each lane is of its own.
  for (const std::int64_t bytes : {80 * 4096, 80 * 4096 + 4}) {
    for (const Cluster* const cluster : {&alike, &unlike}) {
      const RunResult quick = run(*cluster, FoldMode::Auto, bytes);
      CHECK(quick.folding.evaluated);
      CHECK(quick.folding.folded == (bytes == 80 * 4096));
      CHECK(quick.events == 0);
      CHECK(text_of(quick) == text_of(run(*cluster, FoldMode::Off, bytes)));
    }
  }
}

TEST_CASE("nothing is folded where it cannot be shown to be right") {
  const Cluster cluster{star(8)};
  Workload workload = workload_of(cluster, "ring", CollectiveKind::AllReduce, 8_KiB);
  const auto reason = [&](const RunOptions& options) {
    RunOptions required = options;
    required.fold = FoldMode::Require;
    try {
      (void)run_workload(cluster, workload, required);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("folded");
  };
  CHECK(reason({}) == "folded");
  RunOptions options;
  options.critical_path = true;
  CHECK(reason(options) ==
        "--fold: nothing can be folded: the critical path names every rank on it");
  workload.capacity_changes.push_back({at(latency), LinkId(0), textbook_bandwidth});
  CHECK(reason({}) == "--fold: nothing can be folded: capacities of links change during the run");
  workload.capacity_changes.clear();
  // 8 KiB and one element more: one of 8 chunks is larger.
  workload = workload_of(cluster, "ring", CollectiveKind::AllReduce, 8196_B);
  CHECK(reason({}) ==
        "--fold: nothing can be folded: no two lanes do the same over paths that are alike");
}

namespace {

/// Machines that are the same from many places, from some and from none.
std::vector<ClusterSpec> machines() {
  std::vector<ClusterSpec> specs{star(2), star(5), star(8), mesh(4), textbook_nodes(3), dgx(2)};
  for (const RoutingKind routing : {RoutingKind::Fixed, RoutingKind::Spray, RoutingKind::Ecmp}) {
    specs.push_back(dgx_leaf_spine(4, 32, 1, routing));
    specs.push_back(dgx_leaf_spine(3, 12, 2, routing));
  }
  specs.push_back(textbook_nodes(4));
  specs.back().node.links[0].from = "gpu0";
  for (const char* const gpu : {"gpu1", "gpu2", "gpu3"}) {
    specs.back().node.links.push_back(
        link(gpu, "switch", Bandwidth::bytes_per_second(40'000'000'000), Duration(777)));
  }
  return specs;
}

/// An algorithm on all GPUs of a cluster, with two channels; absent: it does not do that there.
std::optional<Workload> two_channels(const Cluster& cluster, const Algorithm& algorithm,
                                     CollectiveKind kind, std::int64_t bytes) {
  const auto all = gpus(cluster);
  ProgramRequest request;
  request.call =
      call_for_size(kind, static_cast<std::uint32_t>(all->size()), Bytes(bytes), DataType::Float32);
  request.channels = 2;
  for (const DeviceId gpu : *all) {
    request.node_of_rank.push_back(cluster.graph().device(gpu).node.value_or(NodeId(0)));
  }
  if (algorithm.obstacle(request)) {
    return std::nullopt;
  }
  Workload workload;
  workload.operations.emplace_back(Collective{build_program(algorithm, request), all});
  return workload;
}

/// How often something was folded: by comparing all with all, and by shifts of ranks alone.
struct TimesFolded {
  std::size_t compared = 0;
  std::size_t shifted = 0;

  TimesFolded& operator+=(const TimesFolded& other) {
    compared += other.compared;
    shifted += other.shifted;
    return *this;
  }
};

/// In both models.
TimesFolded compared_in_both(const Cluster& cluster, const Workload& workload) {
  TimesFolded folded;
  for (const NetworkModel model : {NetworkModel::Flow, NetworkModel::Ideal}) {
    RunOptions options;
    options.network = model;
    folded.compared += compared(cluster, workload, options) ? 1U : 0U;
    options.most_compared = 0;
    folded.shifted += compared(cluster, workload, options) ? 1U : 0U;
  }
  return folded;
}

/// All collectives of an algorithm, with blocks of one size and of several.
TimesFolded all_compared(const Cluster& cluster, const Algorithm& algorithm) {
  const auto ranks = static_cast<std::int64_t>(cluster.graph().gpus().size());
  TimesFolded folded;
  for (const CollectiveKind kind : algorithm.collectives) {
    for (const std::int64_t bytes : {4096 * ranks, 4100 * ranks + 4}) {
      INFO(cluster.name() << ' ' << ranks << ' ' << algorithm.name << ' ' << name_of(kind) << ' '
                          << bytes);
      if (const auto workload = two_channels(cluster, algorithm, kind, bytes)) {
        folded += compared_in_both(cluster, *workload);
      }
    }
  }
  return folded;
}

}  // namespace

TEST_CASE("every algorithm, folded, gives what all its lanes give") {
  TimesFolded folded;
  for (const ClusterSpec& spec : machines()) {
    const Cluster cluster(spec);
    for (const Algorithm& algorithm : algorithms()) {
      folded += all_compared(cluster, algorithm);
    }
  }
  // Otherwise nothing was tested.
  CHECK(folded.compared > 100);
  CHECK(folded.shifted > 50);
}
