#pragma once

// How far predictions are from what was measured: relative errors predicted / measured - 1, and what is said of many.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "topology/units.hpp"

namespace collsim {

/// predicted / measured - 1. Requires: measured > 0.
[[nodiscard]] double relative_error(Duration predicted, Duration measured);

struct ErrorSummary {
  std::size_t points = 0;
  double median_abs = 0;  ///< of |error|
  double p90_abs = 0;
  double bias = 0;        ///< the median of the errors with their signs
  std::size_t worst = 0;  ///< which of them has the largest |error|; the first of equals
};

/// Of no errors all zero. Percentiles are those of the sorted values at (n - 1) · p, in between linear.
[[nodiscard]] ErrorSummary summarize(std::span<const double> errors);

/// Sizes by what decides them: hops, passes, slices, links.
enum class SizeBand : std::uint8_t {
  Small,   ///< up to 64 KiB
  Medium,  ///< above, up to 1 MiB
  Large,   ///< above, below 16 MiB
  Huge,    ///< from 16 MiB
};
inline constexpr std::array size_bands{SizeBand::Small, SizeBand::Medium, SizeBand::Large,
                                       SizeBand::Huge};
[[nodiscard]] SizeBand band_of(Bytes size);
/// "<= 64 KiB", "64 KiB - 1 MiB", …
[[nodiscard]] std::string_view name_of(SizeBand band);

/// The straight line time = latency + size / bandwidth with the least median-like error: least squares of the relative
/// error, reweighted so that single stalls do not bend it. What a spreadsheet would predict.
struct StraightLine {
  double latency_us = 0;   ///< >= 0
  double us_per_byte = 0;  ///< >= 0
  [[nodiscard]] Duration at(Bytes size) const;
};
/// Absent with fewer than two sizes.
[[nodiscard]] std::optional<StraightLine> best_line(std::span<const Bytes> sizes,
                                                    std::span<const Duration> times);

}  // namespace collsim
