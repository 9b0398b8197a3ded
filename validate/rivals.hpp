#pragma once

// What else could have been said of a table, without simulating: the rivals that a prediction is shown beside.
//
//   the best straight line   latency + size / bandwidth, fitted to the table itself: it has seen the answers
//   NCCL's own formula       latency + bytes / bandwidth of the model that NCCL chooses by; of sends and receives, between
//                            which NCCL does not choose, it says nothing
//   constant busbw           the bandwidth of the largest sizes at all sizes
//
// Ignored: rivals that were fitted to other machines.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "topology/units.hpp"
#include "validate/error_statistics.hpp"

namespace collsim {

enum class Rival : std::uint8_t { BestLine, NcclFormula, ConstantBusbw };
inline constexpr std::array rivals{Rival::BestLine, Rival::NcclFormula, Rival::ConstantBusbw};
/// "best straight line", …
[[nodiscard]] std::string_view name_of(Rival rival);

/// The line through the origin whose bandwidth is the median of that of all points of the three largest sizes. The factor
/// between algbw and busbw is the same for all sizes of a table, so that it needs none.
/// Absent without sizes above 0. Requires: as many times as sizes, all above zero.
[[nodiscard]] std::optional<StraightLine> constant_bandwidth(std::span<const Bytes> sizes,
                                                             std::span<const Duration> times);

/// What launching takes more (or less) on one machine than the parameters say: the constant that, added to each
/// prediction, makes the sum of |relative error| least. It is the median of measured - predicted, each
/// weighed by 1 / measured, so that single stalls do not move it.
/// Absent without points. Requires: as many of both; measured above zero.
[[nodiscard]] std::optional<Duration> launch_offset(std::span<const Duration> measured,
                                                    std::span<const Duration> predicted);

}  // namespace collsim
