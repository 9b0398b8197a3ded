#pragma once

// What cannot be bettered in one respect without being worse in another.

#include <optional>
#include <vector>

#include "study/experiment.hpp"

namespace collsim {

/// A thing by two figures. One that lacks a figure is on no front.
struct ParetoPoint {
  std::optional<double> x;
  std::optional<double> y;
};

/// Whether each point is on the front: no other is at least as good in both figures and better in one. Equal points
/// are on it together. Complexity: O(n log n).
[[nodiscard]] std::vector<bool> pareto_front(const std::vector<ParetoPoint>& points, Better x,
                                             Better y);

}  // namespace collsim
