// What each algorithm sends, against the textbook: bytes by rank, and who is whose neighbour.

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "algorithms/table.hpp"
#include "tests/algorithms/program_laws.hpp"
#include "tests/catch.hpp"

using namespace collsim;
using namespace collsim::literals;
using enum CollectiveKind;

namespace {

/// `size` as in nccl-tests, in bytes that divide by the ranks.
std::unique_ptr<Program> program_of(const std::string& algorithm, CollectiveKind kind,
                                    std::uint32_t ranks, Bytes size) {
  ProgramRequest request;
  request.call = call_for_size(kind, ranks, size, DataType::Float32);
  REQUIRE(request.call.size() == size);
  return build_program(find_algorithm(algorithm), request);
}

std::vector<Bytes> sent_by(const std::string& algorithm, CollectiveKind kind, std::uint32_t ranks,
                           Bytes size) {
  return test::bytes_sent(*program_of(algorithm, kind, ranks, size));
}

bool all_send(const std::vector<Bytes>& sent, Bytes bytes) {
  return std::all_of(sent.begin(), sent.end(), [&](Bytes each) { return each == bytes; });
}

Bytes sum(const std::vector<Bytes>& sent) {
  return std::accumulate(sent.begin(), sent.end(), Bytes(0));
}

/// A block of 48 B: whole 16-byte units, and a third of it is whole elements.
constexpr Bytes block = 48_B;

}  // namespace

TEST_CASE("ring sends the bandwidth optimum from every rank") {
  for (const std::uint32_t n : {2U, 3U, 7U, 16U}) {
    const Bytes size = block * n;
    CHECK(all_send(sent_by("ring", AllReduce, n, size), 2 * (n - 1) * block));
    CHECK(all_send(sent_by("ring", AllGather, n, size), (n - 1) * block));
    CHECK(all_send(sent_by("ring", ReduceScatter, n, size), (n - 1) * block));
    CHECK(sum(sent_by("ring", Broadcast, n, size)) == (n - 1) * size);
    CHECK(sum(sent_by("ring", Reduce, n, size)) == (n - 1) * size);
  }
}

TEST_CASE("naive sends everything through rank 0") {
  for (const std::uint32_t n : {2U, 5U, 8U}) {
    const Bytes size = block * n;
    const auto through_root = [&](CollectiveKind kind, Bytes root_sends, Bytes others_send) {
      const std::vector<Bytes> sent = sent_by("naive", kind, n, size);
      CHECK(sent[0] == root_sends);
      CHECK(std::all_of(sent.begin() + 1, sent.end(),
                        [&](Bytes each) { return each == others_send; }));
    };
    through_root(Broadcast, (n - 1) * size, 0_B);
    through_root(Reduce, 0_B, size);
    through_root(Scatter, (n - 1) * block, 0_B);
    through_root(Gather, 0_B, block);
    through_root(AllGather, (n - 1) * size, block);
    through_root(ReduceScatter, (n - 1) * block, size);
    through_root(AllReduce, (n - 1) * size, size);
    through_root(AllToAll, (n - 1) * size, size);
  }
}

TEST_CASE("direct and pairwise send each block once, to whom it is for") {
  for (const std::uint32_t n : {2U, 5U, 8U}) {
    const Bytes size = block * n;
    for (const CollectiveKind kind : {AllGather, ReduceScatter, AllToAll}) {
      CHECK(all_send(sent_by("direct", kind, n, size), (n - 1) * block));
    }
    CHECK(all_send(sent_by("pairwise", AllToAll, n, size), (n - 1) * block));
    CHECK(all_send(sent_by("pairwise", ReduceScatter, n, size), (n - 1) * block));
    CHECK(all_send(sent_by("direct", AllReduce, n, size), 2 * (n - 1) * block));
    CHECK(all_send(sent_by("direct-one-shot", AllReduce, n, size), (n - 1) * size));
    CHECK(all_send(sent_by("direct", SendRecv, n, size), size));
  }
}

TEST_CASE("halving-doubling sends the bandwidth optimum where ranks are a power of two") {
  for (const std::uint32_t n : {2U, 4U, 16U, 32U}) {
    const Bytes size = block * n;
    CHECK(all_send(sent_by("halving-doubling", AllReduce, n, size), 2 * (n - 1) * block));
    CHECK(all_send(sent_by("halving-doubling", ReduceScatter, n, size), (n - 1) * block));
    CHECK(all_send(sent_by("halving-doubling", AllGather, n, size), (n - 1) * block));
    CHECK(all_send(sent_by("recursive-doubling", AllGather, n, size), (n - 1) * block));
  }
}

