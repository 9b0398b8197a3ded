// PAT: right data for every number of ranks and every aggregation, and the bytes each dimension
// carries.

#include "algorithms/nccl/pat_program.hpp"

#include <array>
#include <vector>

#include "tests/algorithms/nccl/small_execution.hpp"
#include "tests/algorithms/program_laws.hpp"
#include "tests/catch.hpp"

using namespace collsim;
using namespace collsim::test;

namespace {

constexpr std::array kinds{CollectiveKind::AllGather, CollectiveKind::ReduceScatter};

std::unique_ptr<Program> pat(const SmallExecution& small) {
  return nccl::build_pat_program(make(nccl::Algorithm::Pat, small));
}

/// Bytes that a rank sends to the rank at distance 2^d, for each d.
std::vector<Bytes> sent_by_dimension(const Program& program, Rank rank) {
  std::vector<Bytes> sent(6);
  for (std::uint32_t lane = 0; lane < program.lane_count(rank); ++lane) {
    for (std::uint64_t index = 0; index < program.step_count(rank, lane); ++index) {
      const Step step = program.step(rank, lane, index);
      if (step.sends.count > 0) {
        sent[step.sends.first] += step.bytes;
      }
    }
  }
  return sent;
}

}  // namespace

TEST_CASE("PAT gives every rank its data, whatever the size and the aggregation") {
  std::vector<std::uint32_t> rank_counts;
  for (std::uint32_t ranks = 2; ranks <= 17; ++ranks) {
    rank_counts.push_back(ranks);
  }
  rank_counts.insert(rank_counts.end(), {24, 31, 32, 33, 64});
  for (const CollectiveKind kind : kinds) {
    for (const std::uint32_t ranks : rank_counts) {
      // All ranks' blocks in a message; 8, 4 and 1 a message; one a message in odd loops.
      for (const std::int64_t count : {1, 8, 13, 40, 205}) {
        for (const InPlace in_place : {InPlace::Yes, InPlace::No}) {
          CHECK(fault_of(*pat({kind, ranks, count, 1, 64, in_place})) == "");
        }
      }
    }
  }
}

TEST_CASE("PAT with several channels, the last of which aggregates more") {
  for (const CollectiveKind kind : kinds) {
    for (const std::uint32_t ranks : {5U, 8U, 13U}) {
      // Parts of 40, 40 and 21: one, one and three of them fit 64.
      const auto program = pat({kind, ranks, 101, 3, 64});
      CHECK(fault_of(*program) == "");
      CHECK(program->channels() == 3);
    }
  }
}

TEST_CASE("PAT sends n - 1 blocks from every rank") {
  for (const CollectiveKind kind : kinds) {
    for (const std::uint32_t ranks : {2U, 7U, 16U, 33U}) {
      for (const std::int64_t count : {3, 500}) {
        const auto program = pat({kind, ranks, count, 2, 64});
        const Bytes all = Bytes(count * 4) * (ranks - 1);
        CHECK(bytes_sent(*program) == std::vector<Bytes>(ranks, all));
      }
    }
  }
}

TEST_CASE("PAT sends half of the blocks to the neighbour, half of the rest twice as far") {
  // Of the distances 1 … 31, 16 are odd, 8 are odd multiples of 2, and so on.
  const Bytes block(100 * 4);
  for (const CollectiveKind kind : kinds) {
    const auto program = pat({kind, 32, 100, 1, 64});
    for (const std::uint32_t rank : {0U, 13U, 31U}) {
      CHECK(sent_by_dimension(*program, Rank(rank)) ==
            std::vector<Bytes>{block * 16, block * 8, block * 4, block * 2, block * 1, Bytes(0)});
    }
  }
}

TEST_CASE("PAT's messages go down a dimension in AllGather and up in ReduceScatter") {
  const auto gather = pat({CollectiveKind::AllGather, 12, 4, 1, 64});
  const auto scatter = pat({CollectiveKind::ReduceScatter, 12, 4, 1, 64});
  CHECK(gather->send_to(Rank(3), 0, 3) == Connection{Rank(7), 0, 3});
  CHECK(scatter->send_to(Rank(7), 0, 3) == Connection{Rank(3), 0, 3});
  CHECK(gather->receive_from(Rank(3), 0, 1) == Connection{Rank(5), 0, 1});
  CHECK(scatter->receive_from(Rank(3), 0, 1) == Connection{Rank(1), 0, 1});
}

TEST_CASE("A message of PAT that passes the last rank continues in a second step") {
  // 8 ranks, all aggregated. Rank 5 sends the blocks at distances 0 and 4 to dimension 1 together:
  // those of ranks 5 and 1. Rank 1 has 1 and 5 in a row.
  const auto program = pat({CollectiveKind::AllGather, 8, 1, 1, 64});
  // Operations: send 0; receive 4; send 0 and 4. Each has two steps.
  const Step front = program->step(Rank(5), 0, 4);
  const Step rest = program->step(Rank(5), 0, 5);
  CHECK(front.bytes == Bytes(4));
  CHECK(front.source->offset == Bytes(5 * 4));
  CHECK(rest.bytes == Bytes(4));
  CHECK(rest.source->offset == Bytes(1 * 4));
  CHECK(rest.continues);
  const Step whole = program->step(Rank(1), 0, 4);
  CHECK(whole.bytes == Bytes(8));
  CHECK(whole.source->offset == Bytes(1 * 4));
  CHECK(whole.source->stride == Bytes(4 * 4));
  CHECK(program->step(Rank(1), 0, 5).primitive() == Primitive::Nothing);
}

TEST_CASE("In place, PAT AllGather sends the own block from where it is") {
  const Step in_place =
      pat({CollectiveKind::AllGather, 4, 8, 1, 8, InPlace::Yes})->step(Rank(1), 0, 0);
  CHECK(in_place.primitive() == Primitive::Send);
  const Step out_of_place =
      pat({CollectiveKind::AllGather, 4, 8, 1, 8, InPlace::No})->step(Rank(1), 0, 0);
  CHECK(out_of_place.primitive() == Primitive::CopySend);
}
