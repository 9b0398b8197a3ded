#pragma once

// Finds steps of one rank that touch the same bytes, one of them writing, without an order that the
// rank itself ensures.
//
// The order is what lane order, `after` and `join` imply, kept as a vector clock a lane: how many
// steps of every other lane come before its next one. Clocks change at joins and dependencies only,
// and lanes that join the same phase share one, so n lanes a rank cost O(n) per phase and lane, not
// per step. Orders through messages of other ranks do not count.
// Source: Mattern 1988 (vector clocks); Flanagan and Freund 2009, "FastTrack", §3 (last write and
// reads since).

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/interval_map.hpp"
#include "algorithms/program.hpp"

namespace collsim::detail {

/// Which steps of a rank come before which.
class RankOrder {
 public:
  /// `group_of_lane[lane]` as in Lane::group.
  explicit RankOrder(const std::vector<std::uint32_t>& group_of_lane);

  /// Moves a lane to its next step. Requires: the steps it depends on have been begun.
  void begin(const StepRef& at, const Step& step);
  /// Whether a step comes before the step that `lane` is at.
  [[nodiscard]] bool before(const StepRef& earlier, std::uint32_t lane) const;

 private:
  using ClockId = std::uint32_t;             // position in clocks_
  using Clock = std::vector<std::uint64_t>;  // by lane: so many of its steps come before
  /// A lane's state when it left its steps of phases below `limit`.
  struct Mark {
    std::uint64_t limit = 0;
    ClockId clock = 0;
    std::uint64_t steps = 0;
  };
  struct LaneState {
    std::uint32_t group = 0;
    ClockId clock = 0;
    std::uint64_t steps = 0;  ///< begun
    std::uint64_t phase = 0;
    std::deque<Mark> marks;  ///< by limit; those that a join may still ask for
    std::size_t marks_to_prune = 16;
    std::vector<std::pair<std::uint64_t, ClockId>> history;  ///< from which step on which clock
  };

  void enter_phase(LaneState& lane, std::uint64_t phase);
  void prune_marks(LaneState& lane);
  [[nodiscard]] ClockId clock_after_group(std::uint32_t group, std::uint64_t phase);
  [[nodiscard]] ClockId clock_after_step(const StepRef& step);
  [[nodiscard]] ClockId merged(ClockId a, ClockId b);
  void raise(Clock& clock, ClockId other) const;

  std::vector<Clock> clocks_;
  std::vector<LaneState> lanes_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, ClockId> group_clocks_;
};

/// An access that has no order with the one at hand.
struct RacingAccess {
  enum class Kind : std::uint8_t { Read, Write };
  StepRef step;
  Kind kind = Kind::Write;
  std::int64_t begin = 0;  ///< the bytes that both touch
  std::int64_t end = 0;
};

/// Accesses to one of a rank's memories.
class AccessLog {
 public:
  /// Both return the first race with an earlier access, if any. Requires: order.begin() was called
  /// for the step.
  std::optional<RacingAccess> read(std::int64_t begin, std::int64_t end, const StepRef& at,
                                   const RankOrder& order);
  std::optional<RacingAccess> write(std::int64_t begin, std::int64_t end, const StepRef& at,
                                    const RankOrder& order);

 private:
  struct Accesses {
    std::optional<StepRef> last_write;
    std::vector<StepRef> reads;  ///< since; the latest of each lane at least
    std::size_t reads_to_prune = 8;
    [[nodiscard]] Accesses advanced(std::int64_t) const { return *this; }
  };
  IntervalMap<Accesses> log_;
};

}  // namespace collsim::detail
