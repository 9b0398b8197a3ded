// No algorithm is quicker than a lower bound, and some are as quick as one allows.

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "algorithms/bounds.hpp"
#include "algorithms/table.hpp"
#include "sim/collective_run.hpp"
#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"

using namespace collsim;
using namespace collsim::literals;

namespace {

std::vector<Cluster> machines() {
  std::vector<Cluster> result;
  result.emplace_back(test::star(6));
  result.emplace_back(test::mesh(5));
  result.emplace_back(test::textbook_nodes(3));
  result.emplace_back(test::dgx(2));
  // Leaves of two nodes, oversubscribed four to one.
  result.emplace_back(test::dgx_leaf_spine(3, 20, 4, RoutingKind::Fixed));
  result.emplace_back(test::dgx_leaf_spine(3, 20, 4, RoutingKind::Spray));
  return result;
}

/// All GPUs or some of them, in an order of their own; the same ones every time.
class Draws {
 public:
  std::uint64_t below(std::uint64_t end) { return engine_() % end; }

  Communicator gpus(const Graph& graph) {
    Communicator gpus(graph.gpus().begin(), graph.gpus().end());
    for (std::size_t i = gpus.size(); i > 1; --i) {
      std::swap(gpus[i - 1], gpus[below(i)]);
    }
    gpus.resize(2 + below(gpus.size() - 1));
    return gpus;
  }

 private:
  std::mt19937_64 engine_{20'240'229};
};

CollectiveJob job_of(CollectiveKind kind, const Communicator& gpus, std::int64_t count) {
  CollectiveJob job;
  job.call.kind = kind;
  job.call.ranks = static_cast<std::uint32_t>(gpus.size());
  job.call.count = count;
  job.call.in_place = allows_in_place(kind) ? InPlace::Yes : InPlace::No;
  job.gpus = gpus;
  return job;
}

void check_bounds(const Cluster& cluster, CollectiveJob job) {
  ProgramRequest request;
  request.call = job.call;
  for (const DeviceId gpu : job.gpus) {
    request.node_of_rank.push_back(cluster.graph().device(gpu).node.value_or(NodeId(0)));
  }
  const std::vector<Bound> bounds = lower_bounds(cluster, job.gpus, job.call);
  for (const Algorithm* algorithm : applicable_algorithms(request)) {
    job.algorithm = algorithm->name;
    const Duration time = run_collective(cluster, job).time;
    for (const Bound& bound : bounds) {
      INFO(cluster.name() << ", " << algorithm->name << " " << name_of(job.call.kind) << ", "
                          << job.call.ranks << " ranks, " << job.call.count
                          << " elements: " << bound.name << " " << bound.where);
      REQUIRE(time >= bound.time);
    }
  }
}

Duration named(const std::vector<Bound>& bounds, const std::string& name) {
  const auto found = std::find_if(bounds.begin(), bounds.end(),
                                  [&](const Bound& bound) { return bound.name == name; });
  REQUIRE(found != bounds.end());
  return found->time;
}

CollectiveResult run_direct(const Cluster& cluster, CollectiveKind kind, std::int64_t count) {
  const auto gpus = cluster.graph().gpus();
  CollectiveJob job = job_of(kind, Communicator(gpus.begin(), gpus.end()), count);
  job.algorithm = "direct";
  return run_collective(cluster, job);
}

}  // namespace

TEST_CASE("no algorithm undercuts a bound") {
  constexpr std::array kinds{
      CollectiveKind::Broadcast, CollectiveKind::Scatter,   CollectiveKind::Gather,
      CollectiveKind::Reduce,    CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
      CollectiveKind::AllReduce, CollectiveKind::AllToAll,  CollectiveKind::SendRecv};
  Draws draws;
  for (const Cluster& cluster : machines()) {
    for (const CollectiveKind kind : kinds) {
      for (const std::uint64_t most : {5U, 4'000U, 3'000'000U}) {
        const Communicator gpus = draws.gpus(cluster.graph());
        CollectiveJob job = job_of(kind, gpus, static_cast<std::int64_t>(draws.below(most)));
        job.call.root = has_root(kind) ? Rank(draws.below(gpus.size())) : Rank(0);
        check_bounds(cluster, job);
      }
    }
  }
}

// Everyone at once uses a cut from start to end: the bound and one route's latency.
TEST_CASE("direct exchange reaches the bounds of its cuts") {
  using enum CollectiveKind;
  const auto gathered = run_direct(Cluster(test::star(8)), AllGather, 1 << 20);
  CHECK(gathered.time == named(gathered.bounds, "gpu cut") + 1'000'000_ps);
  const auto reduced = run_direct(Cluster(test::star(8)), AllReduce, 1 << 20);
  CHECK(reduced.time == named(reduced.bounds, "total sent") + 2'000'000_ps);
  // Two nodes of 4 with a NIC each: 5 us from one to the other.
  const auto exchanged = run_direct(Cluster(test::textbook_nodes(2)), AllToAll, 1 << 16);
  CHECK(exchanged.bounds.front().name == "node cut");
  CHECK(exchanged.time == named(exchanged.bounds, "node cut") + 5'000'000_ps);
}
