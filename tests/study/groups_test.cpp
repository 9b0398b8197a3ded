#include "study/groups.hpp"

#include <string>
#include <vector>

#include "sim/collective_run.hpp"
#include "study/compare.hpp"
#include "study/placement.hpp"
#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"
#include "topology/error.hpp"

namespace collsim {
namespace {

using namespace literals;

std::string refusal(const std::string& text, std::size_t ranks) {
  try {
    static_cast<void>(split(Communicator(ranks), parse_grouping(text)));
  } catch (const InputError& error) {
    return error.render();
  }
  return "none";
}

std::vector<std::vector<std::uint32_t>> numbers(const std::string& text, std::uint32_t ranks) {
  Communicator all;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    all.emplace_back(rank);
  }
  std::vector<std::vector<std::uint32_t>> groups;
  for (const Communicator& group : split(all, parse_grouping(text))) {
    groups.emplace_back();
    for (const DeviceId gpu : group) {
      groups.back().push_back(gpu.value());
    }
  }
  return groups;
}

/// An all-reduce of 4 MiB by a ring, in groups.
CollectiveJob job_in(const Cluster& cluster, const std::string& groups) {
  std::vector<Communicator> all = split(place_ranks(cluster.graph(), {}), parse_grouping(groups));
  CollectiveJob job;
  job.algorithm = "ring";
  job.gpus = all.front();
  job.beside.assign(all.begin() + 1, all.end());
  job.call = call_for_size(CollectiveKind::AllReduce, static_cast<std::uint32_t>(job.gpus.size()),
                           4_MiB, DataType::Float32);
  return job;
}

}  // namespace

TEST_CASE("tp groups ranks that follow each other, dp ranks across these") {
  CHECK(numbers("tp=2", 6) == std::vector<std::vector<std::uint32_t>>{{0, 1}, {2, 3}, {4, 5}});
  CHECK(numbers("dp=3", 6) == std::vector<std::vector<std::uint32_t>>{{0, 2, 4}, {1, 3, 5}});
  CHECK(numbers("dp=6", 6) == numbers("tp=6", 6));
}

TEST_CASE("groups that do not fit are refused") {
  const std::string words =
      "error: --groups: expected tp=SIZE (ranks that follow each other) or dp=SIZE (ranks across "
      "these groups), got ";
  for (const std::string bad :
       {"8", "tp", "tp=", "tp=0", "tp=-1", "pp=8", "tp=8x", "tp=4294967296"}) {
    CHECK(refusal(bad, 8) == words + in_quotes(bad));
  }
  CHECK(refusal("tp=3", 8) ==
        "error: --groups: groups of 3 do not divide 8 ranks\n"
        "hint: choose a divisor, or other --ranks");
  CHECK(refusal("tp=8", 8) == "none");
}

TEST_CASE("groups that share no link take as long as one alone") {
  const Cluster star(test::star(8));
  const CollectiveJob groups = job_in(star, "tp=4");
  CollectiveJob alone = groups;
  alone.beside.clear();
  const CollectiveResult together = run_collective(star, groups);
  CHECK(together.time == run_collective(star, alone).time);
  CHECK(together.time_of_group == std::vector<Duration>(2, together.time));
  CHECK(together.transfers == 2 * run_collective(star, alone).transfers);
}

TEST_CASE("groups across nodes share the NIC") {
  // Two nodes of 4 GPUs and one NIC of 12.5 GB/s: four groups of two, a GPU of each node. Each sends half
  // of 4 MiB twice, and four share the NIC: 2 · (4 · 2^21 · 80 ps + 5 us).
  const Cluster cluster(test::textbook_nodes(2));
  const CollectiveJob groups = job_in(cluster, "dp=2");
  const CollectiveResult together = run_collective(cluster, groups);
  CHECK(together.time == Duration(2 * (4 * (std::int64_t{1} << 21) * 80 + 5'000'000)));
  CHECK(together.time_of_group.size() == 4);
  CHECK(check_job(cluster, groups).ok());
}

TEST_CASE("the slowest group is the one that is reported") {
  const Cluster cluster(test::textbook_nodes(2));
  const auto gpus = cluster.graph().gpus();
  CollectiveJob job = job_in(cluster, "tp=2");
  // One group on the second node, the other with a GPU of each.
  job.gpus = {gpus[5], gpus[6]};
  job.beside = {{gpus[0], gpus[7]}};
  job.call = call_for_size(CollectiveKind::AllReduce, 2, 4_MiB, DataType::Float32);
  const CollectiveResult together = run_collective(cluster, job);
  CHECK(together.slowest_group == 1);
  // Alone on the NIC: 2 · (2^21 · 80 ps + 5 us); on the switch: 2 · (2^21 · 20 ps + 1 us).
  CHECK(together.time == Duration(2 * ((std::int64_t{1} << 21) * 80 + 5'000'000)));
  CHECK(together.time_of_group[0] == Duration(2 * ((std::int64_t{1} << 21) * 20 + 1'000'000)));
  CHECK(together.time_of_group[1] == together.time);
}

TEST_CASE("groups back to back run for themselves, and the slowest is reported") {
  // As above: no link is shared, so each group's calls take what one takes.
  const Cluster cluster(test::textbook_nodes(2));
  const auto gpus = cluster.graph().gpus();
  CollectiveJob job = job_in(cluster, "tp=2");
  job.gpus = {gpus[5], gpus[6]};
  job.beside = {{gpus[0], gpus[7]}};
  job.call = call_for_size(CollectiveKind::AllReduce, 2, 4_MiB, DataType::Float32);
  const CollectiveResult once = run_collective(cluster, job);
  const CollectiveResult many = run_back_to_back(cluster, job, {1, 3});
  CHECK(many.slowest_group == 1);
  CHECK(many.time == once.time);
  CHECK(many.time_of_rank == once.time_of_rank);
  CHECK(many.time_of_group == once.time_of_group);
  CHECK(many.transfers == 4 * once.transfers);
  CHECK(many.simulated_calls == 4);
}

TEST_CASE("groups that end together are simulated once") {
  const Cluster star(test::star(4));
  const CollectiveJob job = job_in(star, "tp=2");
  const CollectiveResult many = run_back_to_back(star, job, {1, 20});
  CHECK(many.time == run_collective(star, job).time);
  CHECK(many.simulated_calls == 1);
}

}  // namespace collsim
