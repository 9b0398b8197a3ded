#include "algorithms/race_detector.hpp"

#include <algorithm>

namespace collsim::detail {

RankOrder::RankOrder(const std::vector<std::uint32_t>& group_of_lane)
    : clocks_{Clock(group_of_lane.size(), 0)} {
  for (const std::uint32_t group : group_of_lane) {
    lanes_.emplace_back();
    lanes_.back().group = group;
    lanes_.back().marks = {Mark{}};
    lanes_.back().history = {{0, 0}};
  }
}

bool RankOrder::before(const StepRef& earlier, std::uint32_t lane) const {
  return earlier.lane == lane || clocks_[lanes_[lane].clock][earlier.lane] > earlier.index;
}

void RankOrder::begin(const StepRef& at, const Step& step) {
  LaneState& lane = lanes_[at.lane];
  enter_phase(lane, step.phase);
  ClockId clock = lane.clock;
  if (step.join) {
    clock = merged(clock, clock_after_group(*step.join, step.phase));
  }
  if (step.after && step.after->lane != at.lane) {
    clock = merged(clock, clock_after_step(*step.after));
  }
  if (clock != lane.clock) {
    lane.clock = clock;
    lane.history.emplace_back(at.index, clock);
  }
  lane.steps = at.index + 1;
}

void RankOrder::enter_phase(LaneState& lane, std::uint64_t phase) {
  if (phase == lane.phase) {
    return;
  }
  lane.marks.push_back({phase, lane.clock, lane.steps});
  lane.phase = phase;
  if (lane.marks.size() > lane.marks_to_prune) {
    prune_marks(lane);
  }
}

void RankOrder::prune_marks(LaneState& lane) {
  // Joins ask for the phase of the lane that joins, and phases never fall.
  std::uint64_t lowest = lane.phase;
  for (const LaneState& other : lanes_) {
    lowest = std::min(lowest, other.phase);
  }
  while (!lane.marks.empty() && lane.marks.front().limit < lowest) {
    lane.marks.pop_front();
  }
  lane.marks_to_prune = std::max<std::size_t>(16, 2 * lane.marks.size());
}

RankOrder::ClockId RankOrder::clock_after_group(std::uint32_t group, std::uint64_t phase) {
  const auto [entry, added] = group_clocks_.try_emplace({group, phase}, 0);
  if (!added) {
    return entry->second;
  }
  Clock clock(lanes_.size(), 0);
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const LaneState& lane = lanes_[i];
    if (lane.group != group) {
      continue;
    }
    const auto mark = std::ranges::lower_bound(lane.marks, phase, {}, &Mark::limit);
    const bool went_on = mark != lane.marks.end();
    raise(clock, went_on ? mark->clock : lane.clock);
    clock[i] = std::max(clock[i], went_on ? mark->steps : lane.steps);
  }
  clocks_.push_back(std::move(clock));
  entry->second = static_cast<ClockId>(clocks_.size() - 1);
  return entry->second;
}

RankOrder::ClockId RankOrder::clock_after_step(const StepRef& step) {
  const auto& history = lanes_[step.lane].history;
  const auto later =
      std::ranges::upper_bound(history, step.index, {}, &std::pair<std::uint64_t, ClockId>::first);
  Clock clock = clocks_[std::prev(later)->second];
  clock[step.lane] = std::max(clock[step.lane], step.index + 1);
  clocks_.push_back(std::move(clock));
  return static_cast<ClockId>(clocks_.size() - 1);
}

RankOrder::ClockId RankOrder::merged(ClockId a, ClockId b) {
  auto covers = [](const Clock& big, const Clock& small) {
    return std::ranges::equal(big, small, std::greater_equal<>());
  };
  if (a == b || covers(clocks_[b], clocks_[a])) {
    return b;
  }
  if (covers(clocks_[a], clocks_[b])) {
    return a;
  }
  Clock clock = clocks_[a];
  raise(clock, b);
  clocks_.push_back(std::move(clock));
  return static_cast<ClockId>(clocks_.size() - 1);
}

void RankOrder::raise(Clock& clock, ClockId other) const {
  for (std::size_t i = 0; i < clock.size(); ++i) {
    clock[i] = std::max(clock[i], clocks_[other][i]);
  }
}

std::optional<RacingAccess> AccessLog::read(std::int64_t begin, std::int64_t end, const StepRef& at,
                                            const RankOrder& order) {
  std::optional<RacingAccess> race;
  log_.change(begin, end, [&](std::int64_t from, std::int64_t to, Accesses& accesses) {
    if (!race && accesses.last_write && !order.before(*accesses.last_write, at.lane)) {
      race = RacingAccess{*accesses.last_write, RacingAccess::Kind::Write, from, to};
    }
    if (accesses.reads.size() >= accesses.reads_to_prune) {
      std::erase_if(accesses.reads,
                    [&](const StepRef& earlier) { return order.before(earlier, at.lane); });
      accesses.reads_to_prune = std::max<std::size_t>(8, 2 * accesses.reads.size());
    }
    accesses.reads.push_back(at);
  });
  return race;
}

std::optional<RacingAccess> AccessLog::write(std::int64_t begin, std::int64_t end,
                                             const StepRef& at, const RankOrder& order) {
  std::optional<RacingAccess> race;
  // One interval at a time is looked at; then all become one.
  log_.change(begin, end, [&](std::int64_t from, std::int64_t to, Accesses& accesses) {
    if (race) {
      return;
    }
    if (accesses.last_write && !order.before(*accesses.last_write, at.lane)) {
      race = RacingAccess{*accesses.last_write, RacingAccess::Kind::Write, from, to};
      return;
    }
    for (const StepRef& earlier : accesses.reads) {
      if (order.before(earlier, at.lane)) {
        continue;
      }
      race = RacingAccess{earlier, RacingAccess::Kind::Read, from, to};
      return;
    }
  });
  log_.assign(begin, end, Accesses{at, {}, 8});
  return race;
}

}  // namespace collsim::detail
