// The textbook examples of the collectives on 4 ranks, on real numbers, by every algorithm that
// implements them; and the laws between collectives.

#include <optional>
#include <string>
#include <vector>

#include "algorithms/check.hpp"
#include "algorithms/table.hpp"
#include "tests/catch.hpp"

using namespace collsim;

namespace {

using Inputs = std::vector<std::vector<double>>;
using Outputs = std::vector<std::vector<std::optional<double>>>;

const Inputs four_buffers{{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}};
const Inputs own_numbers{{0}, {1}, {2}, {3}};
const Inputs root_only{{0, 1, 2, 3}, {}, {}, {}};

struct Variant {
  InPlace in_place = InPlace::No;
  std::uint32_t channels = 1;
  std::uint32_t chunks = 1;
};

std::vector<Variant> variants(CollectiveKind kind) {
  std::vector<Variant> all{{InPlace::No, 1, 1}, {InPlace::No, 2, 2}};
  if (allows_in_place(kind)) {
    all.push_back({InPlace::Yes, 1, 1});
    all.push_back({InPlace::Yes, 2, 2});
  }
  return all;
}

CollectiveCall call_of(CollectiveKind kind, std::int64_t count, ReductionOp op) {
  CollectiveCall call;
  call.kind = kind;
  call.ranks = 4;
  call.count = count;
  call.op = op;
  return call;
}

Outputs run(const Algorithm& algorithm, CollectiveCall call, const Variant& variant,
            const Inputs& inputs) {
  call.in_place = variant.in_place;
  ProgramRequest request{call, variant.channels, variant.chunks, {}};
  for (const std::uint32_t node : {0U, 1U, 0U, 1U}) {
    request.node_of_rank.emplace_back(node);
  }
  return interpret_program(*build_program(algorithm, request), inputs);
}

/// Every algorithm for the call gives these outputs, in and out of place, whole and in parts.
void require_outputs(const CollectiveCall& call, const Inputs& inputs, const Outputs& expected) {
  std::uint32_t runs = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (!implements(algorithm, call.kind)) {
      continue;
    }
    for (const Variant& variant : variants(call.kind)) {
      CAPTURE(algorithm.name, variant.in_place == InPlace::Yes, variant.channels, variant.chunks);
      CHECK(run(algorithm, call, variant, inputs) == expected);
      ++runs;
    }
  }
  CHECK(runs >= 2);
}

void require_outputs(CollectiveKind kind, std::int64_t count, const Inputs& inputs,
                     const Outputs& expected, ReductionOp op = ReductionOp::Sum) {
  require_outputs(call_of(kind, count, op), inputs, expected);
}

}  // namespace

TEST_CASE("broadcast: everyone gets the root's buffer") {
  require_outputs(CollectiveKind::Broadcast, 4, root_only,
                  {{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}});
}

TEST_CASE("scatter: everyone gets a list of one element") {
  require_outputs(CollectiveKind::Scatter, 1, root_only, {{0}, {1}, {2}, {3}});
}

TEST_CASE("gather: the root gets all, the others nothing") {
  require_outputs(CollectiveKind::Gather, 1, own_numbers, {{0, 1, 2, 3}, {}, {}, {}});
}

TEST_CASE("reduce: the root gets the sum, the largest or the smallest") {
  require_outputs(CollectiveKind::Reduce, 1, own_numbers, {{6}, {}, {}, {}});
  require_outputs(CollectiveKind::Reduce, 1, own_numbers, {{3}, {}, {}, {}}, ReductionOp::Max);
  require_outputs(CollectiveKind::Reduce, 1, own_numbers, {{0}, {}, {}, {}}, ReductionOp::Min);
}

