#pragma once

// What the parts of the interpreter know of the lane that a block of threads runs, and how its threads wait.
//
// A wait looks at a counter or a line again and again. It ends without what it waits for when it has taken too long, when another
// wait on this GPU has, or when the host has told all to end: that word lies in the host's memory and is looked at seldom.

#include <cstdint>

#include "kernels/block_state.hpp"
#include "kernels/lane_tables.hpp"

namespace collsim::kernels {

template <class Machine>
struct LaneContext {
  Machine& machine;
  const LaunchTable& launch;
  const BlockTable& block;
  const RankTable& rank;
  const LaneTable& lane;
  BlockState& state;
};

/// Whether another wait on this GPU, or the host, has said that there is nothing to wait for any more.
template <class Machine>
COLLSIM_MACHINE_CODE inline bool has_failed(const LaneContext<Machine>& lane, const Wait& wait) {
  // A look at the host's memory takes longer than all others together.
  constexpr std::uint32_t looks_between_orders = 4096;
  if (lane.machine.acquire(&lane.launch.failure->claimed) != 0) {
    return true;
  }
  return wait.looks % looks_between_orders == 0 && lane.machine.acquire(lane.launch.abort) != 0;
}

/// Whether to wait no longer; then the first one to give up has said what for.
template <class Machine>
COLLSIM_MACHINE_CODE inline bool gives_up(const LaneContext<Machine>& lane, Wait& wait,
                                          WaitedFor what, std::uint32_t index) {
  constexpr std::uint32_t looks_between_clocks = 256;
  lane.machine.relax();
  if (++wait.looks % looks_between_clocks != 0) {
    return false;
  }
  if (has_failed(lane, wait)) {
    return true;
  }
  const std::uint64_t now = lane.machine.now();
  if (wait.since == 0) {
    wait.since = now;
  }
  if (now - wait.since < lane.launch.patience) {
    return false;
  }
  if (lane.machine.claim(&lane.launch.failure->claimed)) {
    lane.launch.failure->step = lane.state.step;
    lane.launch.failure->rank = lane.rank.rank;
    lane.launch.failure->lane = lane.block.lane;
    lane.launch.failure->what = what;
    lane.launch.failure->index = index;
  }
  return true;
}

/// Waits until the counter has the number, at least. False: it took too long.
template <class Machine>
COLLSIM_MACHINE_CODE inline bool reaches(const LaneContext<Machine>& lane,
                                         const std::uint64_t* counter, std::uint64_t number,
                                         WaitedFor what, std::uint32_t index) {
  Wait wait;
  while (lane.machine.acquire(counter) < number) {
    if (gives_up(lane, wait, what, index)) {
      return false;
    }
  }
  return true;
}

}  // namespace collsim::kernels
