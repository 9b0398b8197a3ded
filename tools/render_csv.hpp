#pragma once

// Results as CSV: one line a row, the fields of the JSON that are single values.

#include <string>
#include <vector>

#include "tools/result_row.hpp"

namespace collsim {

[[nodiscard]] std::string render_csv(const Cluster& cluster, const std::vector<ResultRow>& rows);

/// A field, quoted where RFC 4180 wants it.
[[nodiscard]] std::string csv_field(const std::string& text);

}  // namespace collsim
