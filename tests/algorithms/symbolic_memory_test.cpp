#include "algorithms/symbolic_memory.hpp"

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "algorithms/interval_map.hpp"
#include "algorithms/rank_sets.hpp"
#include "tests/catch.hpp"

using namespace collsim;
using namespace collsim::detail;
using namespace collsim::literals;

namespace {

/// A value that counts on by the byte, as origins do.
struct Counter {
  std::int64_t value = -1;
  [[nodiscard]] Counter advanced(std::int64_t bytes) const {
    return {value < 0 ? value : value + bytes};
  }
};

using ByteMap = std::map<std::int64_t, std::int64_t>;  // byte → its value

ByteMap bytes_of(const IntervalMap<Counter>& map, std::int64_t begin, std::int64_t end) {
  ByteMap bytes;
  std::int64_t next = begin;
  map.read(begin, end, [&](std::int64_t from, std::int64_t to, const Counter* counter) {
    REQUIRE(from == next);  // the pieces follow each other
    REQUIRE(to > from);
    next = to;
    if (counter == nullptr) {
      return;
    }
    for (std::int64_t at = from; at < to; ++at) {
      bytes[at] = counter->advanced(at - from).value;
    }
  });
  REQUIRE(next == end);
  return bytes;
}

SymbolicData data_of(const std::vector<SymbolicPiece>& pieces) {
  SymbolicData data;
  for (const SymbolicPiece& piece : pieces) {
    data.append(piece.bytes, piece.value);
  }
  return data;
}

}  // namespace

TEST_CASE("an interval map holds what a map of single bytes holds") {
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same numbers in every run
  auto below = [&](std::int64_t limit) { return static_cast<std::int64_t>(random()) % limit; };
  for (int round = 0; round < 200; ++round) {
    IntervalMap<Counter> map;
    ByteMap expected;
    for (int operation = 0; operation < 30; ++operation) {
      const std::int64_t begin = below(20);
      const std::int64_t end = begin + below(12);
      if (below(3) == 0) {
        map.change(begin, end, [](std::int64_t, std::int64_t, Counter& counter) {
          if (counter.value < 0) {
            counter.value = 5000;
          }
        });
        // Each gap has become one interval that counts on from its first byte.
        for (std::int64_t at = begin; at < end; ++at) {
          if (expected.contains(at)) {
            continue;
          }
          std::int64_t value = 5000;
          for (; at < end && !expected.contains(at); ++at) {
            expected[at] = value++;
          }
        }
      } else {
        const std::int64_t value = below(1000);
        map.assign(begin, end, Counter{value});
        for (std::int64_t at = begin; at < end; ++at) {
          expected[at] = value + at - begin;
        }
      }
      REQUIRE(bytes_of(map, -3, 40) == expected);
    }
  }
}

TEST_CASE("overwriting the same range again and again keeps one interval") {
  IntervalMap<Counter> map;
  for (std::int64_t i = 0; i < 100; ++i) {
    map.assign(8, 16, Counter{i});
  }
  CHECK(map.size() == 1);
  map.assign(10, 12, Counter{0});
  CHECK(map.size() == 3);
  map.assign(0, 100, Counter{0});
  CHECK(map.size() == 1);
}

TEST_CASE("unions of ranks are those of sets, refused where they overlap") {
  std::mt19937 random(2);  // NOLINT(cert-msc51-cpp): the same numbers in every run
  RankSets sets;
  auto random_set = [&](std::set<std::uint32_t>& ranks) {
    RankSetId id = RankSets::empty();
    for (std::uint32_t rank = 0; rank < 12; ++rank) {
      if (random() % 3 != 0) {
        continue;
      }
      ranks.insert(rank);
      id = sets.disjoint_union(id, sets.single(Rank(rank))).value();
    }
    return id;
  };
  std::map<std::set<std::uint32_t>, RankSetId> ids;
  for (int round = 0; round < 2000; ++round) {
    std::set<std::uint32_t> left;
    std::set<std::uint32_t> right;
    const RankSetId left_id = random_set(left);
    const RankSetId right_id = random_set(right);
    std::set<std::uint32_t> both;
    for (const std::uint32_t rank : left) {
      if (right.contains(rank)) {
        both.insert(rank);
      }
    }
    const auto joined = sets.disjoint_union(left_id, right_id);
    const auto common = sets.common(left_id, right_id);
    REQUIRE(joined.has_value() == both.empty());
    REQUIRE(common.has_value() == !both.empty());
    if (common) {
      REQUIRE(*common == Rank(*both.begin()));
      continue;
    }
    left.merge(right);
    // Equal sets have equal ids, however they came about.
    REQUIRE(ids.try_emplace(left, *joined).first->second == *joined);
  }
}

TEST_CASE("sets of ranks read well") {
  RankSets sets;
  auto joined = [&](RankSetId a, RankSetId b) { return sets.disjoint_union(a, b).value(); };
  CHECK(sets.text(RankSets::empty()) == "no rank");
  CHECK(sets.text(sets.single(Rank(3))) == "rank 3");
  CHECK(sets.text(sets.all(4)) == "ranks 0-3");
  const RankSetId more = joined(sets.all(4), sets.single(Rank(5)));
  CHECK(sets.text(more) == "ranks 0-3 and 5");
  CHECK(sets.text(joined(more, sets.single(Rank(2000)))) == "ranks 0-3, 5 and 2000");
  CHECK(sets.text(joined(more, sets.single(Rank(4)))) == "ranks 0-5");
}

