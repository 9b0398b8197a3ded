#include "sim/joins.hpp"

#include "tests/catch.hpp"
#include "topology/units.hpp"

using namespace collsim;
using detail::PhaseGroup;

namespace {

Time at(std::int64_t ps) { return Time(Duration(ps)); }

/// A lane goes from one phase to another. Returns whether lowest() rose.
bool move(PhaseGroup& group, std::uint64_t from, std::uint64_t to, std::uint32_t lane, Time now) {
  group.enter(to);
  return group.leave(from, lane, now);
}

}  // namespace

TEST_CASE("a group has come as far as its last lane") {
  PhaseGroup group;
  CHECK(group.lowest() == UINT64_MAX);
  for (int lane = 0; lane < 3; ++lane) {
    group.enter(0);
  }
  CHECK(group.lowest() == 0);
  CHECK_FALSE(move(group, 0, 5, 0, at(1)));
  CHECK_FALSE(move(group, 0, 2, 1, at(2)));
  CHECK(group.lowest() == 0);
  CHECK(move(group, 0, 3, 2, at(3)));
  CHECK(group.lowest() == 2);
  CHECK(group.last_lane(1) == 2);
  CHECK(group.leave(2, 1, at(4)));
  CHECK(group.lowest() == 3);
  CHECK(group.leave(3, 2, at(5)));
  CHECK(group.lowest() == 5);
  CHECK(group.leave(5, 0, at(6)));
  CHECK(group.lowest() == UINT64_MAX);
  CHECK(group.last_lane(9) == 0);
}

TEST_CASE("of the lanes that end a wait at one instant the lowest counts, in any order") {
  for (const bool lower_first : {true, false}) {
    PhaseGroup group;
    group.enter(0);
    group.enter(0);
    move(group, 0, 1, lower_first ? 3 : 7, at(10));
    move(group, 0, 1, lower_first ? 7 : 3, at(10));
    CHECK(group.last_lane(1) == 3);
  }
}

TEST_CASE("a lane that had passed before does not end a wait") {
  PhaseGroup group;
  group.enter(0);
  group.enter(0);
  move(group, 0, 1, 3, at(10));
  move(group, 0, 1, 7, at(11));
  CHECK(group.last_lane(1) == 7);
}

TEST_CASE("lanes that pass several phases at one instant count for each of them, and no others") {
  // Lane 5 goes 0 -> 1 -> 2 and lane 2 goes 3 -> 4 while lane 5 is last: a wait for 2 was for lane 5
  // alone, whichever moved first; a wait for 4 is for both.
  for (const bool two_first : {true, false}) {
    PhaseGroup group;
    group.enter(0);
    group.enter(3);
    if (two_first) {
      move(group, 3, 4, 2, at(10));
    }
    move(group, 0, 1, 5, at(10));
    move(group, 1, 4, 5, at(10));
    if (!two_first) {
      move(group, 3, 4, 2, at(10));
    }
    CHECK(group.lowest() == 4);
    CHECK(group.last_lane(2) == 5);
    CHECK(group.last_lane(4) == 2);
  }
}

TEST_CASE("a lane far ahead of the others is not remembered for later") {
  PhaseGroup group;
  group.enter(0);
  group.enter(0);
  for (std::uint64_t phase = 0; phase < 1000; ++phase) {
    move(group, phase, phase + 1, 1, at(static_cast<std::int64_t>(phase)));
  }
  move(group, 0, 1000, 2, at(5000));
  CHECK(group.lowest() == 1000);
  CHECK(group.last_lane(1000) == 2);
}
