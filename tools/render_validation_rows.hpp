#pragma once

// Each row of a validation, for people and for spreadsheets.

#include <string>

#include "tools/render_validation.hpp"

namespace collsim {

/// A table for each run, with its name above.
[[nodiscard]] std::string validation_rows_text(const ValidationView& view);

}  // namespace collsim
