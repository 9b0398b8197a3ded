#include "topology/units.hpp"

#include <limits>
#include <stdexcept>

namespace collsim {

namespace {

constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max();

void require_positive(Rate rate) {
  if (rate.numerator <= 0 || rate.denominator <= 0) {
    throw std::domain_error("a transfer needs a positive rate");
  }
}

}  // namespace

U128 checked_multiply(U128 a, std::int64_t b) {
  U128 product = 0;
  if (__builtin_mul_overflow(a, static_cast<U128>(b), &product)) {
    throw std::overflow_error("an amount of data times a number exceeds 128 bits");
  }
  return product;
}

Duration transfer_time_fine(U128 fine, Rate rate) {
  require_positive(rate);
  const U128 scaled = checked_multiply(fine, rate.denominator);
  const U128 numerator = static_cast<U128>(rate.numerator);
  const U128 picoseconds = scaled / numerator + (scaled % numerator != 0 ? 1U : 0U);
  if (picoseconds > static_cast<U128>(longest)) {
    throw std::overflow_error("a transfer takes longer than 106 days of simulated time");
  }
  return Duration(static_cast<std::int64_t>(picoseconds));
}

Duration transfer_time(Bytes bytes, Rate rate) { return transfer_time_fine(to_fine(bytes), rate); }

U128 progress_fine(Duration elapsed, Rate rate) {
  require_positive(rate);
  return checked_multiply(static_cast<U128>(elapsed.count()), rate.numerator) /
         static_cast<U128>(rate.denominator);
}

Duration checked_add(Duration a, Duration b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a.count(), b.count(), &sum)) {
    throw std::overflow_error("simulated time exceeds 106 days");
  }
  return Duration(sum);
}

Bandwidth checked_add(Bandwidth a, Bandwidth b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a.units(), b.units(), &sum)) {
    throw std::overflow_error("links together exceed 9 PB/s");
  }
  return Bandwidth::from_units(sum);
}

Time checked_add(Time a, Duration b) { return Time(checked_add(a.time_since_epoch(), b)); }

}  // namespace collsim
