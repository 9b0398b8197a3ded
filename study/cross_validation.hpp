#pragma once

// How good predictions are of what was not fitted to: groups of calls (a number of ranks, a collective, a machine, …) are
// left out one after the other, the parameters fitted to the rest, and the errors taken on what was left out.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/calibration.hpp"

namespace collsim {

enum class LeftOut : std::uint8_t {
  Sizes,        ///< every other octave
  Ranks,        ///< a number of ranks, where two others remain
  Collectives,  ///< a collective, where another one remains
  Machines,     ///< a machine, where another one remains
  Versions,     ///< a version of NCCL, where another one remains
};
inline constexpr std::array all_left_out{LeftOut::Sizes, LeftOut::Ranks, LeftOut::Collectives,
                                         LeftOut::Machines, LeftOut::Versions};
/// "sizes", "ranks", …
[[nodiscard]] std::string_view name_of(LeftOut what);

/// One group left out.
struct Fold {
  LeftOut kind{};
  std::string group;           ///< "8 ranks", "all_gather"
  std::vector<double> errors;  ///< on the group: predicted / measured - 1
};

/// Folds in the order of `kinds` and of their groups; none for a kind that leaves too little. `begin` is called before
/// each fit. Throws: as calibrate().
[[nodiscard]] std::vector<Fold> cross_validate(
    const std::vector<MeasuredCall>& calls, const CostParameters& start,
    const CalibrationOptions& options, std::span<const LeftOut> kinds,
    const std::function<void(const std::string& left_out)>& begin = {});

}  // namespace collsim
