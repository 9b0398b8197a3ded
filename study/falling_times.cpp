#include "study/falling_times.hpp"

namespace collsim {

std::vector<std::size_t> falling_times(std::span<const SizePoint> points) {
  std::vector<std::size_t> falls;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const SizePoint& before = points[i - 1];
    const SizePoint& point = points[i];
    if (point.size > before.size && point.time < before.time &&
        point.algorithm == before.algorithm) {
      falls.push_back(i);
    }
  }
  return falls;
}

}  // namespace collsim
