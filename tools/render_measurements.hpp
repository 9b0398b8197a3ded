#pragma once

// Measurements as `measurements show` prints them: each run with its rows, what was noted, and what was dropped and why.

#include <string>
#include <vector>

#include "validate/measurement.hpp"

namespace collsim {

[[nodiscard]] std::string render_measurements_table(const std::vector<Measurements>& files);
/// collsim/measured/1; docs/output.md lists the fields.
[[nodiscard]] std::string render_measurements_json(const std::vector<Measurements>& files);
/// A line a row.
[[nodiscard]] std::string render_measurements_csv(const std::vector<Measurements>& files);

}  // namespace collsim
