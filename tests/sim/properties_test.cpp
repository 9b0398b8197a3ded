// What holds for every algorithm on every machine, whatever the sizes.

#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>

#include "sim/collective_run.hpp"
#include "tests/catch.hpp"
#include "tests/sim/programs.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

ClusterSpec spray_fabric() { return dgx_leaf_spine(3, 12, 2, RoutingKind::Spray); }

/// A machine, a subset of its GPUs in any order, and a collective on it.
struct Case {
  std::shared_ptr<const Cluster> cluster;
  CollectiveJob job;
};

Case any_case() {
  Case any;
  const auto machine = *rc::gen::element(0, 1, 2, 3, 4);
  const auto size = *rc::gen::inRange<std::uint32_t>(2, 13);
  any.cluster = std::make_shared<const Cluster>(machine == 0   ? star(size)
                                                : machine == 1 ? mesh(size)
                                                : machine == 2 ? textbook_nodes(3)
                                                : machine == 3 ? dgx(2)
                                                               : spray_fabric());
  std::vector<DeviceId> all = *gpus(*any.cluster);
  for (std::size_t i = all.size(); i > 1; --i) {
    std::swap(all[i - 1], all[*rc::gen::inRange<std::size_t>(0, i)]);
  }
  const auto ranks = *rc::gen::inRange<std::size_t>(2, std::min<std::size_t>(all.size(), 12) + 1);
  any.job.gpus.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(ranks));

  const auto table = algorithms();
  const Algorithm algorithm =
      *rc::gen::elementOf(std::vector<Algorithm>(table.begin(), table.end()));
  const CollectiveKind kind = *rc::gen::elementOf(algorithm.collectives);
  any.job.algorithm = algorithm.name;
  any.job.call =
      call_for_size(kind, static_cast<std::uint32_t>(ranks),
                    Bytes(*rc::gen::inRange<std::int64_t>(0, 200'000)), DataType::Float32);
  any.job.call.root = Rank(*rc::gen::inRange<std::size_t>(0, ranks));
  if (!allows_in_place(kind)) {
    any.job.call.in_place = InPlace::No;
  }
  any.job.channels = *rc::gen::inRange<std::uint32_t>(1, 4);
  any.job.chunks = *rc::gen::inRange<std::uint32_t>(1, 4);
  return any;
}

bool applies(const Case& any) {
  ProgramRequest request;
  request.call = any.job.call;
  for (const DeviceId gpu : any.job.gpus) {
    request.node_of_rank.push_back(any.cluster->graph().device(gpu).node.value_or(NodeId(0)));
  }
  return !find_algorithm(any.job.algorithm).obstacle(request);
}

/// What a program sends over each link: all its steps, one by one, each message along its route.
std::vector<U128> bytes_by_link(const Cluster& cluster, const CollectiveJob& job) {
  const auto program = program_of(cluster, job);
  std::vector<U128> bytes(cluster.graph().links().size());
  for (std::uint32_t rank = 0; rank < job.gpus.size(); ++rank) {
    for (std::uint32_t lane = 0; lane < program->lane_count(Rank(rank)); ++lane) {
      for (std::uint64_t index = 0; index < program->step_count(Rank(rank), lane); ++index) {
        const Step step = program->step(Rank(rank), lane, index);
        for (std::uint32_t i = 0; i < step.sends.count; ++i) {
          const Rank peer = program->send_to(Rank(rank), lane, step.sends.first + i).peer;
          const Route route = cluster.router().route(job.gpus[rank], job.gpus[peer.index()]);
          for (const RouteHop& hop : route.hops) {
            bytes[hop.link.index()] += fine_bytes_on(step.bytes, hop);
          }
        }
      }
    }
  }
  return bytes;
}

Duration sum_of(const std::vector<AttributedTime>& parts) {
  return std::accumulate(parts.begin(), parts.end(), Duration{},
                         [](Duration sum, const AttributedTime& part) { return sum + part.time; });
}

/// Everything in a result as text.
std::string text_of(const CollectiveResult& result) {
  std::ostringstream text;
  text << result.time.count() << ' ' << result.transfers << ' ' << result.events << '\n';
  for (const Duration time : result.time_of_rank) {
    text << time.count() << ' ';
  }
  for (const AttributedTime& part : result.attribution) {
    text << name_of(part.cause) << (part.level ? part.level->value() : 99U) << ' '
         << part.time.count() << '\n';
  }
  for (const CriticalStep& step : result.critical_path) {
    text << step.rank.value() << ' ' << step.lane << ' ' << step.index << ' '
         << name_of(step.primitive) << ' ' << step.start.time_since_epoch().count() << '\n';
  }
  for (const LinkUse& link : result.links) {
    text << static_cast<std::uint64_t>(link.fine_bytes >> 64U) << ' '
         << static_cast<std::uint64_t>(link.fine_bytes) << ' ' << link.busy.count() << ' '
         << link.peak_flows << '\n';
  }
  return text.str();
}

struct Nothing : TraceObserver {
  void on_step(const StepRecord&) override {}
  void on_transfer(const TransferRecord&) override {}
};

}  // namespace

TEST_CASE("every link carries what the program sends over it") {
  CHECK(rc::check("bytes by link", [] {
    const Case any = any_case();
    RC_PRE(applies(any));
    RunOptions options;
    options.network = *rc::gen::element(NetworkModel::Flow, NetworkModel::Ideal);
    const CollectiveResult result = run_collective(*any.cluster, any.job, options);
    const std::vector<U128> expected = bytes_by_link(*any.cluster, any.job);
    for (std::size_t link = 0; link < expected.size(); ++link) {
      RC_ASSERT(result.links[link].fine_bytes == expected[link]);
    }
  }));
}

TEST_CASE("attribution sums to the time, and the critical path has no gaps") {
  CHECK(rc::check("attribution and path", [] {
    const Case any = any_case();
    RC_PRE(applies(any));
    RunOptions options;
    options.critical_path = true;
    const CollectiveResult result = run_collective(*any.cluster, any.job, options);
    RC_ASSERT(sum_of(result.attribution) == result.time);
    RC_ASSERT(*std::max_element(result.time_of_rank.begin(), result.time_of_rank.end()) ==
              result.time);
    for (const AttributedTime& part : result.attribution) {
      RC_ASSERT(part.time > Duration{});
    }
    const std::vector<CriticalStep>& path = result.critical_path;
    RC_ASSERT(path.empty() == (result.transfers == 0));
    if (path.empty()) {
      return;
    }
    RC_ASSERT(path.front().start == Time{});
    RC_ASSERT(path.back().end == at(result.time));
    for (std::size_t i = 0; i < path.size(); ++i) {
      RC_ASSERT(path[i].start <= path[i].left);
      RC_ASSERT(path[i].left <= path[i].end);
      if (i > 0) {
        RC_ASSERT(path[i].start == path[i - 1].end);
      }
    }
  }));
}

TEST_CASE("a run gives the same twice, and the same with an observer and the critical path") {
  CHECK(rc::check("determinism", [] {
    const Case any = any_case();
    RC_PRE(applies(any));
    RunOptions options;
    options.critical_path = true;
    const std::string once = text_of(run_collective(*any.cluster, any.job, options));
    Nothing nothing;
    options.observer = &nothing;
    RC_ASSERT(text_of(run_collective(*any.cluster, any.job, options)) == once);
    CollectiveResult plain = run_collective(*any.cluster, any.job);
    plain.critical_path = run_collective(*any.cluster, any.job, options).critical_path;
    RC_ASSERT(text_of(plain) == once);
  }));
}

TEST_CASE("where no transfers share a link, sharing them fairly changes nothing") {
  CHECK(rc::check("flow = ideal", [] {
    const Case any = any_case();
    RC_PRE(applies(any));
    RunOptions options;
    options.network = NetworkModel::Ideal;
    const CollectiveResult ideal = run_collective(*any.cluster, any.job, options);
    const CollectiveResult flow = run_collective(*any.cluster, any.job);
    if (ideal.contention_ignored) {
      RC_ASSERT(flow.time >= ideal.time);
    } else {
      RC_ASSERT(flow.time_of_rank == ideal.time_of_rank);
      RC_ASSERT(flow.transfers == ideal.transfers);
    }
  }));
}

TEST_CASE("renaming ranks by a symmetry of the machine changes nothing") {
  CHECK(rc::check("symmetry", [] {
    Case any = any_case();
    any.cluster = std::make_shared<const Cluster>(star(16));
    for (std::size_t rank = 0; rank < any.job.gpus.size(); ++rank) {
      any.job.gpus[rank] = any.cluster->graph().gpus()[rank];
    }
    RC_PRE(applies(any));
    const CollectiveResult straight = run_collective(*any.cluster, any.job);
    std::reverse(any.job.gpus.begin(), any.job.gpus.end());
    const CollectiveResult reversed = run_collective(*any.cluster, any.job);
    RC_ASSERT(straight.time_of_rank == reversed.time_of_rank);
    RC_ASSERT(sum_of(straight.attribution) == sum_of(reversed.attribution));
    for (std::size_t i = 0; i < straight.attribution.size(); ++i) {
      RC_ASSERT(straight.attribution[i].time == reversed.attribution[i].time);
    }
  }));
}

TEST_CASE("calls back to back take as long as when all are simulated") {
  CHECK(rc::check("steady state", [] {
    const Case any = any_case();
    RC_PRE(applies(any));
    const Iterations iterations{*rc::gen::inRange(0U, 3U), *rc::gen::inRange(1U, 5U)};
    const CollectiveResult result = run_back_to_back(*any.cluster, any.job, iterations);
    Workload workload;
    workload.operations.assign(iterations.warmup + iterations.timed,
                               Collective{program_of(*any.cluster, any.job),
                                          std::make_shared<const Communicator>(any.job.gpus)});
    const RunResult full = run_workload(*any.cluster, workload);
    RC_ASSERT(sum_of(result.attribution) == result.time);
    const std::int64_t timed = iterations.timed;
    for (std::size_t rank = 0; rank < any.job.gpus.size(); ++rank) {
      Duration span = full.operations.back().time_of_rank[rank];
      if (iterations.warmup > 0) {
        span -= full.operations[iterations.warmup - 1].time_of_rank[rank];
      }
      // Rounded to the nearest.
      RC_ASSERT(2 * std::abs((span - timed * result.time_of_rank[rank]).count()) <= timed);
    }
  }));
}
