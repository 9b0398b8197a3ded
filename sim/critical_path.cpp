#include "sim/critical_path.hpp"

#include <algorithm>

namespace collsim::detail {

std::uint32_t CriticalPaths::add(const CriticalStep& step, std::uint32_t previous) {
  retain(previous);
  ++used_;
  std::uint32_t stretch = 0;
  if (free_.empty()) {
    stretch = static_cast<std::uint32_t>(stretches_.size());
    stretches_.emplace_back();
  } else {
    stretch = free_.back();
    free_.pop_back();
  }
  stretches_[stretch] = Stretch{step, previous, 1};
  return stretch;
}

void CriticalPaths::retain(std::uint32_t stretch) {
  if (stretch != no_index) {
    ++stretches_[stretch].references;
  }
}

void CriticalPaths::release(std::uint32_t stretch) {
  while (stretch != no_index && --stretches_[stretch].references == 0) {
    free_.push_back(stretch);
    --used_;
    stretch = stretches_[stretch].previous;
  }
}

void CriticalPaths::assign(std::uint32_t& place, std::uint32_t stretch) {
  retain(stretch);
  release(place);
  place = stretch;
}

std::vector<CriticalStep> CriticalPaths::path(std::uint32_t last) const {
  std::vector<CriticalStep> steps;
  for (std::uint32_t at = last; at != no_index; at = stretches_[at].previous) {
    CriticalStep step = stretches_[at].step;
    step.end = steps.empty() ? step.left : steps.back().start;
    steps.push_back(step);
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

}  // namespace collsim::detail
