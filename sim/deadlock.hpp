#pragma once

// What a run says when it cannot go on: who is blocked, what each waits for, and whether they wait
// for each other. Internal to the executor.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/lane_state.hpp"
#include "sim/messages.hpp"

namespace collsim::detail {

/// The state of a run that has come to a halt.
struct Standstill {
  Time now;
  std::vector<const OperationState*> active;  ///< in order of operation
  const MessagePool* messages = nullptr;
  /// The operation that keeps a rank's GPU from starting this one; absent: nothing does.
  std::function<std::optional<OperationId>(const OperationState&, Rank)> kept_by;
};

/// Names the blocked lanes (the first ten, and how many more), what each waits for, and the cycle
/// where there is one; else whom the first chain of waits ends with.
[[nodiscard]] std::string describe_deadlock(const Standstill& standstill);

/// Names the messages of an operation that nobody received (the first ten, and how many more).
[[nodiscard]] std::string describe_leftovers(const OperationState& operation,
                                             const MessagePool& messages);

}  // namespace collsim::detail
