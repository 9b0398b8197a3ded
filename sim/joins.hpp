#pragma once

// How far the lanes of one group of one rank have come, for Step::join: how many of them are in
// each phase. A join waits for the lowest phase to rise, so it costs O(1) per lane that moves (O(k)
// where the group's lanes are spread over k phases), however many lanes there are. Waiters are
// looked at only when it has risen. Internal to the executor.

#include <cstdint>
#include <limits>
#include <vector>

#include "sim/messages.hpp"
#include "topology/units.hpp"

namespace collsim::detail {

class PhaseGroup {
 public:
  /// A lane enters a phase for the first time.
  void enter(std::uint64_t phase);
  /// A lane leaves a phase: for another one (enter that first), or because it is done. Returns
  /// whether lowest() rose, so that there may be waiters to release.
  [[nodiscard]] bool leave(std::uint64_t phase, std::uint32_t lane, Time now);

  /// Nobody is in any phase; to be entered anew. Requires: the instant is over.
  void clear() {
    phases_.clear();
    passed_.clear();
  }
  /// All lanes have completed all their steps of phases below this one.
  [[nodiscard]] std::uint64_t lowest() const {
    return phases_.empty() ? std::numeric_limits<std::uint64_t>::max() : phases_.front().phase;
  }
  /// Who ended the wait for `phase`: the lowest of the lanes that left a phase below it now.
  /// Requires: lowest() rose to `phase` or above at this instant.
  [[nodiscard]] std::uint32_t last_lane(std::uint64_t phase) const;

  // NOLINTNEXTLINE(misc-non-private-member-variables-in-classes): an intrusive list's head
  std::uint32_t first_waiter = no_index;  ///< head of the list of lanes whose step joins this group

 private:
  struct PhaseCount {
    std::uint64_t phase = 0;
    std::uint32_t lanes = 0;
    std::uint32_t last_lane = no_index;  ///< the lowest lane of those that left last
    Time last_left;
  };
  void forget_past(Time now);
  std::vector<PhaseCount>::iterator find(std::uint64_t phase);

  // Ascending. The first one has lanes; others without lanes stay for the rest of the instant in
  // which the last one left, since a join may end then.
  std::vector<PhaseCount> phases_;
  std::vector<PhaseCount> passed_;  ///< those that the lowest phase has passed at `instant_`
  Time instant_;
};

}  // namespace collsim::detail
