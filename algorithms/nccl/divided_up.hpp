#pragma once
// Whole numbers rounded up, as NCCL counts chunks, parts and rounds.

#include <concepts>

namespace collsim::nccl {

/// ceil(value / divisor). Requires: value >= 0, divisor > 0.
template <std::integral Number>
[[nodiscard]] constexpr Number divided_up(Number value, Number divisor) {
  return (value + divisor - 1) / divisor;
}

}  // namespace collsim::nccl
