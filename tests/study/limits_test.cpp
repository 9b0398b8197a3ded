// What a simulation takes, known before it runs.

#include "study/limits.hpp"

#include <vector>

#include "study/placement.hpp"
#include "tests/catch.hpp"
#include "tests/topology/fabrics.hpp"
#include "topology/error.hpp"

namespace collsim {
namespace {

using namespace literals;

constexpr std::int64_t mebibyte = 1'048'576;

/// An all-to-all of some GPUs by `direct`.
RunSize size_of(const Cluster& cluster, std::vector<DeviceId> gpus, std::uint32_t channels) {
  CollectiveJob job;
  job.gpus = std::move(gpus);
  job.call = call_for_size(CollectiveKind::AllToAll, static_cast<std::uint32_t>(job.gpus.size()),
                           1_MiB, DataType::Float32);
  job.algorithm = "direct";
  job.channels = channels;
  return size_of_run(cluster, job, *program_of(cluster, job), 1);
}

std::vector<DeviceId> all_gpus(const Cluster& cluster) {
  const auto gpus = cluster.graph().gpus();
  return {gpus.begin(), gpus.end()};
}

}  // namespace

TEST_CASE("a lane takes memory, and so do the links of its route beyond eight") {
  // From a corner of 8 x 8 x 8 to the one across: 16 lanes there and 16 back.
  ClusterSpec spec = test::torus({8, 8, 8});
  const std::size_t across = 4 + 4 * 8 + 4 * 64;
  // One path: 4 links to and from the switches, 3 · 4 between: 32 · (1400 + 8 · 48) B.
  const Cluster direct(spec);
  const auto ends = [&](const Cluster& cluster) {
    const auto gpus = cluster.graph().gpus();
    return std::vector<DeviceId>{gpus[0], gpus[across]};
  };
  CHECK(size_of(direct, ends(direct), 16).memory == Bytes(1 * mebibyte));
  // All: every ring of 8 in 3 dimensions, 8 links of each: 3 · 8 · 64 = 1536; 32 · (1400 + 1532 · 48) B
  // are 2.3 MiB.
  spec.fabric.routing = RoutingKind::Spray;
  const Cluster sprayed(spec);
  CHECK(size_of(sprayed, ends(sprayed), 16).memory == Bytes(3 * mebibyte));
}

TEST_CASE("of many lanes some are looked at, and the estimate is above what all have") {
  // The others of a ring of 8 are 1, 1, 2, 2, 3, 3 and 4 links away, the last one both ways: with itself
  // 20 links, and 27 places on shortest paths. In three dimensions: 3 · 20 · 27², 4 more for each of 511.
  ClusterSpec spec = test::torus({8, 8, 8});
  spec.fabric.routing = RoutingKind::Spray;
  const Cluster cluster(spec);
  const double mean = (3.0 * 20 * 27 * 27 + 511 * 4) / 511;
  const double all = 512.0 * 511 * (1400 + 48 * (mean - 8)) / mebibyte;
  const auto estimate =
      static_cast<double>(size_of(cluster, all_gpus(cluster), 1).memory.count()) / mebibyte;
  CHECK(estimate > all);
  // Of 512 sampled lanes the standard error is a few percent: a route has from 5 to 1540 links, most few.
  CHECK(estimate < 1.6 * all);
}

}  // namespace collsim
