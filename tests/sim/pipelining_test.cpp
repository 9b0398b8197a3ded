// What chunks and channels buy, on a mesh whose links are shared by nobody: 50 GB/s is 20 ps a
// byte, and a route has 10^6 ps of latency.

#include <cstdint>
#include <memory>
#include <string_view>

#include "algorithms/table.hpp"
#include "sim/executor.hpp"
#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"

using namespace collsim;

namespace {

constexpr std::int64_t beta = 20;
constexpr std::int64_t alpha = 1'000'000;
constexpr std::int64_t size = 1 << 20;

std::int64_t picoseconds(std::string_view algorithm, CollectiveKind kind, std::uint32_t ranks,
                         std::uint32_t channels, std::uint32_t chunks) {
  const Cluster cluster(test::mesh(ranks));
  const auto gpus = cluster.graph().gpus();
  ProgramRequest request;
  request.call = call_for_size(kind, ranks, Bytes(size), DataType::Float32);
  request.channels = channels;
  request.chunks = chunks;
  Workload workload;
  workload.operations.emplace_back(
      Collective{build_program(find_algorithm(algorithm), request),
                 std::make_shared<const Communicator>(gpus.begin(), gpus.end())});
  RunOptions options;
  options.network = NetworkModel::Ideal;
  return run_workload(cluster, workload, options).time.count();
}

}  // namespace

TEST_CASE("chunks make a pipeline of the chain") {
  // The last chunk leaves the root after all c of them and passes n - 2 more ranks.
  for (const std::int64_t ranks : {2, 3, 8}) {
    for (const std::int64_t chunks : {1, 2, 16, 64}) {
      const std::int64_t expected =
          (ranks - 1) * alpha + (ranks - 2 + chunks) * (size / chunks * beta);
      const auto n = static_cast<std::uint32_t>(ranks);
      const auto c = static_cast<std::uint32_t>(chunks);
      CHECK(picoseconds("ring", CollectiveKind::Broadcast, n, 1, c) == expected);
      CHECK(picoseconds("ring", CollectiveKind::Reduce, n, 1, c) == expected);
    }
  }
}

TEST_CASE("the broadcast of one chunk runs beside the reduce of the next") {
  // Two ranks: c chunks go up back to back, and each comes down as soon as it is there.
  for (const std::int64_t chunks : {1, 4, 32}) {
    const std::int64_t chunk_time = size / chunks * beta;
    CHECK(picoseconds("tree", CollectiveKind::AllReduce, 2, 1,
                      static_cast<std::uint32_t>(chunks)) == (chunks + 1) * chunk_time + 2 * alpha);
  }
}

TEST_CASE("the two halves of a double tree go side by side") {
  // Two ranks, so one place below the root in each tree: as a single tree for half of the data.
  const std::int64_t chunk_time = size / 2 / 32 * beta;
  CHECK(picoseconds("double-tree", CollectiveKind::AllReduce, 2, 1, 32) ==
        33 * chunk_time + 2 * alpha);
}

TEST_CASE("chunks cost a ring all-reduce latency only") {
  // A lane does one step after the other, so chunk k starts where chunk k - 1 has ended.
  const std::int64_t one_chunk = 2 * 3 * (size / 4 * beta + alpha);
  CHECK(picoseconds("ring", CollectiveKind::AllReduce, 4, 1, 1) == one_chunk);
  CHECK(picoseconds("ring", CollectiveKind::AllReduce, 4, 1, 2) == one_chunk + 2 * 3 * alpha);
}

TEST_CASE("channels move slices side by side, each in lanes of its own") {
  // Nobody shares under `ideal`: four channels take a quarter of the bytes' time.
  CHECK(picoseconds("ring", CollectiveKind::AllReduce, 4, 4, 1) ==
        2 * 3 * (size / 4 / 4 * beta + alpha));
}
