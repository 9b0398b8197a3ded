#include "sim/joins.hpp"

#include <algorithm>

#include "topology/error.hpp"

namespace collsim::detail {

std::vector<PhaseGroup::PhaseCount>::iterator PhaseGroup::find(std::uint64_t phase) {
  return std::lower_bound(
      phases_.begin(), phases_.end(), phase,
      [](const PhaseCount& count, std::uint64_t wanted) { return count.phase < wanted; });
}

void PhaseGroup::enter(std::uint64_t phase) {
  const auto place = find(phase);
  if (place != phases_.end() && place->phase == phase) {
    ++place->lanes;
    return;
  }
  PhaseCount count;
  count.phase = phase;
  count.lanes = 1;
  phases_.insert(place, count);
}

void PhaseGroup::forget_past(Time now) {
  if (instant_ == now) {
    return;
  }
  instant_ = now;
  passed_.clear();
  std::erase_if(phases_, [](const PhaseCount& count) { return count.lanes == 0; });
}

bool PhaseGroup::leave(std::uint64_t phase, std::uint32_t lane, Time now) {
  forget_past(now);
  const auto place = find(phase);
  COLLSIM_DCHECK(place != phases_.end() && place->phase == phase && place->lanes != 0,
                 "a lane left a phase in which it was not");
  const bool first_of_instant = place->last_lane == no_index || place->last_left != now;
  place->last_lane = first_of_instant ? lane : std::min(place->last_lane, lane);
  place->last_left = now;
  --place->lanes;

  const auto lowest = std::find_if(phases_.begin(), phases_.end(),
                                   [](const PhaseCount& count) { return count.lanes != 0; });
  const bool rises = lowest != phases_.begin();
  passed_.insert(passed_.end(), phases_.begin(), lowest);
  phases_.erase(phases_.begin(), lowest);
  return rises;
}

std::uint32_t PhaseGroup::last_lane(std::uint64_t phase) const {
  std::uint32_t lowest_lane = no_index;
  for (const PhaseCount& count : passed_) {
    if (count.phase < phase) {
      lowest_lane = std::min(lowest_lane, count.last_lane);
    }
  }
  return lowest_lane;
}

}  // namespace collsim::detail
