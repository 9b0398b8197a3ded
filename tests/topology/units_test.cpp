#include "topology/units.hpp"

#include <rapidcheck.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "tests/catch.hpp"

using namespace collsim;
using namespace collsim::literals;

namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

bool same(Rate a, Rate b) { return compare(a, b) == std::strong_ordering::equal; }

/// Amounts from a byte to a tebibyte, every magnitude as likely.
Bytes some_bytes() {
  const int bits = *rc::gen::inRange(0, 41);
  return Bytes(*rc::gen::inRange(std::int64_t{1}, (std::int64_t{1} << bits) + 1));
}

/// From 1 GB/s to 1 PB/s, over up to a thousand: a tebibyte takes days at most.
Rate some_rate() {
  const int bits = *rc::gen::inRange(41, 61);
  const auto numerator = *rc::gen::inRange(std::int64_t{1} << 40, std::int64_t{1} << bits);
  return {numerator, *rc::gen::inRange(std::int64_t{1}, std::int64_t{1001})};
}

}  // namespace

TEST_CASE("transfer times of the textbook's links") {
  // 50 GB/s are 20 ps a byte.
  CHECK(transfer_time(1_B, Rate(50_GBps)) == 20_ps);
  CHECK(transfer_time(1_GiB, Rate(50_GBps)) == Duration((std::int64_t{1} << 30) * 20));
  // 12.5 GB/s are 80 ps a byte.
  CHECK(transfer_time(3_B, Rate(Bandwidth::bytes_per_second(12'500'000'000))) == 240_ps);
  // A third of 450 GB/s: 1/150 ns a byte, so 6.67 ps; 3 bytes take 20 ps.
  CHECK(transfer_time(1_B, Rate((450_GBps).units(), 3)) == 7_ps);
  CHECK(transfer_time(3_B, Rate((450_GBps).units(), 3)) == 20_ps);
  CHECK(transfer_time(0_B, Rate(50_GBps)) == 0_ps);
}

TEST_CASE("a transfer time is the exact quotient, rounded up") {
  CHECK(rc::check("(t - 1) · rate < data <= t · rate", [] {
    const Bytes bytes = some_bytes();
    const Rate rate = some_rate();
    const auto time = static_cast<U128>(transfer_time(bytes, rate).count());
    const U128 data = static_cast<U128>(bytes.count()) * 1024U * 1'000'000'000'000U *
                      static_cast<U128>(rate.denominator);
    const auto numerator = static_cast<U128>(rate.numerator);
    RC_ASSERT(time * numerator >= data);
    RC_ASSERT((time - 1) * numerator < data);
  }));
}

TEST_CASE("a transfer interrupted at any time ends when it would have") {
  CHECK(rc::check("elapsed + time of the rest = time of all, at a whole rate", [] {
    const Bytes bytes = some_bytes();
    const Rate rate(some_rate().numerator, 1);
    const Duration all = transfer_time(bytes, rate);
    const Duration elapsed(*rc::gen::inRange(std::int64_t{0}, all.count()));
    const U128 rest = to_fine(bytes) - progress_fine(elapsed, rate);
    RC_ASSERT(elapsed + transfer_time_fine(rest, rate) == all);
  }));
  // Progress is rounded down to a unit, which takes at most a picosecond as rates are at least 1.
  CHECK(rc::check("or at most a picosecond later, at a fraction", [] {
    const Bytes bytes = some_bytes();
    const Rate rate = some_rate();
    const Duration all = transfer_time(bytes, rate);
    const Duration elapsed(*rc::gen::inRange(std::int64_t{0}, all.count()));
    const U128 rest = to_fine(bytes) - progress_fine(elapsed, rate);
    const Duration late = elapsed + transfer_time_fine(rest, rate) - all;
    RC_ASSERT(late >= 0_ps);
    RC_ASSERT(late <= 1_ps);
  }));
  CHECK(rc::check("everything has moved by the end, and not before", [] {
    const Bytes bytes = some_bytes();
    const Rate rate = some_rate();
    const Duration all = transfer_time(bytes, rate);
    RC_ASSERT(progress_fine(all, rate) >= to_fine(bytes));
    RC_ASSERT(progress_fine(all - 1_ps, rate) < to_fine(bytes));
  }));
}

TEST_CASE("what does not fit throws instead of wrapping") {
  const Rate slow(1, 1);
  CHECK_THROWS_AS(transfer_time(1_GiB, slow), std::overflow_error);
  CHECK_THROWS_AS(transfer_time(Bytes(largest), Rate(1, largest)), std::overflow_error);
  CHECK_THROWS_AS(transfer_time(1_B, Rate(0, 1)), std::domain_error);
  CHECK_THROWS_AS(transfer_time(1_B, Rate(-1, 1)), std::domain_error);
  CHECK_THROWS_AS(progress_fine(1_ps, Rate(1, 0)), std::domain_error);
  CHECK(checked_add(Duration(largest - 1), 1_ps) == Duration(largest));
  CHECK_THROWS_AS(checked_add(Duration(largest), 1_ps), std::overflow_error);
  CHECK_THROWS_AS(checked_add(Time(Duration(largest)), 1_ps), std::overflow_error);
}

TEST_CASE("rates compare as the fractions they are") {
  CHECK(same(Rate(1, 3), Rate(2, 6)));
  CHECK(compare(Rate(1, 3), Rate(333'333'333, 1'000'000'000)) == std::strong_ordering::greater);
  // Products beyond 64 bits, and fractions that doubles cannot tell apart.
  CHECK(compare(Rate(largest - 1, largest), Rate(largest - 2, largest - 1)) ==
        std::strong_ordering::greater);
}

TEST_CASE("literals and time units convert exactly") {
  CHECK(1_KiB == 1024_B);
  CHECK(3_MiB / 1_KiB == 3072);
  CHECK(1_GiB == 1024_MiB);
  CHECK(Duration(std::chrono::nanoseconds(500)) == 500'000_ps);
  CHECK((1_GBps).units() == std::int64_t{1'000'000'000} * 1024);
  CHECK(Bandwidth::bytes_per_second(7).as_bytes_per_second() == 7.0);
}
