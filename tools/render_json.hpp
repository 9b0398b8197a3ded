#pragma once

// Results as JSON: {"schema": "collsim/results/1", "rows": [ … ]}. Integers are exact.

#include <optional>
#include <string>
#include <vector>

#include "tools/result_row.hpp"
#include "tools/run_info.hpp"

namespace collsim {

struct JsonDetail {
  bool per_rank = false;
  bool all_links = false;
};

/// Rows in order. `infos` has one entry a row, or none (then there is no run_info).
[[nodiscard]] std::string render_json(const Cluster& cluster, const std::vector<ResultRow>& rows,
                                      const std::vector<RunInfo>& infos, const JsonDetail& detail);

}  // namespace collsim
