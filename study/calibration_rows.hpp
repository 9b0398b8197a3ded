#pragma once

// Which rows of measured tables a fit takes: one an octave of size, so that finely stepped tables do not outweigh the
// others where they are finest; no stalls; and no small ones where nobody says how the kernels were launched.

#include <vector>

#include "study/measured_calls.hpp"

namespace collsim {

/// Up to this size the launch mode decides, not the machine.
inline constexpr Bytes launch_decides_up_to{std::int64_t{1} << 20U};

/// Whether it is known how a row's kernels were launched, or does not matter.
[[nodiscard]] bool is_launch_known(const MeasuredTable& table, const MeasuredRow& row);

/// Whether a row can be compared with a prediction: not a stall, and not small with an unknown launch mode.
[[nodiscard]] bool is_comparable(const MeasuredTable& table, const MeasuredRow& row);

/// The smallest comparable row of each octave, in place and out of place apart, ready to be predicted; none where the table is
/// of our program, which costs nothing of what is fitted.
[[nodiscard]] std::vector<MeasuredCall> rows_to_fit(const MeasuredTable& table);

}  // namespace collsim
