#include "study/pareto.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace collsim {

std::vector<bool> pareto_front(const std::vector<ParetoPoint>& points, Better x, Better y) {
  // Turned so that lower is better in both.
  struct Turned {
    double x = 0;
    double y = 0;
    std::size_t index = 0;
  };
  std::vector<Turned> turned;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].x && points[i].y) {
      turned.push_back({x == Better::Lower ? *points[i].x : -*points[i].x,
                        y == Better::Lower ? *points[i].y : -*points[i].y, i});
    }
  }
  std::ranges::sort(
      turned, [](const Turned& a, const Turned& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  std::vector<bool> on_front(points.size(), false);
  double best_y = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < turned.size(); ++i) {
    const bool equals_last = i > 0 && turned[i].x == turned[i - 1].x &&
                             turned[i].y == turned[i - 1].y && on_front[turned[i - 1].index];
    on_front[turned[i].index] = turned[i].y < best_y || equals_last;
    best_y = std::min(best_y, turned[i].y);
  }
  return on_front;
}

}  // namespace collsim
