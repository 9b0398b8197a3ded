#include "algorithms/closed_forms.hpp"

#include <stdexcept>
#include <utility>

#include "algorithms/collective.hpp"
#include "tests/catch.hpp"

using namespace collsim;
using namespace collsim::literals;

namespace {

// The textbook's machines: 20 ps a byte, 10^6 ps a message.
constexpr UniformMachine textbook{1'000'000_ps, 50_GBps};
constexpr std::int64_t alpha = 1'000'000;
constexpr std::int64_t beta = 20;

CollectiveCall call_of(CollectiveKind kind, std::uint32_t ranks, Bytes size) {
  CollectiveCall call = call_for_size(kind, ranks, size, DataType::Float32);
  REQUIRE(call.size() == size);
  return call;
}

Duration on_mesh(std::string_view algorithm, CollectiveKind kind, std::uint32_t ranks, Bytes size) {
  const auto time = closed_form_mesh(algorithm, call_of(kind, ranks, size), textbook);
  REQUIRE(time);
  return *time;
}

Duration on_star(std::string_view algorithm, CollectiveKind kind, std::uint32_t ranks, Bytes size) {
  const auto time = closed_form_star(algorithm, call_of(kind, ranks, size), textbook);
  REQUIRE(time);
  return *time;
}

std::int64_t log2_of(std::uint32_t power) {
  std::int64_t result = 0;
  for (; power > 1; power /= 2) {
    ++result;
  }
  return result;
}

}  // namespace

