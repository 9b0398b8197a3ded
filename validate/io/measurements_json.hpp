#pragma once

// Our own file of measurements, schema `measurements/1` (docs/measurements.md): one machine, one entry of `runs` a
// table.

#include <string>
#include <string_view>

#include "validate/measurement.hpp"

namespace collsim {

/// Whether the text looks like one: a JSON object that names the schema.
[[nodiscard]] bool is_measurements_json(std::string_view text);

/// Throws: InputError with the place in the document ("runs[3].rows[0].bytes") for what is wrong; unknown keys are
/// kept out and do no harm, since files of others carry more than we use.
[[nodiscard]] Measurements parse_measurements_json(std::string_view text, const std::string& file);

/// As a file of ours. What was dropped or noted is not written.
[[nodiscard]] std::string write_measurements_json(const Measurements& measurements);

}  // namespace collsim
