#pragma once

// A heat map: an axis across, an axis upwards, and in each cell its value, which the colour repeats.

#include <string>

#include "tools/sweep_results.hpp"

namespace collsim {

/// As SVG. Throws: InputError if no point has a value.
/// Requires: the experiment has a plot, and it is a heat map.
[[nodiscard]] std::string plot_heat_map(const SweepResults& results);

}  // namespace collsim
