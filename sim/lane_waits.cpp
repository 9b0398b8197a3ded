// Steps that wait for other lanes of their rank: `after` and `join`.

#include <cstdint>
#include <string>
#include <utility>

#include "sim/lanes.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

bool completed(const LaneState& lane, std::uint64_t step) { return lane.step > step; }

}  // namespace

void LaneEngine::wait_for_dependencies(OperationState& operation, std::uint32_t index,
                                       const Step& step) {
  LaneState& lane = operation.lanes[index];
  const RankState& rank = operation.ranks[lane.rank.index()];
  if (step.after) {
    if (step.after->lane >= operation.lane_count(lane.rank)) {
      throw SimulationError(place_of(operation, index) + " waits for lane " +
                            std::to_string(step.after->lane) + ", which its rank does not have");
    }
    LaneState& other = operation.lanes[rank.first_lane + step.after->lane];
    if (!completed(other, step.after->index)) {
      lane.after_index = step.after->index;
      lane.next_dependent = std::exchange(other.first_dependent, index);
      ++lane.unmet;
    }
  }
  if (step.join && *step.join < operation.group_count(lane.rank)) {
    PhaseGroup& group = operation.groups[rank.first_group + *step.join];
    if (group.lowest() < step.phase) {
      lane.next_joiner = std::exchange(group.first_waiter, index);
      ++lane.unmet;
    }
  }
}

void LaneEngine::release_dependents(OperationState& operation, std::uint32_t index) {
  std::uint32_t* link = &operation.lanes[index].first_dependent;
  while (*link != no_index) {
    const std::uint32_t waiter = *link;
    LaneState& waiting = operation.lanes[waiter];
    if (completed(operation.lanes[index], waiting.after_index)) {
      *link = std::exchange(waiting.next_dependent, no_index);
      meet_dependency(operation, waiter, index);
    } else {
      link = &waiting.next_dependent;
    }
  }
}

void LaneEngine::release_joiners(OperationState& operation, PhaseGroup& group) {
  std::uint32_t* link = &group.first_waiter;
  while (*link != no_index) {
    const std::uint32_t waiter = *link;
    LaneState& waiting = operation.lanes[waiter];
    if (group.lowest() >= waiting.phase) {
      *link = std::exchange(waiting.next_joiner, no_index);
      meet_dependency(operation, waiter, group.last_lane(waiting.phase));
    } else {
      link = &waiting.next_joiner;
    }
  }
}

/// Another lane of the rank has come as far as `waiter` waits for. Of two that do so at the same
/// instant the lower one counts, whichever is handled first.
void LaneEngine::meet_dependency(OperationState& operation, std::uint32_t waiter,
                                 std::uint32_t other) {
  LaneState& lane = operation.lanes[waiter];
  const Time now = queue_->now();
  const bool later = now > lane.clock;
  const bool lower = now == lane.clock && lane.waited_lane != no_index && other < lane.waited_lane;
  if (later || lower) {
    lane.clock = now;
    lane.waited_lane = other;
    follow(operation, waiter, vector_of(operation, other));
    if (options_->critical_path) {
      LaneHistory& history = operation.histories[waiter];
      critical_paths_->assign(history.stretch, operation.histories[other].stretch);
      history.waited = true;
    }
  }
  if (--lane.unmet == 0) {
    runnable_.push_back({operation.id, waiter});
  }
}

}  // namespace collsim::detail
