#pragma once

// Sets of cost parameters with round numbers.

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/costs.hpp"

namespace collsim::test {

inline constexpr Duration us(std::int64_t microseconds) {
  return std::chrono::microseconds(microseconds);
}
inline constexpr Duration ns(std::int64_t nanoseconds) {
  return std::chrono::nanoseconds(nanoseconds);
}

/// A free set but for some times.
inline CostParameters costs_with(const std::vector<std::pair<CostItem, Duration>>& times) {
  CostParameters costs;
  for (const auto& [item, time] : times) {
    costs.set(item, {time.count(), CostSource::Estimate});
  }
  return costs;
}
inline void set_rate(CostParameters& costs, CostItem item, Bandwidth rate) {
  costs.set(item, {rate.units(), CostSource::Estimate});
}
inline void set_share(CostParameters& costs, CostItem item, std::int64_t millionths) {
  costs.set(item, {millionths, CostSource::Estimate});
}

}  // namespace collsim::test
