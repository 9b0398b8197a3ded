#include "validate/rivals.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"

using namespace collsim;
using namespace std::chrono_literals;

namespace {

std::vector<Bytes> sizes_of(const std::vector<std::int64_t>& sizes) {
  return {sizes.begin(), sizes.end()};
}

double sum_of_errors(const std::vector<Duration>& measured, const std::vector<Duration>& predicted,
                     Duration offset) {
  double sum = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    sum += std::abs(relative_error(predicted[i] + offset, measured[i]));
  }
  return sum;
}

}  // namespace

TEST_CASE("constant bandwidth is that of the three largest sizes") {
  // 100, 200, 400 and 800 bytes a microsecond: the median of the last three.
  const auto line = constant_bandwidth(sizes_of({1000, 2000, 4000, 8000}),
                                       std::vector<Duration>{10us, 10us, 10us, 10us});
  REQUIRE(line);
  CHECK(line->latency_us == 0);
  CHECK(line->at(Bytes(8000)) == 20us);
}

TEST_CASE("sizes that were measured twice count as one, with both times") {
  // Of 8000, 4000 and 2000: 800, 400, 400, 200 and 200 bytes a microsecond; of 1000, a million.
  const auto line = constant_bandwidth(sizes_of({1000, 8000, 4000, 4000, 2000, 2000}),
                                       std::vector<Duration>{1ns, 10us, 10us, 10us, 10us, 10us});
  REQUIRE(line);
  CHECK(line->at(Bytes(4000)) == 10us);
}

TEST_CASE("without sizes there is no bandwidth") {
  CHECK_FALSE(constant_bandwidth({}, {}));
  CHECK_FALSE(constant_bandwidth(sizes_of({0}), std::vector<Duration>{1us}));
}

TEST_CASE("a launch offset is what is missing in most rows") {
  // 1 us is missing in two, 20 us in one that stalled.
  CHECK(launch_offset(std::vector<Duration>{10us, 11us, 40us},
                      std::vector<Duration>{9us, 10us, 20us}) == 1us);
  // It may be below zero.
  CHECK(launch_offset(std::vector<Duration>{8us}, std::vector<Duration>{9us}) == -1us);
  CHECK_FALSE(launch_offset({}, {}));
}

TEST_CASE("no other offset makes the sum of relative errors less") {
  const std::vector<Duration> measured{10us, 20us, 40us, 13us, 55us};
  const std::vector<Duration> predicted{9us, 14us, 38us, 16us, 20us};
  const auto offset = launch_offset(measured, predicted);
  REQUIRE(offset);
  const double least = sum_of_errors(measured, predicted, *offset);
  for (int us = -50; us <= 50; ++us) {
    CHECK(sum_of_errors(measured, predicted, std::chrono::microseconds(us)) >= least - 1e-12);
  }
}
