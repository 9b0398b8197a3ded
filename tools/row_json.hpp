#pragma once

// One row of `collsim/results/1`, for documents that put rows together themselves.

#include <nlohmann/json_fwd.hpp>

#include "tools/result_row.hpp"

namespace collsim {

/// docs/output.md lists the fields.
[[nodiscard]] nlohmann::ordered_json row_json(const Cluster& cluster, const ResultRow& row,
                                              const RowDetail& detail);

}  // namespace collsim
