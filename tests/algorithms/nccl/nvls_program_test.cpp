// NVLS in one node: right data for every number of ranks and heads, the bytes that cross the NVLinks,
// and the order of the steps.

#include "algorithms/nccl/nvls_program.hpp"

#include <algorithm>
#include <vector>

#include "tests/algorithms/nccl/small_execution.hpp"
#include "tests/algorithms/program_laws.hpp"
#include "tests/catch.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;
using nccl::build_nvls_program;

namespace {

std::vector<Rank> all_ranks(std::uint32_t count) {
  std::vector<Rank> ranks;
  for (std::uint32_t r = 0; r < count; ++r) {
    ranks.emplace_back(r);
  }
  return ranks;
}

std::unique_ptr<Program> nvls(const SmallExecution& small, const std::vector<Rank>& heads) {
  return build_nvls_program(make(nccl::Algorithm::Nvls, small), heads);
}

/// From the last rank down: the order of heads is the graph's, not that of ranks.
std::vector<Rank> reversed(std::vector<Rank> ranks) {
  std::reverse(ranks.begin(), ranks.end());
  return ranks;
}

constexpr std::int64_t grain = 4096;  // 16384 B of float, to which the last loop is rounded

}  // namespace

TEST_CASE("NVLS AllReduce gives every rank the sum, whatever the size") {
  for (const std::uint32_t ranks : rank_counts()) {
    const std::int64_t loop = ranks * grain;
    // One element; fewer than one block; some blocks, one of them odd; ten loops, past the slots.
    for (const std::int64_t count : {std::int64_t{1}, grain - 3, 2 * loop + grain + 5, 10 * loop}) {
      for (const InPlace in_place : {InPlace::Yes, InPlace::No}) {
        const auto program =
            nvls({CollectiveKind::AllReduce, ranks, count, 1, grain, in_place}, all_ranks(ranks));
        CHECK(fault_of(*program) == "");
      }
    }
  }
}

TEST_CASE("NVLS AllReduce: several channels, heads that are not all ranks nor in order") {
  for (const std::uint32_t ranks : {2U, 3U, 5U, 8U}) {
    for (std::uint32_t heads = 1; heads <= ranks; ++heads) {
      const std::vector<Rank> some = reversed(all_ranks(heads));
      const SmallExecution small{
          CollectiveKind::AllReduce, ranks, 25 * grain * heads + 7, 2, grain, InPlace::Yes};
      CHECK(fault_of(*nvls(small, some)) == "");
    }
  }
}

TEST_CASE("NVLS AllReduce: chunks below the rounding of the last loop") {
  const SmallExecution small{CollectiveKind::AllReduce, 4, 4 * 1000 * 9 + 3333, 1, 1000};
  CHECK(fault_of(*nvls(small, all_ranks(4))) == "");
}

TEST_CASE("NVLS AllGather and ReduceScatter give every rank its data") {
  for (const CollectiveKind kind : {CollectiveKind::AllGather, CollectiveKind::ReduceScatter}) {
    for (const std::uint32_t ranks : rank_counts()) {
      for (const std::int64_t count : {1, 7, 8, 100}) {
        for (const InPlace in_place : {InPlace::Yes, InPlace::No}) {
          const auto heads = ranks % 2 == 0 ? all_ranks(ranks) : reversed(all_ranks(ranks));
          CHECK(fault_of(*nvls({kind, ranks, count, 1, 8, in_place}, heads)) == "");
          if (ranks <= 16) {
            CHECK(fault_of(*nvls({kind, ranks, count, 3, 3, in_place}, heads)) == "");
          }
        }
      }
    }
  }
}

TEST_CASE("NVLS AllReduce moves S + S/n each way on every NVLink") {
  for (const std::uint32_t ranks : {2U, 8U, 16U}) {
    // Two loops of full blocks on each of two channels.
    const std::int64_t count = 4 * ranks * grain;
    const auto program =
        nvls({CollectiveKind::AllReduce, ranks, count, 2, grain}, all_ranks(ranks));
    const MultimemTraffic traffic = multimem_traffic(*program);
    // The switch reads all of a rank's S and writes all results to it; the rank reads and writes
    // its own n-th part.
    const Bytes each = Bytes(count * 4) + Bytes(count * 4 / ranks);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      CHECK(traffic.up[r] == each);
      CHECK(traffic.down[r] == each);
    }
  }
}

TEST_CASE("NVLS AllReduce: a rank that is no head reads and writes nothing") {
  // 2 heads of 4 ranks, S = 2 blocks of 16 KiB: the switch reads 32 KiB of each rank and writes
  // 32 KiB to each; a head's own block comes and goes besides.
  const auto program =
      nvls({CollectiveKind::AllReduce, 4, 2 * grain, 1, grain}, {Rank(1), Rank(3)});
  const MultimemTraffic traffic = multimem_traffic(*program);
  CHECK(traffic.up == std::vector<Bytes>{32_KiB, 48_KiB, 32_KiB, 48_KiB});
  CHECK(traffic.down == std::vector<Bytes>{32_KiB, 48_KiB, 32_KiB, 48_KiB});
}

