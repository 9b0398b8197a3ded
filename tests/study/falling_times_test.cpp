#include "study/falling_times.hpp"

#include <vector>

#include "tests/catch.hpp"

namespace collsim {
namespace {

using Falls = std::vector<std::size_t>;

SizePoint point(std::int64_t size, std::int64_t time, const char* algorithm = "ring") {
  return {Bytes(size), Duration(time), algorithm};
}

TEST_CASE("a point that is quicker than a smaller one is found") {
  const std::vector<SizePoint> points{point(1, 10), point(2, 9), point(4, 12), point(8, 11)};
  CHECK(falling_times(points) == Falls{1, 3});
}

TEST_CASE("equal times, another algorithm and the same size are no fall") {
  CHECK(falling_times(std::vector<SizePoint>{point(1, 10), point(2, 10)}).empty());
  CHECK(falling_times(std::vector<SizePoint>{point(1, 10), point(2, 9, "tree")}).empty());
  CHECK(falling_times(std::vector<SizePoint>{point(2, 10), point(2, 9)}).empty());
  CHECK(falling_times({}).empty());
}

}  // namespace
}  // namespace collsim