TEST_CASE("the root may be any rank") {
  CollectiveCall call = call_of(CollectiveKind::Gather, 1, ReductionOp::Sum);
  call.root = Rank(2);
  require_outputs(call, own_numbers, {{}, {}, {0, 1, 2, 3}, {}});
  call.kind = CollectiveKind::Scatter;
  require_outputs(call, {{}, {}, {0, 1, 2, 3}, {}}, {{0}, {1}, {2}, {3}});
  call.kind = CollectiveKind::Reduce;
  require_outputs(call, own_numbers, {{}, {}, {6}, {}});
  call.kind = CollectiveKind::Broadcast;
  require_outputs(call, {{}, {}, {7}, {}}, {{7}, {7}, {7}, {7}});
}

TEST_CASE("all_gather: everyone gets all") {
  require_outputs(CollectiveKind::AllGather, 1, own_numbers,
                  {{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}});
}

TEST_CASE("reduce_scatter: everyone gets one element of the sum") {
  require_outputs(CollectiveKind::ReduceScatter, 1, four_buffers, {{6}, {10}, {14}, {18}});
}

TEST_CASE("all_reduce: everyone gets the sum") {
  const std::vector<std::optional<double>> sum{6, 10, 14, 18};
  require_outputs(CollectiveKind::AllReduce, 4, four_buffers, {sum, sum, sum, sum});
}

TEST_CASE("all_reduce with every reduction") {
  // Column c of the four buffers holds c, c+1, c+2, c+3.
  using Buffer4 = std::vector<std::optional<double>>;
  const Buffer4 product{0, 24, 120, 360};  // 0·1·2·3, 1·2·3·4, 2·3·4·5, 3·4·5·6
  const Buffer4 smallest{0, 1, 2, 3};
  const Buffer4 largest{3, 4, 5, 6};
  const Buffer4 mean{1.5, 2.5, 3.5, 4.5};  // the sums 6, 10, 14, 18 over 4 ranks
  auto require_all = [](const Buffer4& result, ReductionOp op) {
    require_outputs(CollectiveKind::AllReduce, 4, four_buffers, {result, result, result, result},
                    op);
  };
  require_all(product, ReductionOp::Prod);
  require_all(smallest, ReductionOp::Min);
  require_all(largest, ReductionOp::Max);
  require_all(mean, ReductionOp::Avg);
}

TEST_CASE("all_to_all: element d of rank s becomes element s of rank d") {
  require_outputs(CollectiveKind::AllToAll, 1,
                  {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}},
                  {{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}});
}

TEST_CASE("send_recv: everyone gets the buffer of the rank before") {
  require_outputs(CollectiveKind::SendRecv, 4, four_buffers,
                  {{3, 4, 5, 6}, {0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}});
}

TEST_CASE("all_reduce is reduce_scatter followed by all_gather, element for element") {
  const CollectiveCall whole = call_of(CollectiveKind::AllReduce, 4, ReductionOp::Sum);
  const CollectiveCall first = call_of(CollectiveKind::ReduceScatter, 1, ReductionOp::Sum);
  const CollectiveCall second = call_of(CollectiveKind::AllGather, 1, ReductionOp::Sum);
  const Variant plain;
  std::uint32_t compared = 0;
  for (const Algorithm& reducer : algorithms()) {
    if (!implements(reducer, CollectiveKind::ReduceScatter)) {
      continue;
    }
    Inputs blocks;
    for (const auto& block : run(reducer, first, plain, four_buffers)) {
      auto& numbers = blocks.emplace_back();
      for (const auto& number : block) {
        numbers.push_back(number.value());
      }
    }
    for (const Algorithm& gatherer : algorithms()) {
      if (!implements(gatherer, CollectiveKind::AllGather)) {
        continue;
      }
      const Outputs in_two_steps = run(gatherer, second, plain, blocks);
      for (const Algorithm& algorithm : algorithms()) {
        if (!implements(algorithm, CollectiveKind::AllReduce)) {
          continue;
        }
        CAPTURE(reducer.name, gatherer.name, algorithm.name);
        const Outputs at_once = run(algorithm, whole, plain, four_buffers);
        REQUIRE(at_once.size() == in_two_steps.size());
        CHECK(at_once == in_two_steps);
        ++compared;
      }
    }
  }
  CHECK(compared > 0);
}
