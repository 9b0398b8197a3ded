#pragma once

// Where a series of sizes takes less time for more bytes: nothing in a model of links and messages
// explains that, so whoever reads the series should know.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "topology/units.hpp"

namespace collsim {

struct SizePoint {
  Bytes size;
  Duration time{};
  std::string algorithm;
};

/// Positions of points that take less time than the one before though they move more bytes with the
/// same algorithm, ascending.
[[nodiscard]] std::vector<std::size_t> falling_times(std::span<const SizePoint> points);

}  // namespace collsim
