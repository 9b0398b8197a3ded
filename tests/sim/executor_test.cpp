#include "sim/executor.hpp"

#include "algorithms/table.hpp"
#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"

using namespace collsim;
using namespace collsim::literals;

namespace {

std::shared_ptr<const Communicator> all_gpus(const Cluster& cluster) {
  const auto gpus = cluster.graph().gpus();
  return std::make_shared<const Communicator>(gpus.begin(), gpus.end());
}

RunResult run_ring(const Cluster& cluster, CollectiveKind kind, Bytes bytes, NetworkModel model) {
  const auto communicator = all_gpus(cluster);
  const auto ranks = static_cast<std::uint32_t>(communicator->size());
  ProgramRequest request;
  request.call = call_for_size(kind, ranks, bytes, DataType::float32);
  Workload workload;
  workload.operations.emplace_back(
      Collective{build_program(find_algorithm("ring"), request), communicator});
  RunOptions options;
  options.network = model;
  return run_workload(cluster, workload, options);
}

}  // namespace

// 50 GB/s is 20 ps a byte; a route has 10^6 ps of latency, on both machines.

TEST_CASE("a ring all-reduce on a mesh is 14 messages of an eighth") {
  const Cluster cluster(test::mesh(8));
  const RunResult result =
      run_ring(cluster, CollectiveKind::all_reduce, 1_GiB, NetworkModel::ideal);
  CHECK(result.time == Duration(14 * ((INT64_C(1) << 27) * 20 + 1'000'000)));
  CHECK(result.transfers == 8 * 14);
  CHECK_FALSE(result.contention_ignored);
}

TEST_CASE("a ring all-gather on a star with fair sharing is 7 messages of an eighth") {
  const Cluster cluster(test::star(8));
  const RunResult result =
      run_ring(cluster, CollectiveKind::all_gather, 128_MiB, NetworkModel::flow);
  CHECK(result.time == Duration(7 * ((INT64_C(1) << 24) * 20 + 1'000'000)));
}
