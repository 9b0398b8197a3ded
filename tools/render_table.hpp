#pragma once

// Results for people: one run explained, or several algorithms side by side.

#include <string>
#include <vector>

#include "study/compare.hpp"
#include "tools/result_row.hpp"
#include "tools/run_info.hpp"

namespace collsim {

struct TableDetail {
  bool per_rank = false;
  bool all_links = false;
};

/// Everything about one row. Ends with a newline.
[[nodiscard]] std::string render_run(const Cluster& cluster, const ResultRow& row,
                                     const TableDetail& detail);

/// The table of a comparison. `common` gives what the outcomes share (job, sizes, cluster).
[[nodiscard]] std::string render_comparison(const Cluster& cluster, const ResultRow& common,
                                            const std::vector<ComparedAlgorithm>& outcomes);

/// What the simulation itself took, in one line.
[[nodiscard]] std::string render_run_info(const RunInfo& info);

}  // namespace collsim
