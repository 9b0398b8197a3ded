#pragma once

// Measurements from a file of any format that we read, told by its content.

#include <string>

#include "validate/measurement.hpp"

namespace collsim {

/// Throws: InputError for a file that cannot be read, whose format is not known, or that holds no measurement.
[[nodiscard]] Measurements load_measurements(const std::string& path);

}  // namespace collsim
