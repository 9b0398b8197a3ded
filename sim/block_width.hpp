#pragma once

// How wide a block of threads is, which some of its costs depend on. Internal to the costs.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "topology/units.hpp"

namespace collsim::detail {

/// Threads of a block whose rates the parameters give, and the fewest that are any block.
inline constexpr std::uint32_t whole_block = 512;
inline constexpr std::uint32_t least_block = 128;

/// How much wider than the narrowest a block is: 0 … 1.
[[nodiscard]] inline double width(std::uint32_t threads) {
  const auto above = static_cast<double>(std::max(threads, least_block) - least_block);
  return std::min(1.0, above / (whole_block - least_block));
}

[[nodiscard]] inline Duration scaled(Duration time, double factor) {
  return Duration(std::llround(static_cast<double>(time.count()) * factor));
}

}  // namespace collsim::detail
