#pragma once

// Results as JSON: {"schema": "collsim/results/1", "rows": [ … ]}. Integers are exact.

#include <span>
#include <string>
#include <vector>

#include "tools/result_row.hpp"
#include "tools/run_info.hpp"

namespace collsim {

/// An algorithm that a comparison could not simulate.
struct NotSimulated {
  std::string algorithm;
  std::string reason;
};

struct Results {
  std::span<const ResultRow> rows;
  std::vector<RunInfo> infos;  ///< one entry a row, or none: then there is no run_info
  std::vector<NotSimulated> not_simulated;
};

/// Rows in order.
[[nodiscard]] std::string render_json(const Cluster& cluster, const Results& results,
                                      const RowDetail& detail);

}  // namespace collsim
