#pragma once

// Several algorithms side by side, and in words which is best, by how much, and why.

#include <string>
#include <vector>

#include "study/compare.hpp"
#include "tools/result_row.hpp"

namespace collsim {

/// `common` gives what the outcomes share (job, sizes, cluster). Ends with a newline.
/// Requires: at least one was simulated.
[[nodiscard]] std::string render_comparison(const Cluster& cluster, const ResultRow& common,
                                            const std::vector<ComparedAlgorithm>& outcomes);

}  // namespace collsim