TEST_CASE("halving-doubling of 8 sends 1/2, 1/4, 1/8, then 1/8, 1/4, 1/2") {
  const auto program = program_of("halving-doubling", AllReduce, 8, 64_B);
  std::vector<Bytes> messages;
  for (std::uint64_t i = 0; i < program->step_count(Rank(5), 0); ++i) {
    const Step step = program->step(Rank(5), 0, i);
    if (step.sends.count > 0) {
      messages.push_back(step.bytes);
    }
  }
  CHECK(messages == std::vector<Bytes>{32_B, 16_B, 8_B, 8_B, 16_B, 32_B});
}

TEST_CASE("recursive doubling sends everything in each of log2 n rounds") {
  CHECK(all_send(sent_by("recursive-doubling", AllReduce, 16, block), 4 * block));
  // 6 = 4 + 2: ranks 0 and 2 are extra and send all to 1 and 3, which return all at the end.
  CHECK(sent_by("recursive-doubling", AllReduce, 6, block) ==
        std::vector<Bytes>{block, 3 * block, block, 3 * block, 2 * block, 2 * block});
}

TEST_CASE("bruck sends ceil(log2 n) messages a rank") {
  for (std::uint32_t n = 2; n <= 33; ++n) {
    const auto rounds = static_cast<std::uint64_t>(std::bit_width(n - 1));
    const auto gather = program_of("bruck", AllGather, n, block * n);
    CHECK(gather->transfer_count() == n * rounds);
    CHECK(all_send(test::bytes_sent(*gather), (n - 1) * block));
    // all_to_all: a block for distance i moves once for each bit of i.
    std::int64_t bits = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      bits += std::popcount(i);
    }
    const auto exchange = program_of("bruck", AllToAll, n, block * n);
    CHECK(exchange->transfer_count() == n * rounds);
    CHECK(all_send(test::bytes_sent(*exchange), bits * block));
  }
}

TEST_CASE("along a tree everyone but the root gets the data once") {
  for (std::uint32_t n = 2; n <= 33; ++n) {
    const Bytes size = block * n;
    CHECK(sum(sent_by("tree", Broadcast, n, size)) == (n - 1) * size);
    CHECK(sum(sent_by("tree", Reduce, n, size)) == (n - 1) * size);
    CHECK(sum(sent_by("tree", AllReduce, n, size)) == 2 * (n - 1) * size);
    CHECK(sum(sent_by("double-tree", Broadcast, n, size)) == (n - 1) * size);
    CHECK(sum(sent_by("double-tree", Reduce, n, size)) == (n - 1) * size);
    CHECK(sum(sent_by("double-tree", AllReduce, n, size)) == 2 * (n - 1) * size);
    // Scatter: a block crosses a link for each rank of the subtrees below the root.
    CHECK(sent_by("tree", Scatter, n, size)[0] == (n - 1) * block);
    CHECK(sum(sent_by("tree", Gather, n, size)) == sum(sent_by("tree", Scatter, n, size)));
  }
}

TEST_CASE("in a double tree no rank but the root sends on in both trees") {
  for (std::uint32_t n = 2; n <= 70; ++n) {
    // Lanes 0 and 1 are the two trees; who only receives is a leaf.
    const auto program = program_of("double-tree", Broadcast, n, 8_B);
    for (std::uint32_t r = 1; r < n; ++r) {
      const bool in_first = program->step(Rank(r), 0, 0).sends.count > 0;
      const bool in_second = program->step(Rank(r), 1, 0).sends.count > 0;
      INFO(n << " ranks, rank " << r);
      REQUIRE(!(in_first && in_second));
      REQUIRE(program->step_count(Rank(r), 0) <= 2);
      REQUIRE(program->step_count(Rank(r), 1) <= 2);
    }
  }
}

TEST_CASE("a double tree is at most ceil(log2 n) deep") {
  for (std::uint32_t n = 2; n <= 200; ++n) {
    const auto program = program_of("double-tree", Broadcast, n, 8_B);
    for (const std::uint32_t lane : {0U, 1U}) {
      for (std::uint32_t r = 1; r < n; ++r) {
        std::uint32_t depth = 0;
        for (Rank rank(r); rank != Rank(0); ++depth) {
          rank = program->receive_from(rank, lane, 0).peer;
        }
        REQUIRE(depth <= static_cast<std::uint32_t>(std::bit_width(n - 1)));
      }
    }
  }
}

TEST_CASE("pairwise meets every other rank, one a round") {
  const auto program = program_of("pairwise", AllToAll, 7, block * 7);
  std::set<Rank> met;
  for (std::uint32_t slot = 0; slot < 6; ++slot) {
    met.insert(program->send_to(Rank(3), 0, slot).peer);
  }
  CHECK(met == std::set<Rank>{Rank(0), Rank(1), Rank(2), Rank(4), Rank(5), Rank(6)});
}
