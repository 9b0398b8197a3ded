#include "sim/critical_path.hpp"

#include "tests/catch.hpp"

using namespace collsim;
using detail::CriticalPaths;
using detail::no_index;

namespace {

CriticalStep step(std::uint64_t index, std::int64_t start, std::int64_t left) {
  CriticalStep step;
  step.index = index;
  step.start = Time(Duration(start));
  step.left = Time(Duration(left));
  return step;
}

}  // namespace

TEST_CASE("a path is read from its last stretch, oldest first, each to the next one's start") {
  CriticalPaths paths;
  const std::uint32_t first = paths.add(step(0, 0, 10), no_index);
  const std::uint32_t second = paths.add(step(1, 12, 20), first);
  const std::vector<CriticalStep> path = paths.path(second);
  REQUIRE(path.size() == 2);
  CHECK(path[0].index == 0);
  CHECK(path[0].end == Time(Duration(12)));
  CHECK(path[1].end == Time(Duration(20)));
  CHECK(paths.path(no_index).empty());
}

TEST_CASE("a chain is freed as far back as nobody else needs it, and reused") {
  CriticalPaths paths;
  const std::uint32_t root = paths.add(step(0, 0, 1), no_index);
  const std::uint32_t left = paths.add(step(1, 1, 2), root);
  const std::uint32_t right = paths.add(step(2, 1, 3), root);
  paths.release(root);  // both branches still refer to it
  CHECK(paths.used() == 3);
  paths.release(left);
  CHECK(paths.used() == 2);
  CHECK(paths.path(right).size() == 2);
  CHECK(paths.add(step(3, 3, 4), right) == left);
  paths.release(right);
  CHECK(paths.used() == 3);
  paths.release(left);
  CHECK(paths.used() == 0);
}

TEST_CASE("a place can be moved along its own chain") {
  CriticalPaths paths;
  std::uint32_t place = no_index;
  for (std::uint64_t i = 0; i < 3; ++i) {
    const std::uint32_t next = paths.add(step(i, 0, 0), place);
    paths.assign(place, next);
    paths.release(next);
  }
  CHECK(paths.path(place).size() == 3);
  paths.assign(place, place);
  CHECK(paths.used() == 3);
  paths.assign(place, no_index);
  CHECK(paths.used() == 0);
}
