// PAT's exchanges and aggregation against NCCL's rules, worked out by hand for few ranks.

#include "algorithms/nccl/pat_schedule.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace collsim::nccl;

namespace {

/// "<2 4+2*3 >1": receives from dimension 2, sends blocks 4, 6 and 8 to dimension 1.
std::string text_of(const PatOperation& operation) {
  const PatBlocks& blocks = operation.blocks;
  std::string text = operation.receive ? "<" + std::to_string(*operation.receive) + " " : "";
  text += std::to_string(blocks.first);
  if (blocks.count > 1) {
    text += "+" + std::to_string(blocks.stride) + "*" + std::to_string(blocks.count);
  }
  return text + (operation.send ? " >" + std::to_string(*operation.send) : "");
}

std::vector<std::string> texts(const std::vector<PatOperation>& operations) {
  std::vector<std::string> texts;
  for (const PatOperation& operation : operations) {
    texts.push_back(text_of(operation));
  }
  return texts;
}

std::uint32_t primitives(const std::vector<PatOperation>& operations) {
  return static_cast<std::uint32_t>(
      std::count_if(operations.begin(), operations.end(),
                    [](const PatOperation& operation) { return !operation.continues; }));
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("PAT AllGather without aggregation goes down the tree, the largest subtree first") {
  // Distances of 8 ranks: 4 is below 0; 6 and 5 below 4, 7 below 6; 2 below 0, 3 below 2; 1 below 0.
  // What has come from above goes on in the step that receives it; leaves are received alone.
  CHECK(texts(pat_all_gather(8, {1, 1})) == Texts{"0 >2", "<2 4 >1", "<1 6 >0", "<0 7", "4 >0",
                                                  "<0 5", "0 >1", "<1 2 >0", "<0 3", "0 >0",
                                                  "<0 1"});
}

TEST_CASE("PAT ReduceScatter without aggregation goes up the tree, distances falling") {
  CHECK(texts(pat_reduce_scatter(8, {1, 1})) == Texts{"7 >0", "<0 6 >1", "<1 4", "5 >0", "<0 4 >2",
                                                      "<2 0", "3 >0", "<0 2 >1", "<1 0", "1 >0",
                                                      "<0 0"});
}

TEST_CASE("PAT with half of the ranks aggregated is recursive doubling and halving") {
  // 8 ranks, 4 blocks a message: log2(8) exchanges of 1, 2 and 4 blocks.
  CHECK(texts(pat_all_gather(8, {4, 4})) ==
        Texts{"0 >2", "<2 4", "0+4*2 >1", "<1 2+4*2", "0+2*4 >0", "<0 1+2*4"});
  CHECK(texts(pat_reduce_scatter(8, {4, 4})) ==
        Texts{"1+2*4 >0", "<0 0+2*4", "2+4*2 >1", "<1 0+4*2", "4 >2", "<2 0"});
}

TEST_CASE("PAT leaves out distances of ranks that are not there") {
  // 3 ranks in a tree of 4: 3 is missing, so 2 is a leaf.
  CHECK(texts(pat_all_gather(3, {1, 1})) == Texts{"0 >1", "<1 2", "0 >0", "<0 1"});
  CHECK(texts(pat_reduce_scatter(3, {1, 1})) == Texts{"2 >1", "<1 0", "1 >0", "<0 0"});
}

TEST_CASE("Blocks of an exchange that do not fit a slot are several messages") {
  // 8 ranks, 4 blocks an exchange, 2 a message: the last exchange is two messages, each received
  // and sent on its own.
  CHECK(texts(pat_all_gather(8, {4, 2})) == Texts{"0 >2", "<2 4", "0+4*2 >1", "<1 2+4*2",
                                                  "0+2*2 >0", "4+2*2 >0", "<0 1+2*2", "<0 5+2*2"});
}

TEST_CASE("PAT aggregates blocks as long as two more fit a slot, then over the eight slots") {
  // Half a slot: 2 fit, and 8 slots give 8 times as much.
  CHECK(pat_aggregation(64, 32, 64) == PatAggregation{16, 2});
  // More than half a slot: one a message, 8 messages an exchange.
  CHECK(pat_aggregation(64, 33, 64) == PatAggregation{8, 1});
  // Never more than half of the ranks.
  CHECK(pat_aggregation(64, 1, 4096) == PatAggregation{32, 32});
  CHECK(pat_aggregation(8, 1000, 64) == PatAggregation{4, 1});
  CHECK(pat_aggregation(2, 1, 64) == PatAggregation{1, 1});
  // The smallest power of two that is no less than floor(7 / 2).
  CHECK(pat_aggregation(7, 1, 64) == PatAggregation{4, 4});
}

TEST_CASE("PAT takes about log2 n primitives where all is aggregated, else more than n - 1") {
  for (const std::uint32_t ranks : {8U, 16U, 64U}) {
    const auto log = static_cast<std::uint32_t>(std::countr_zero(ranks));
    const PatAggregation all{ranks / 2, ranks / 2};
    // A send a round, in the primitive of the receive before it; the last receive.
    CHECK(primitives(pat_all_gather(ranks, all)) == log + 1);
    // What has come for the blocks that stay is added by itself.
    CHECK(primitives(pat_reduce_scatter(ranks, all)) == 2 * log);
    // A send for each of n - 1 blocks, and n/2 receives by themselves: of AllGather's leaves; of
    // ReduceScatter's sums that are not complete with them.
    CHECK(primitives(pat_all_gather(ranks, {1, 1})) == ranks - 1 + ranks / 2);
    CHECK(primitives(pat_reduce_scatter(ranks, {1, 1})) == ranks - 1 + ranks / 2);
  }
}
