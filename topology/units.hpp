#pragma once

// Quantities with strong types: time, amounts of data, bandwidth and exact rates.
//
// Time is an integer number of picoseconds, data an integer number of bytes, bandwidth an integer
// multiple of 2^-10 B/s. Integer sums do not depend on their order, so results are the same on any
// machine. The one function that rounds is transfer_time(): up to the next picosecond, computed in
// 128 bits. Simulator, closed forms and tests all call it, so they agree to the bit.
//
// Ignored: nothing is saturated or clipped; what does not fit throws std::overflow_error.

#include <chrono>
#include <compare>
#include <cstdint>
#include <ratio>

namespace collsim {

__extension__ using U128 = unsigned __int128;

using Duration = std::chrono::duration<std::int64_t, std::pico>;

/// The clock of simulated time. It has no now(): the event queue alone knows it.
struct VirtualClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<VirtualClock>;
  static constexpr bool is_steady = true;
};
using Time = VirtualClock::time_point;

/// An amount of data in bytes.
class Bytes {
 public:
  constexpr Bytes() = default;
  explicit constexpr Bytes(std::int64_t count) : count_(count) {}

  [[nodiscard]] constexpr std::int64_t count() const { return count_; }

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes other) {
    count_ += other.count_;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes other) {
    count_ -= other.count_;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.count_ + b.count_); }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes(a.count_ - b.count_); }
  friend constexpr Bytes operator*(Bytes a, std::int64_t factor) {
    return Bytes(a.count_ * factor);
  }
  friend constexpr Bytes operator*(std::int64_t factor, Bytes a) { return a * factor; }
  friend constexpr Bytes operator/(Bytes a, std::int64_t divisor) {
    return Bytes(a.count_ / divisor);
  }
  friend constexpr std::int64_t operator/(Bytes a, Bytes b) { return a.count_ / b.count_; }

 private:
  std::int64_t count_ = 0;
};

/// Bytes per second, in fixed point: an integer multiple of 2^-10 B/s (up to 9 PB/s).
class Bandwidth {
 public:
  static constexpr std::int64_t units_per_byte_per_second = 1024;

  constexpr Bandwidth() = default;
  [[nodiscard]] static constexpr Bandwidth from_units(std::int64_t units) {
    return Bandwidth(units);
  }
  [[nodiscard]] static constexpr Bandwidth bytes_per_second(std::int64_t value) {
    return Bandwidth(value * units_per_byte_per_second);
  }

  /// The value in 2^-10 B/s.
  [[nodiscard]] constexpr std::int64_t units() const { return units_; }
  /// The value in bytes per second, for output only.
  [[nodiscard]] constexpr double as_bytes_per_second() const {
    return static_cast<double>(units_) / static_cast<double>(units_per_byte_per_second);
  }

  constexpr auto operator<=>(const Bandwidth&) const = default;
  friend constexpr Bandwidth operator+(Bandwidth a, Bandwidth b) {
    return Bandwidth(a.units_ + b.units_);
  }
  friend constexpr Bandwidth operator-(Bandwidth a, Bandwidth b) {
    return Bandwidth(a.units_ - b.units_);
  }
  friend constexpr Bandwidth operator*(Bandwidth a, std::int64_t factor) {
    return Bandwidth(a.units_ * factor);
  }

 private:
  explicit constexpr Bandwidth(std::int64_t units) : units_(units) {}
  std::int64_t units_ = 0;
};

/// An exact rate: numerator / denominator, in 2^-10 B/s. Both are positive.
struct Rate {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;

  constexpr Rate() = default;
  constexpr Rate(std::int64_t numerator_units, std::int64_t divisor)
      : numerator(numerator_units), denominator(divisor) {}
  explicit constexpr Rate(Bandwidth bandwidth) : numerator(bandwidth.units()) {}
};

/// Compares two rates exactly, by cross-multiplication in 128 bits.
[[nodiscard]] constexpr std::strong_ordering compare(Rate a, Rate b) {
  const U128 left = static_cast<U128>(a.numerator) * static_cast<U128>(b.denominator);
  const U128 right = static_cast<U128>(b.numerator) * static_cast<U128>(a.denominator);
  if (left == right) {
    return std::strong_ordering::equal;
  }
  return left < right ? std::strong_ordering::less : std::strong_ordering::greater;
}

/// Data still to move, in units of 2^-10 · 10^-12 bytes: what a rate of one unit (2^-10 B/s) moves
/// in one picosecond.
[[nodiscard]] constexpr U128 to_fine(Bytes bytes) {
  return static_cast<U128>(bytes.count()) * 1024U * 1'000'000'000'000U;
}

/// Data (see to_fine) times a number. Requires: b >= 0. Throws: std::overflow_error instead of
/// wrapping.
[[nodiscard]] U128 checked_multiply(U128 a, std::int64_t b);

/// The time to move `fine` units of data (see to_fine) at `rate`, rounded up to the next
/// picosecond. Throws: std::overflow_error if the result exceeds the range of Duration;
/// std::domain_error if the rate is not positive.
[[nodiscard]] Duration transfer_time_fine(U128 fine, Rate rate);

/// The time to move `bytes` at `rate`, rounded up to the next picosecond:
/// ceil(bytes · 2^10 · 10^12 · denominator / numerator).
/// Throws: as transfer_time_fine.
[[nodiscard]] Duration transfer_time(Bytes bytes, Rate rate);

/// The units of data (see to_fine) moved in `elapsed` at `rate`, rounded down.
[[nodiscard]] U128 progress_fine(Duration elapsed, Rate rate);

/// Adds durations; throws std::overflow_error instead of wrapping.
[[nodiscard]] Duration checked_add(Duration a, Duration b);
/// Adds bandwidths; throws std::overflow_error instead of wrapping.
[[nodiscard]] Bandwidth checked_add(Bandwidth a, Bandwidth b);
/// Moves a point in time; throws std::overflow_error instead of wrapping.
[[nodiscard]] Time checked_add(Time a, Duration b);

namespace literals {
constexpr Bytes operator""_B(unsigned long long v) { return Bytes(static_cast<std::int64_t>(v)); }
constexpr Bytes operator""_KiB(unsigned long long v) {
  return Bytes(static_cast<std::int64_t>(v) << 10);
}
constexpr Bytes operator""_MiB(unsigned long long v) {
  return Bytes(static_cast<std::int64_t>(v) << 20);
}
constexpr Bytes operator""_GiB(unsigned long long v) {
  return Bytes(static_cast<std::int64_t>(v) << 30);
}
constexpr Bandwidth operator""_GBps(unsigned long long v) {
  return Bandwidth::bytes_per_second(static_cast<std::int64_t>(v) * 1'000'000'000);
}
constexpr Duration operator""_ps(unsigned long long v) {
  return Duration(static_cast<std::int64_t>(v));
}
}  // namespace literals

}  // namespace collsim
