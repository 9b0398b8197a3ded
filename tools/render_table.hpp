#pragma once

// Results for people: one run explained.

#include <string>

#include "tools/result_row.hpp"

namespace collsim {

/// Everything about one row. Ends with a newline.
[[nodiscard]] std::string render_run(const Cluster& cluster, const ResultRow& row,
                                     const RowDetail& detail);

// Parts of it that comparisons show too.

/// What was asked for, in a line.
[[nodiscard]] std::string job_line(const Cluster& cluster, const ResultRow& row);
[[nodiscard]] std::string warning_lines(const ResultRow& row);
[[nodiscard]] std::string check_text(const CheckReport& report);
/// part / whole; 0 of nothing.
[[nodiscard]] double share(Duration part, Duration whole);

}  // namespace collsim
