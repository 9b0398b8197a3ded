#pragma once

// What a lane does over time, without what and whose its bytes are: two lanes of the same shape that get
// their messages at the same times, over paths that are as quick, do everything at the same times. See
// fold.hpp. Internal to the executor.

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/program.hpp"
#include "sim/connection_route.hpp"

namespace collsim::detail {

struct LaneShape {
  std::uint64_t hash = 0;                 ///< of the steps, or of what the program says about them
  std::vector<std::uint32_t> send_slots;  ///< in use, in the order of first use
  std::vector<std::uint32_t> awaited;     ///< lanes of its rank, in the order of first use
  std::vector<SwitchPeers> switches;  ///< of steps through the switch, in the order of first use
  std::vector<std::uint32_t>
      joined;  ///< groups of its rank that steps wait for, in the order of first use
};

/// Goes through the steps of a lane that tell all: of those that repeat, the first ones.
class WalkedSteps {
 public:
  WalkedSteps(const Program& program, Rank rank, std::uint32_t lane);

  /// How many do what others did before.
  [[nodiscard]] std::uint64_t left_out() const { return end_ - begin_; }
  [[nodiscard]] bool done() const { return index_ >= steps_; }
  [[nodiscard]] std::uint64_t index() const { return index_; }
  void next() { skip(1); }
  /// The next ones.
  void skip(std::uint64_t count) {
    index_ += count;
    if (index_ >= begin_ && index_ < end_) {
      index_ = end_;
    }
  }

 private:
  std::uint64_t steps_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::uint64_t index_ = 0;
};

/// How many steps may still be walked.
struct StepBudget {
  std::uint64_t left = 0;
};

/// `costs`: whether lanes with a protocol cost something. Absent: that takes more steps than are left.
/// Throws: SimulationError where a step waits for a lane that its rank does not have.
/// Complexity: O(1) where the program has a schedule of the lane, else O(steps).
[[nodiscard]] std::optional<LaneShape> shape_of(const Program& program, Rank rank,
                                                std::uint32_t lane, bool costs, StepBudget& budget);

}  // namespace collsim::detail