TEST_CASE("a thousand ranks added one by one are one set") {
  RankSets sets;
  RankSetId id = RankSets::empty();
  for (std::uint32_t rank = 0; rank < 1024; ++rank) {
    // Even ranks first, then the odd ones between them.
    const std::uint32_t next = rank < 512 ? 2 * rank : 2 * (rank - 512) + 1;
    id = sets.disjoint_union(id, sets.single(Rank(next))).value();
  }
  CHECK(id == sets.all(1024));
}

TEST_CASE("data of consecutive elements with the same contributors are one piece") {
  RankSets sets;
  const RankSetId one = sets.single(Rank(1));
  const RankSetId two = sets.single(Rank(2));
  SymbolicData data = data_of({{4, {0, one}}, {4, {4, one}}, {0, {90, two}}, {2, {8, two}}});
  CHECK(data.pieces() == std::vector<SymbolicPiece>{{8, {0, one}}, {2, {8, two}}});
}

TEST_CASE("a reduction joins the contributors of equal elements piece by piece") {
  RankSets sets;
  const RankSetId one = sets.single(Rank(1));
  const RankSetId two = sets.single(Rank(2));
  const RankSetId three = sets.single(Rank(3));
  const RankSetId one_three = sets.disjoint_union(one, three).value();
  const RankSetId two_three = sets.disjoint_union(two, three).value();
  // Left changes its contributor after 3 of 8 bytes, right nowhere.
  const SymbolicReduction result =
      reduce(data_of({{3, {16, one}}, {5, {19, two}}}), data_of({{8, {16, three}}}), sets);
  CHECK_FALSE(result.clash);
  CHECK(result.data.pieces() ==
        std::vector<SymbolicPiece>{{3, {16, one_three}}, {5, {19, two_three}}});
}

TEST_CASE("a reduction that clashes spoils just the bytes that clash") {
  RankSets sets;
  const RankSetId one = sets.single(Rank(1));
  const RankSetId two = sets.single(Rank(2));
  const RankSetId both = sets.all(3);
  using Kind = ReductionClash::Kind;
  const auto [right, kind] =
      GENERATE_COPY(std::pair(SymbolicValue{6, two}, Kind::DifferentElements),
                    std::pair(SymbolicValue{4, both}, Kind::CommonContributor));
  const SymbolicReduction result =
      reduce(data_of({{8, {0, one}}}), data_of({{4, {0, two}}, {4, right}}), sets);
  REQUIRE(result.clash);
  CHECK(result.clash->kind == kind);
  CHECK(result.clash->left == SymbolicValue{4, one});
  CHECK(result.clash->right == right);
  REQUIRE(result.data.pieces().size() == 2);
  CHECK_FALSE(result.data.pieces()[0].value.is_spoilt());
  CHECK(result.data.pieces()[1].value.is_spoilt());

  // What is spoilt causes no further clash.
  CHECK_FALSE(reduce(result.data, data_of({{8, {0, sets.single(Rank(7))}}}), sets).clash);
}

TEST_CASE("memory gives back what was written, run by run, and who wrote it") {
  RankSets sets;
  const RankSetId one = sets.single(Rank(1));
  const RankSetId two = sets.single(Rank(2));
  SymbolicMemory memory;
  memory.initialise(100, 120, {0, one});
  // Two runs of 2 bytes, 4 apart, from byte 4 of a buffer that begins at 100.
  const Span span{Buffer::Output, 4_B, 4_B, 2_B, 4_B};
  memory.write(span, 100, data_of({{4, {50, two}}}), StepRef{3, 7});
  const auto reading = memory.read(Span::contiguous(Buffer::Output, 2_B, 10_B), 100);
  CHECK_FALSE(reading.missing);
  CHECK(reading.data.pieces() ==
        std::vector<SymbolicPiece>{
            {2, {2, one}}, {2, {50, two}}, {2, {6, one}}, {2, {52, two}}, {2, {10, one}}});
  CHECK(memory.read(span, 100).data.pieces() == std::vector<SymbolicPiece>{{4, {50, two}}});

  std::vector<std::optional<StepRef>> writers;
  memory.inspect(100, 106, [&](std::int64_t, std::int64_t, const SymbolicMemory::Content* content) {
    writers.push_back(content->writer);
  });
  CHECK(writers == std::vector<std::optional<StepRef>>{std::nullopt, StepRef{3, 7}});
}

TEST_CASE("bytes that nobody wrote are missing, and the first one is named") {
  RankSets sets;
  SymbolicMemory memory;
  memory.initialise(0, 6, {0, sets.single(Rank(1))});
  const auto reading = memory.read(Span::contiguous(Buffer::Scratch, 2_B, 8_B), 0);
  REQUIRE(reading.missing);
  CHECK(*reading.missing == 6);
  REQUIRE(reading.data.pieces().size() == 2);
  CHECK(reading.data.pieces()[1].value.is_spoilt());
}

TEST_CASE("the last run of a span may be shorter, and reach to the end of its buffer only") {
  // Runs [0,4) [8,12) [16,18): 10 bytes.
  const Span span{Buffer::Input, 0_B, 10_B, 4_B, 8_B};
  std::vector<std::pair<std::int64_t, std::int64_t>> runs;
  for_each_run(span, [&](std::int64_t begin, std::int64_t end) { runs.emplace_back(begin, end); });
  CHECK(runs == std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 4}, {8, 12}, {16, 18}});
  CHECK_FALSE(objection_to(span, 10_B, 18_B));
  CHECK(objection_to(span, 10_B, 17_B) == "has a span over bytes 0-17 of a buffer of 17");
  CHECK_FALSE(objection_to(Span{}, 0_B, 0_B));
}
