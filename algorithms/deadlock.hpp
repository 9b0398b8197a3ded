#pragma once

// Tells a deadlock: who waits for whom, the cycle first if there is one.

#include <optional>
#include <string>
#include <vector>

#include "algorithms/check.hpp"
#include "algorithms/program_wiring.hpp"

namespace collsim::detail {

/// A lane that cannot go on.
struct Blockage {
  StepPlace place;
  std::string what;  ///< "waits for …"
  LaneId culprit;    ///< the lane whose progress would help; it has ended or is blocked itself
};

/// One failure for the cycle (at its lowest lane), then one for each lane that waits for one that has
/// ended (the causes), then one for each lane that waits for those. `blockages[lane]` is absent for
/// lanes that have ended. Complexity: O(lanes).
[[nodiscard]] std::vector<CheckFailure> describe_deadlock(
    const std::vector<std::optional<Blockage>>& blockages);

}  // namespace collsim::detail
