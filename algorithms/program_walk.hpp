#pragma once

// Runs a program's steps in an order that its dependencies allow, without data and without time:
// the scheduler that the data checker and the interpreter of numbers share.
//
// Lanes that can go on take turns, a step each, in a fixed order. A step that cannot start registers
// with the one thing it waits for and is looked at again when that has happened, so the cost follows
// the number of steps. A step takes its messages when all of them are there (which frees their FIFO
// slots) and then waits for a free slot of every connection it sends on.
//
// Found here: deadlocks, messages that do not match, connections and dependencies that make no sense.
// The last two end the walk at once: nothing after them would mean anything.

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/check.hpp"
#include "algorithms/program.hpp"
#include "algorithms/program_wiring.hpp"

namespace collsim::detail {

enum class Walk : std::uint8_t { GoOn, Stop };

/// What is to happen at each step.
class StepHandler {
 public:
  virtual ~StepHandler() = default;

  /// The step takes the oldest message of each connection in `received` and appends one to each in
  /// `sent`, in the order of the step's slots. Every step that it depends on has been executed.
  virtual Walk execute(const StepPlace& place, const Step& step,
                       std::span<const ConnectionId> received,
                       std::span<const ConnectionId> sent) = 0;

 protected:
  StepHandler() = default;
  StepHandler(const StepHandler&) = default;
  StepHandler& operator=(const StepHandler&) = default;
};

struct WalkReport {
  bool finished = false;  ///< all lanes ran to their end
  std::uint64_t steps = 0;
  std::uint64_t messages = 0;  ///< received
  /// Deadlocks (the cycle first, then lanes that wait for one that has ended, then the rest),
  /// unmatched messages, or what ended the walk.
  std::vector<CheckFailure> failures;
};

/// Complexity: O(steps · log lanes).
[[nodiscard]] WalkReport walk_program(const Program& program, StepHandler& handler);

}  // namespace collsim::detail