TEST_CASE("the lesson's examples come out to the picosecond") {
  using enum CollectiveKind;
  CHECK(on_mesh("ring", AllReduce, 8, 1_GiB) == 37'594'963'840_ps);
  CHECK(on_star("ring", AllReduce, 8, 1_GiB) == 37'594'963'840_ps);
  CHECK(on_star("naive", AllGather, 8, 128_MiB) == 21'141'292'160_ps);
  CHECK(on_star("ring", AllGather, 8, 128_MiB) == 2'355'810'240_ps);
  CHECK(on_star("naive", AllReduce, 8, 1_GiB) == 300'649'710'720_ps);
  CHECK(on_mesh("tree", Broadcast, 5, 1_MiB) == 63'914'560_ps);
  CHECK(on_mesh("bruck", AllGather, 5, 5_MiB) == 86'886'080_ps);
  CHECK(on_mesh("halving-doubling", AllReduce, 8, 1_MiB) == 42'700'160_ps);
  CHECK(on_star("direct", AllReduce, 8, 1_MiB) == 38'700'160_ps);
}

// Alpha-beta formulas of Chan et al. 2007 and Thakur et al. 2005, for n = 2^k ranks and S bytes that
// divide.
TEST_CASE("powers of two and even sizes give the textbook's formulas") {
  using enum CollectiveKind;
  for (const std::uint32_t n : {2U, 4U, 8U, 16U, 32U, 64U}) {
    const std::int64_t k = log2_of(n);
    const std::int64_t hops = n - 1;
    const Bytes size = 64_KiB;
    const std::int64_t whole = size.count() * beta;
    const std::int64_t block = whole / n;
    const auto form = [&](std::string_view algorithm, CollectiveKind kind) {
      return on_mesh(algorithm, kind, n, size).count();
    };
    CAPTURE(n);
    CHECK(form("naive", Broadcast) == alpha + whole);
    CHECK(form("naive", Gather) == alpha + block);
    CHECK(form("naive", ReduceScatter) == 2 * alpha + whole + block);
    CHECK(form("naive", AllToAll) == 2 * (alpha + whole));
    CHECK(form("ring", Broadcast) == hops * (alpha + whole));
    CHECK(form("ring", AllGather) == hops * (alpha + block));
    CHECK(form("ring", AllReduce) == 2 * hops * (alpha + block));
    CHECK(form("tree", Reduce) == k * (alpha + whole));
    CHECK(form("tree", Gather) == k * alpha + hops * block);
    CHECK(form("tree", Scatter) == k * alpha + hops * block);
    CHECK(form("recursive-doubling", AllReduce) == k * (alpha + whole));
    CHECK(form("recursive-doubling", AllGather) == k * alpha + hops * block);
    CHECK(form("halving-doubling", AllGather) == k * alpha + hops * block);
    CHECK(form("halving-doubling", ReduceScatter) == k * alpha + hops * block);
    CHECK(form("halving-doubling", AllReduce) == 2 * (k * alpha + hops * block));
    CHECK(form("bruck", AllGather) == k * alpha + hops * block);
    CHECK(form("bruck", AllToAll) == k * (alpha + whole / 2));
    CHECK(form("direct", ReduceScatter) == alpha + block);
    CHECK(form("direct", SendRecv) == alpha + whole);
    CHECK(form("direct", AllReduce) == 2 * (alpha + block));
    CHECK(form("direct-one-shot", AllReduce) == alpha + whole);
    CHECK(form("pairwise", AllToAll) == hops * (alpha + block));
  }
}

TEST_CASE("a tree's sends hold the lane one after the other") {
  // 8 ranks, 1 KiB: the root serves subtrees of 4, 2 and 1. With latency far above the rest, the
  // deepest path decides: 3 hops. Without latency, every rank forwards at once: the last child of
  // the root, its last child, … each wait for the sends before theirs: 3 messages in all.
  const CollectiveCall call = call_of(CollectiveKind::Broadcast, 8, 1_KiB);
  CHECK(closed_form_mesh("tree", call, textbook) == Duration(3 * (alpha + 1024 * beta)));
  CHECK(closed_form_mesh("tree", call, {0_ps, 50_GBps}) == Duration(3 * (1024 * beta)));
}

TEST_CASE("two binary trees: from the root to two tops, then down") {
  // 6 ranks: trees of 5. The top is at place 4, before it a tree of 3 (a top with two leaves),
  // behind it a leaf. A half is 512 bytes, 10240 ps.
  // Down: 1 to the top, 1 to place 2, then leaves 1 and 3, the second one a send later: with a hop
  // a message each, 3·alpha + 4 sends. The leaf behind the top: 2·alpha + 3 sends.
  const std::int64_t half = 512 * beta;
  CHECK(on_mesh("double-tree", CollectiveKind::Broadcast, 6, 1_KiB).count() ==
        3 * alpha + 4 * half);
  // Up, sums do not wait for each other: three hops.
  CHECK(on_mesh("double-tree", CollectiveKind::Reduce, 6, 1_KiB).count() == 3 * (alpha + half));
  CHECK(on_mesh("double-tree", CollectiveKind::AllReduce, 6, 1_KiB).count() ==
        6 * alpha + 7 * half);
  // 2 ranks: two halves at once.
  CHECK(on_mesh("double-tree", CollectiveKind::Broadcast, 2, 1_KiB).count() == alpha + half);
}

TEST_CASE("extra ranks hand over first and are served last") {
  // 3 ranks, 1000 bytes: rank 0 sends to rank 1, which then exchanges with rank 2 and answers.
  // All: alpha + S. Exchange: rank 2's data are there already at alpha + S; rank 1's own send takes
  // S more, so that it can answer at alpha + 2S, which takes alpha + S.
  const CollectiveCall call = call_of(CollectiveKind::AllReduce, 3, Bytes(1000));
  const std::int64_t whole = 1000 * beta;
  CHECK(closed_form_mesh("recursive-doubling", call, textbook) == Duration(2 * alpha + 3 * whole));
}

TEST_CASE("recursive doubling with extra ranks: the later of two chains") {
  // 2^k + r ranks, S = 1000 bytes: max((k+1)·(alpha + S·beta), (k+2)·S·beta + (2+ceil(log r))·alpha).
  const std::int64_t whole = 1000 * beta;
  const auto form = [&](std::uint32_t ranks, Duration latency) {
    return closed_form_mesh("recursive-doubling",
                            call_of(CollectiveKind::AllReduce, ranks, Bytes(1000)),
                            {latency, 50_GBps});
  };
  // 9 = 8 + 1: mostly latency, then none.
  CHECK(form(9, textbook.latency) == Duration(4 * (alpha + whole)));
  CHECK(form(9, 0_ps) == Duration(5 * whole));
  // 15 = 8 + 7: partners at both ends of a chain over all three bits.
  CHECK(form(15, textbook.latency) == Duration(5 * (alpha + whole)));
}

TEST_CASE("halving-doubling sends the first blocks of each group, and all with extra ranks") {
  // 8 ranks, 13 elements of 4 bytes: blocks of 2, 2, 2, 2, 2, 1, 1, 1. The first four, two and one
  // have 8, 4 and 2 elements: 56 bytes each way.
  CollectiveCall call = call_of(CollectiveKind::AllReduce, 8, Bytes(52));
  CHECK(closed_form_mesh("halving-doubling", call, textbook) ==
        Duration(2 * (3 * alpha + 56 * beta)));
  // 12 = 8 + 4 ranks, 8 blocks of 20 bytes: 140 bytes each way, and 160 before and after.
  call = call_of(CollectiveKind::AllReduce, 12, Bytes(160));
  CHECK(closed_form_mesh("halving-doubling", call, textbook) ==
        Duration(2 * (3 * alpha + 140 * beta) + 2 * (alpha + 160 * beta)));
}

TEST_CASE("blocks are as equal as elements allow") {
  CollectiveCall call;
  call.kind = CollectiveKind::AllReduce;
  call.ranks = 3;
  call.count = 7;  // blocks of 3, 2 and 2 elements of 4 bytes
  CHECK(closed_form_mesh("ring", call, textbook) == Duration(4 * (alpha + 12 * beta)));
  // Empty blocks: ranks 1 and 2 have none; the messages that carry nothing are not the longest.
  call.count = 1;
  CHECK(closed_form_mesh("ring", call, textbook) == Duration(4 * (alpha + 4 * beta)));
}

TEST_CASE("each message is rounded up by itself") {
  // 3 B/ns: a byte takes 333.33 ps, a message of one byte 334, three of them 1002.
  CollectiveCall call;
  call.kind = CollectiveKind::AllGather;
  call.ranks = 4;
  call.count = 1;
  call.type = DataType::Int8;
  CHECK(closed_form_mesh("ring", call, {0_ps, 3_GBps}) == 1002_ps);
  // On a star, three flows of one byte share a link: 1000 ps.
  CHECK(closed_form_star("direct", call, {0_ps, 3_GBps}) == Duration(1000));
}

TEST_CASE("one rank or no data take no time") {
  CollectiveCall call;
  call.ranks = 8;
  CHECK(closed_form_mesh("ring", call, textbook) == Duration{});
  call.ranks = 1;
  call.count = 100;
  CHECK(closed_form_mesh("tree", call, textbook) == Duration{});
  CHECK(closed_form_star("naive", call, textbook) == Duration{});
}

TEST_CASE("what has no closed form is absent") {
  const CollectiveCall call = call_of(CollectiveKind::AllReduce, 8, 1_KiB);
  CHECK_FALSE(closed_form_mesh("bruck", call, textbook));
  CHECK_FALSE(closed_form_mesh("no such algorithm", call, textbook));
  CHECK_FALSE(closed_form_star("tree", call, textbook));
  CHECK_FALSE(closed_form_hierarchical(call, 3, textbook, textbook));
  CHECK_FALSE(closed_form_hierarchical(call, 0, textbook, textbook));
  const CollectiveCall gather = call_of(CollectiveKind::Gather, 8, 1_KiB);
  CHECK_FALSE(closed_form_hierarchical(gather, 4, textbook, textbook));
}

TEST_CASE("a time beyond the clock is an error") {
  CollectiveCall call;
  call.kind = CollectiveKind::Broadcast;
  call.ranks = 1U << 20U;
  call.count = INT64_C(1) << 40;
  call.type = DataType::Int8;
  CHECK_THROWS_AS(closed_form_mesh("ring", call, {0_ps, 1_GBps}), std::overflow_error);
}

TEST_CASE("hierarchical on equal nodes: two levels of rings, exchanges or trees") {
  using enum CollectiveKind;
  // 2 nodes of 4; inside 20 ps a byte and 1 us, between 80 ps a byte and 5 us.
  const UniformMachine between{5'000'000_ps, Bandwidth::bytes_per_second(12'500'000'000)};
  const auto form = [&](CollectiveKind kind) {
    const auto time = closed_form_hierarchical(call_of(kind, 8, 64_KiB), 4, textbook, between);
    REQUIRE(time);
    return time->count();
  };
  const std::int64_t inside_alpha = alpha;
  const std::int64_t between_alpha = 5 * alpha;
  const auto inside = [&](std::int64_t bytes) { return inside_alpha + bytes * 20; };
  const auto across = [&](std::int64_t bytes) { return between_alpha + bytes * 80; };
  const std::int64_t size = 65536;
  CHECK(form(AllReduce) == 2 * 3 * inside(size / 4) + 2 * 1 * across(size / 8));
  CHECK(form(AllGather) == 1 * across(size / 8) + 3 * inside(size / 4));
  CHECK(form(ReduceScatter) == form(AllGather));
  CHECK(form(AllToAll) == 3 * inside(size / 4) + 1 * across(size / 2));
  // The other node's entry gets it first; its subtrees of 2 and 1 GPUs follow, two hops deep.
  CHECK(form(Broadcast) == across(size) + 2 * inside(size));
  CHECK(form(Reduce) == across(size) + 2 * inside(size));
}
