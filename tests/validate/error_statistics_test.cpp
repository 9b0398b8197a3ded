#include "validate/error_statistics.hpp"

#include <vector>

#include "tests/catch.hpp"

using namespace collsim;
using namespace collsim::literals;

TEST_CASE("errors are relative to what was measured") {
  CHECK(relative_error(Duration(110), Duration(100)) == Approx(0.1));
  CHECK(relative_error(Duration(50), Duration(100)) == Approx(-0.5));
}

TEST_CASE("a summary has median, 90th percentile, bias and the worst") {
  // |errors| sorted: 0.1 0.2 0.3 0.4 0.5. Median 0.3; 90th at place 4 · 0.9 = 3.6: 0.4 + 0.6 · 0.1.
  // With signs sorted: -0.5 -0.2 0.1 0.3 0.4: the median is 0.1.
  const std::vector<double> errors{0.1, -0.2, 0.3, 0.4, -0.5};
  const ErrorSummary summary = summarize(errors);
  CHECK(summary.points == 5);
  CHECK(summary.median_abs == Approx(0.3));
  CHECK(summary.p90_abs == Approx(0.46));
  CHECK(summary.bias == Approx(0.1));
  CHECK(summary.worst == 4);
  CHECK(summarize({}).points == 0);
}

TEST_CASE("bands of sizes meet without gaps") {
  CHECK(band_of(64_KiB) == SizeBand::Small);
  CHECK(band_of(64_KiB + 1_B) == SizeBand::Medium);
  CHECK(band_of(1_MiB) == SizeBand::Medium);
  CHECK(band_of(1_MiB + 1_B) == SizeBand::Large);
  CHECK(band_of(16_MiB - 1_B) == SizeBand::Large);
  CHECK(band_of(16_MiB) == SizeBand::Huge);
}

TEST_CASE("the best straight line goes through points on a line, whatever one of them did") {
  // 5 us + 1 us a MB.
  const std::vector<Bytes> sizes{1000_B, 10000_B, 100000_B, 1000000_B, 10000000_B};
  std::vector<Duration> times;
  for (const Bytes size : sizes) {
    times.emplace_back(5'000'000 + size.count());
  }
  times[2] = Duration(50'000'000);
  const auto line = best_line(sizes, times);
  REQUIRE(line);
  CHECK(line->latency_us == Approx(5).epsilon(0.01));
  CHECK(line->us_per_byte == Approx(1e-6).epsilon(0.01));
  CHECK(line->at(2000000_B).count() == Approx(7'000'000).epsilon(0.01));
  CHECK_FALSE(best_line(std::vector<Bytes>{8_B}, std::vector<Duration>{Duration(1)}));
}
