#pragma once

// Remembers results of transfer_time_fine(), whose 128-bit division dominates the cost of a
// transfer otherwise. Collectives move few different sizes at few different rates.

#include <array>
#include <cstddef>
#include <cstdint>

#include "topology/units.hpp"

namespace collsim {

class TransferTimes {
 public:
  /// The same as transfer_time_fine(fine, rate).
  [[nodiscard]] Duration of(U128 fine, Rate rate) {
    Entry& entry = entries_[place_of(fine, rate)];
    if (entry.fine != fine || entry.rate.numerator != rate.numerator ||
        entry.rate.denominator != rate.denominator) {
      entry.time = transfer_time_fine(fine, rate);  // may throw: the rest follows
      entry.fine = fine;
      entry.rate = rate;
    }
    return entry.time;
  }

 private:
  struct Entry {
    U128 fine = 0;
    Rate rate{0, 0};  ///< no transfer's rate
    Duration time{};
  };
  static constexpr std::size_t places = 64;  ///< a power of two; direct-mapped

  static std::size_t place_of(U128 fine, Rate rate) {
    // Multiply-shift hashing with odd constants (fractions of the golden ratio and of pi).
    const auto key = (static_cast<std::uint64_t>(fine) ^ static_cast<std::uint64_t>(fine >> 61U)) +
                     static_cast<std::uint64_t>(rate.numerator) * 0x9E3779B97F4A7C15U +
                     static_cast<std::uint64_t>(rate.denominator);
    return static_cast<std::size_t>((key * 0x243F6A8885A308D3U) >> 58U);
  }

  std::array<Entry, places> entries_{};
};

}  // namespace collsim
