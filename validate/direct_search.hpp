#pragma once

// The least value of a function of which only values are known, within bounds: for parameters without a gradient. By
// NLopt: BOBYQA (Powell, "The BOBYQA algorithm for bound constrained optimization without derivatives", 2009), for a
// single parameter Sbplx (Rowan, "Functional stability analysis of numerical algorithms", 1990).

#include <functional>
#include <vector>

namespace collsim {

struct SearchRange {
  double least = 0;
  double most = 1;
  double start = 0;  ///< within them
};

struct SearchResult {
  std::vector<double> values;
  double objective = 0;
};

/// At most `evaluations` of the function. The same function gives the same result. Throws: what the function throws.
/// Requires: at least one range, none of them empty.
[[nodiscard]] SearchResult direct_search(
    const std::function<double(const std::vector<double>& values)>& function,
    const std::vector<SearchRange>& ranges, int evaluations);

}  // namespace collsim
