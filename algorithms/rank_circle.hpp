#pragma once

// Ranks on a circle, 0 after the last: whom a rank sends to at a distance, and how far another one
// is. Without a division, for the simulator asks once a step. Ranks are few enough (2^31) that the
// sum of two does not leave 32 bits.

#include <cstdint>

#include "topology/ids.hpp"

namespace collsim {

/// Requires: distance <= ranks.
[[nodiscard]] constexpr Rank after(Rank rank, std::uint32_t distance, std::uint32_t ranks) {
  const std::uint32_t value = rank.value() + distance;
  return Rank(value >= ranks ? value - ranks : value);
}

/// Requires: distance <= ranks.
[[nodiscard]] constexpr Rank before(Rank rank, std::uint32_t distance, std::uint32_t ranks) {
  const std::uint32_t value = rank.value();
  return Rank(value >= distance ? value - distance : value + ranks - distance);
}

/// How far `rank` lies after `from`: 0 to ranks - 1.
[[nodiscard]] constexpr std::uint32_t distance(Rank from, Rank rank, std::uint32_t ranks) {
  return before(rank, from.value(), ranks).value();
}

}  // namespace collsim
