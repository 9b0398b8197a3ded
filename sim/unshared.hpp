#pragma once

// Runs in which no two lanes share a link: they are evaluated without events.
//
// Where every link is crossed by the messages of one lane alone, a transfer has the full rate of its
// route from start to end, for a lane sends one message after the other. Then when a step ends follows
// from the lane's step before it and from the message that it receives alone,
//     start = max(end of the step before, arrival of the message)
//     end = start + bytes / rate,    arrival = end + latency,
// and steps may be evaluated in any order in which a message comes before its receipt. What time is
// attributed to is found backwards from the lane that ends last: each step remembers, in one bit,
// whether it followed the message or the lane. The result is that of the executor (executor.hpp), to
// the picosecond.
//
// Covered: one collective whose steps send at most one message and receive at most one, wait for nothing
// else, and cost nothing but the wire; lanes without a FIFO. That is rings, above all.
// Internal to the executor.

#include <optional>

#include "sim/executor.hpp"
#include "sim/fold.hpp"

namespace collsim::detail {

/// `plan`: what the workload is folded to; null: nothing is. The result is that of plan->workload, with
/// no events. Absent: lanes share links, or do more than is covered, or do not come to an end.
/// Throws: SimulationError("interrupted"); std::overflow_error where times do not fit.
/// Complexity: O(steps), some nanoseconds each.
[[nodiscard]] std::optional<RunResult> run_unshared(const Cluster& cluster,
                                                    const Workload& workload,
                                                    const RunOptions& options,
                                                    const FoldPlan* plan);

}  // namespace collsim::detail