TEST_CASE("NVLS AllGather sends b and receives n b, ReduceScatter the reverse") {
  const Bytes block(1000 * 4);
  const auto gathered =
      multimem_traffic(*nvls({CollectiveKind::AllGather, 8, 1000, 3, 64}, all_ranks(8)));
  const auto scattered =
      multimem_traffic(*nvls({CollectiveKind::ReduceScatter, 8, 1000, 3, 64}, all_ranks(8)));
  for (std::size_t r = 0; r < 8; ++r) {
    CHECK(gathered.up[r] == block);
    CHECK(gathered.down[r] == block * 8);
    CHECK(scattered.up[r] == block * 8);
    CHECK(scattered.down[r] == block);
  }
}

TEST_CASE("Only flags of blocks in staging buffers travel between ranks") {
  const auto program = nvls({CollectiveKind::AllReduce, 4, 9 * grain, 1, grain}, all_ranks(4));
  for (std::uint32_t lane = 0; lane < program->lane_count(Rank(2)); ++lane) {
    for (std::uint64_t index = 0; index < program->step_count(Rank(2), lane); ++index) {
      const Step step = program->step(Rank(2), lane, index);
      if (step.sends.count > 0) {
        CHECK(step.movement == (lane == 0 ? Movement::Post : Movement::Multimem));
      }
    }
  }
}

TEST_CASE("A loop is one primitive of the scatter and gather lanes") {
  // Three heads, two loops: the first step of each starts a primitive.
  const auto program = nvls({CollectiveKind::AllReduce, 3, 6 * grain, 1, grain}, all_ranks(3));
  for (const std::uint32_t lane : {0U, 1U}) {
    REQUIRE(program->step_count(Rank(0), lane) == 6);
    for (std::uint64_t index = 0; index < 6; ++index) {
      CHECK(program->step(Rank(0), lane, index).continues == (index % 3 != 0));
    }
  }
  REQUIRE(program->step_count(Rank(0), 2) == 2);
  CHECK_FALSE(program->step(Rank(0), 2, 1).continues);
}

TEST_CASE("Heads learn of a loop's blocks when all are copied, the rank's own last") {
  const auto program = nvls({CollectiveKind::AllReduce, 3, 6 * grain, 1, grain}, all_ranks(3));
  for (std::uint64_t index = 0; index < 6; ++index) {
    const Step step = program->step(Rank(1), 0, index);
    const bool own = index % 3 == 2;
    CHECK(step.posts_later == !own);
    CHECK(step.sends.count == (own ? 0 : 1));
  }
  // Behind rank 1 in the circle: rank 2, then rank 0.
  CHECK(program->send_to(Rank(1), 0, 0).peer == Rank(2));
  CHECK(program->send_to(Rank(1), 0, 1).peer == Rank(0));
}

TEST_CASE("The last loop of NVLS AllReduce is shared in units of 16 KiB") {
  // 5 units for 4 heads: 2 each for the first two, the fifth for the third, none for the last. Rank 3 begins with head 0.
  const auto program = nvls({CollectiveKind::AllReduce, 4, 5 * grain, 1, 8 * grain}, all_ranks(4));
  std::vector<Bytes> blocks;
  for (std::uint64_t index = 0; index < program->step_count(Rank(3), 0); ++index) {
    blocks.push_back(program->step(Rank(3), 0, index).bytes);
  }
  CHECK(blocks == std::vector<Bytes>{32_KiB, 32_KiB, 16_KiB, 0_KiB});
}

TEST_CASE("The block's 20 warps are divided among the lanes of NVLS") {
  const auto threads = [](CollectiveKind kind, std::uint32_t ranks) {
    const auto program = nvls({kind, ranks, ranks * grain, 1, grain}, all_ranks(ranks));
    std::vector<std::uint32_t> of_lanes;
    for (std::uint32_t lane = 0; lane < program->lane_count(Rank(0)); ++lane) {
      of_lanes.push_back(program->lane(Rank(0), lane).threads);
    }
    return of_lanes;
  };
  // AllReduce: the reduction has 7 warps up to 6 ranks, then 5; scatter and gather halve the rest.
  CHECK(threads(CollectiveKind::AllReduce, 6) ==
        std::vector<std::uint32_t>{7 * 32, 6 * 32, 7 * 32});
  CHECK(threads(CollectiveKind::AllReduce, 7) ==
        std::vector<std::uint32_t>{8 * 32, 7 * 32, 5 * 32});
  CHECK(threads(CollectiveKind::AllGather, 8) == std::vector<std::uint32_t>{8 * 32, 12 * 32});
  CHECK(threads(CollectiveKind::ReduceScatter, 8) == std::vector<std::uint32_t>{8 * 32, 12 * 32});
}

TEST_CASE("NVLS AllGather refuses ranks that are no heads") {
  CHECK_THROWS_WITH(nvls({CollectiveKind::AllGather, 4, 8, 1, 8}, all_ranks(3)),
                    "NVLS all_gather needs a channel that starts at each of the 4 GPUs; those of "
                    "the NVLS graph start at 3");
}

TEST_CASE("Channels of NVLS that stand for others keep their numbers") {
  nccl::Execution execution =
      make(nccl::Algorithm::Nvls, {CollectiveKind::AllReduce, 2, 4 * grain, 2, grain});
  execution.work[0].multiplicity = 15;
  execution.work[1].channel = 15;
  const auto program = build_nvls_program(execution, all_ranks(2));
  CHECK(program->channels() == 16);
  CHECK(program->lane(Rank(0), 0).multiplicity == 15);
  CHECK(program->lane(Rank(0), 3).multiplicity == 1);
  CHECK(program->lane(Rank(0), 3).channel == 15);
}
