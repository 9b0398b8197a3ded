#pragma once

// What all processes of a group have found out about a program that each has run its rank of.

#include <optional>

#include "validate/execution/outcome.hpp"
#include "validate/execution/process_group.hpp"

namespace collsim {

/// The same on every rank. `time` is this rank's, of all timed calls; `wrong` what is wrong with its data.
/// Throws: ExecutionError where a rank is lost or late, or reports nothing of use.
[[nodiscard]] ExecutionOutcome joint_outcome(ProcessGroup& group, Duration time,
                                             std::uint32_t timed,
                                             const std::optional<WrongData>& wrong);

}  // namespace collsim
