#include "study/compare.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "study/placement.hpp"
#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"
#include "topology/error.hpp"

namespace collsim {
namespace {

using namespace literals;

CollectiveJob job(const Cluster& cluster, CollectiveKind kind, Bytes size) {
  CollectiveJob job;
  job.gpus = place_ranks(cluster.graph(), {});
  job.call =
      call_for_size(kind, static_cast<std::uint32_t>(job.gpus.size()), size, DataType::Float32);
  return job;
}

const ComparedAlgorithm& outcome_of(const std::vector<ComparedAlgorithm>& outcomes,
                                    const std::string& algorithm) {
  const auto found = std::ranges::find(outcomes, algorithm, &ComparedAlgorithm::algorithm);
  REQUIRE(found != outcomes.end());
  return *found;
}

std::string refusal(const std::vector<ComparedAlgorithm>& outcomes) {
  try {
    require_some_simulated(outcomes, "--algorithm");
  } catch (const InputError& error) {
    return error.render();
  }
  return "none";
}

TEST_CASE("the quickest comes first, and each time is that of its own run") {
  const Cluster star(test::star(8));
  const CollectiveJob all_gather = job(star, CollectiveKind::AllGather, 128_MiB);
  const auto outcomes = compare_algorithms(star, all_gather, {"naive", "ring"}, {});
  REQUIRE(outcomes.size() == 2);
  CHECK(outcomes[0].algorithm == "ring");
  // 7 rounds of a block of 2^24 bytes, at 20 ps a byte and 1 us.
  CHECK(outcomes[0].result->time == Duration(7 * ((std::int64_t{20} << 24) + 1'000'000)));
  CHECK(outcomes[1].algorithm == "naive");
  CHECK_FALSE(outcomes[1].check.has_value());
}

TEST_CASE("without names all that implement the collective are compared") {
  const Cluster star(test::star(4));
  const auto outcomes = compare_algorithms(star, job(star, CollectiveKind::Scatter, 1_MiB), {}, {});
  std::vector<std::string> names;
  names.reserve(outcomes.size());
  for (const ComparedAlgorithm& outcome : outcomes) {
    names.push_back(outcome.algorithm);
  }
  std::ranges::sort(names);
  CHECK(names == std::vector<std::string>{"direct", "naive", "tree"});
}

TEST_CASE("equal times keep the order of the table") {
  const Cluster star(test::star(4));
  const auto outcomes =
      compare_algorithms(star, job(star, CollectiveKind::AllReduce, Bytes(0)), {}, {});
  std::vector<std::string> simulated;
  for (const ComparedAlgorithm& outcome : outcomes) {
    if (outcome.result) {
      simulated.push_back(outcome.algorithm);
    }
  }
  std::vector<std::string> table;
  for (const Algorithm& algorithm : algorithms()) {
    if (std::ranges::find(simulated, algorithm.name) != simulated.end()) {
      table.emplace_back(algorithm.name);
    }
  }
  CHECK(simulated == table);
}

TEST_CASE("what stands in an algorithm's way is said, and it comes last") {
  const Cluster star(test::star(4));
  const auto outcomes = compare_algorithms(star, job(star, CollectiveKind::AllReduce, 1_MiB),
                                           {"hierarchical", "ring"}, {});
  CHECK(outcomes[0].algorithm == "ring");
  CHECK(outcomes[1].algorithm == "hierarchical");
  CHECK_FALSE(outcomes[1].result.has_value());
  CHECK(outcomes[1].obstacle == "needs ranks on more than one node, and all are on one");
}

TEST_CASE("programs beyond the limit are not simulated") {
  const Cluster star(test::star(8));
  CompareOptions options;
  // A ring of 8 sends 14 rounds of 8 messages.
  options.limits.max_transfers = 111;
  const CollectiveJob all_reduce = job(star, CollectiveKind::AllReduce, 1_MiB);
  const auto outcomes = compare_algorithms(star, all_reduce, {"ring", "naive"}, options);
  CHECK(outcome_of(outcomes, "ring").too_many_transfers == 112U);
  CHECK(outcome_of(outcomes, "ring").obstacle ==
        "needs 112 transfers, more than --max-transfers allows");
  CHECK(outcome_of(outcomes, "naive").result.has_value());
  CHECK(refusal(outcomes) == "none");
  options.limits.max_transfers = 112;
  CHECK(compare_algorithms(star, all_reduce, {"ring"}, options)[0].result.has_value());
}

TEST_CASE("programs that would not fit into memory are not simulated") {
  const Cluster star(test::star(8));
  const CollectiveJob all_reduce = job(star, CollectiveKind::AllReduce, 1_MiB);
  CompareOptions options;
  CHECK(options.limits.max_memory > 64_MiB);
  options.limits.max_memory = 1_MiB - 1_B;
  const auto outcomes = compare_algorithms(star, all_reduce, {"ring"}, options);
  CHECK(outcomes[0].obstacle == "needs about 1 MiB of memory, more than --max-memory allows");
  CHECK(refusal(outcomes) ==
        "error: --max-memory: no algorithm needs so little memory; the one with the least, ring, "
        "needs about 1 MiB\nhint: fewer --channels, a subset of the GPUs with --ranks, or a higher "
        "limit");
  options.limits.max_memory = 1_MiB;
  CHECK(compare_algorithms(star, all_reduce, {"ring"}, options)[0].result.has_value());
}

TEST_CASE("an algorithm whose time does not fit does not keep others from being simulated") {
  const Cluster star(test::star(8));
  // Seven copies of 10^17 B over the root's link at 20 ps a byte: 1.4·10^19 ps, more than 2^63; the
  // ring sends 14 eighths over each link, 3.5·10^18 ps.
  const CollectiveJob all_reduce =
      job(star, CollectiveKind::AllReduce, Bytes(100'000'000'000'000'000));
  CompareOptions options;
  const auto outcomes = compare_algorithms(star, all_reduce, {"naive", "ring"}, options);
  CHECK(outcome_of(outcomes, "ring").result.has_value());
  const ComparedAlgorithm& naive = outcome_of(outcomes, "naive");
  CHECK_FALSE(naive.result.has_value());
  CHECK(naive.obstacle ==
        "the run leaves the range of exact arithmetic: a transfer takes longer than 106 days of "
        "simulated time");
  CHECK(best_algorithm(star, all_reduce, {}).result.algorithm != "naive");
  CHECK(refusal(compare_algorithms(star, all_reduce, {"naive"}, options)) ==
        "error: " + naive.obstacle +
            "\nhint: fewer bytes, faster links or a smaller job would fit");
}

TEST_CASE("when nothing can be simulated, the error says which option to change") {
  const Cluster star(test::star(8));
  CompareOptions options;
  options.limits.max_transfers = 13;
  const CollectiveJob all_reduce = job(star, CollectiveKind::AllReduce, 1_MiB);
  // Naive sends 7 messages to the root and 7 back.
  CHECK(refusal(compare_algorithms(star, all_reduce, {"ring", "naive"}, options)) ==
        "error: --max-transfers: no algorithm needs so few transfers; the one with the fewest, "
        "naive, needs 14\nhint: fewer --channels or --chunks, a subset of the GPUs with --ranks, "
        "or a higher limit");
  CHECK(refusal(compare_algorithms(star, all_reduce, {"hierarchical"}, options)) ==
        "error: --algorithm: no algorithm can be simulated (hierarchical: needs ranks "
        "on more than one node, and all are on one)");
  CHECK_THROWS_AS(static_cast<void>(best_algorithm(star, all_reduce, options)), InputError);
}

TEST_CASE("names that are unknown or do not implement the collective are refused") {
  const Cluster star(test::star(4));
  const CollectiveJob all_reduce = job(star, CollectiveKind::AllReduce, 1_MiB);
  CHECK_THROWS_AS(static_cast<void>(compare_algorithms(star, all_reduce, {"rong"}, {})),
                  InputError);
  CHECK_THROWS_AS(static_cast<void>(compare_algorithms(star, all_reduce, {"bruck"}, {})),
                  InputError);
}

TEST_CASE("verification checks each algorithm's data") {
  const Cluster star(test::star(4));
  CompareOptions options;
  options.verify = Verify::Yes;
  for (const ComparedAlgorithm& outcome :
       compare_algorithms(star, job(star, CollectiveKind::AllGather, 1_MiB), {}, options)) {
    if (!outcome.result) {
      continue;
    }
    REQUIRE(outcome.check.has_value());
    CHECK(outcome.check->ok());
    CHECK(outcome.check->messages == outcome.result->transfers);
  }
}

TEST_CASE("progress is told before each algorithm") {
  const Cluster star(test::star(4));
  std::vector<std::pair<std::size_t, std::string>> told;
  CompareOptions options;
  options.progress = [&](std::size_t done, std::size_t all, const std::string& next) {
    CHECK(all == 2);
    told.emplace_back(done, next);
  };
  static_cast<void>(compare_algorithms(star, job(star, CollectiveKind::AllReduce, 1_MiB),
                                       {"tree", "ring"}, options));
  CHECK(told == std::vector<std::pair<std::size_t, std::string>>{{0, "tree"}, {1, "ring"}});
}

TEST_CASE("the best is the first of the comparison, and says why") {
  const Cluster star(test::star(8));
  const CollectiveJob large = job(star, CollectiveKind::AllGather, 128_MiB);
  const auto outcomes = compare_algorithms(star, large, {}, {});
  const BestAlgorithm best = best_algorithm(star, large, {});
  CHECK(best.result.algorithm == outcomes[0].algorithm);
  CHECK(best.result.time == outcomes[0].result->time);
  // All but hierarchical, which needs nodes.
  CHECK(best.reason.starts_with("best of 6 simulated"));
  CHECK(best.reason.ends_with(outcomes[1].algorithm) ==
        (outcomes[1].result->time != best.result.time));
}

TEST_CASE("reasons where there is nothing to choose") {
  const Cluster star(test::star(4));
  const CollectiveJob nothing = job(star, CollectiveKind::AllReduce, Bytes(0));
  CHECK(best_algorithm(star, nothing, {}).reason ==
        "nothing has to be sent: any algorithm will do");
  CollectiveJob ring = job(star, CollectiveKind::SendRecv, 1_MiB);
  ring.call.in_place = InPlace::No;
  CHECK(best_algorithm(star, ring, {}).reason == "the only algorithm that can be simulated");
  // Two GPUs exchange their halves: there is only one way to do it, under several names.
  const Cluster pair(test::star(2));
  CHECK(best_algorithm(pair, job(pair, CollectiveKind::AllGather, 1_MiB), {}).reason ==
        "best of 6 simulated; recursive-doubling is as quick and comes later in the list");
}

TEST_CASE("margins") {
  CHECK(margin_text(Duration(100), Duration(800)) == "8.00 times as fast as");
  CHECK(margin_text(Duration(100), Duration(110)) == "1.10 times as fast as");
  // 5 of 105 are 4.76 %.
  CHECK(margin_text(Duration(100), Duration(105)) == "4.8 % quicker than");
  CHECK(margin_text(Duration(10000), Duration(10001)) == "0.01 % quicker than");
  CHECK(margin_text(Duration(10'000'000), Duration(10'000'001)) == "barely quicker than");
  CHECK(margin_text(Duration(5), Duration(5)) == "exactly as quick as");
  CHECK_THROWS_AS(static_cast<void>(margin_text(Duration(0), Duration(5))), InternalError);
  CHECK_THROWS_AS(static_cast<void>(margin_text(Duration(6), Duration(5))), InternalError);
}

}  // namespace
}  // namespace collsim
