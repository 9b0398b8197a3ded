#include "validate/error_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr double ps_per_us = 1e6;

/// Requires: sorted, not empty.
double percentile(std::span<const double> sorted, double part) {
  const double place = static_cast<double>(sorted.size() - 1) * part;
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

/// One round of weighted least squares of (latency + slope · size) / time - 1, neither below zero.
StraightLine weighted_line(std::span<const double> sizes, std::span<const double> times,
                           std::span<const double> weights) {
  double uu = 0;
  double us = 0;
  double ss = 0;
  double u1 = 0;
  double s1 = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double u = 1 / times[i];
    const double s = sizes[i] / times[i];
    uu += weights[i] * u * u;
    us += weights[i] * u * s;
    ss += weights[i] * s * s;
    u1 += weights[i] * u;
    s1 += weights[i] * s;
  }
  const double determinant = uu * ss - us * us;
  StraightLine line;
  if (determinant > 0) {
    line.latency_us = (u1 * ss - s1 * us) / determinant;
    line.us_per_byte = (s1 * uu - u1 * us) / determinant;
  }
  if (line.latency_us < 0 || determinant <= 0) {
    line.latency_us = 0;
    line.us_per_byte = s1 / ss;
  } else if (line.us_per_byte < 0) {
    line.us_per_byte = 0;
    line.latency_us = u1 / uu;
  }
  return line;
}

}  // namespace

double relative_error(Duration predicted, Duration measured) {
  COLLSIM_ENSURE(measured > Duration{}, "a measured time is above zero");
  return static_cast<double>(predicted.count()) / static_cast<double>(measured.count()) - 1;
}

ErrorSummary summarize(std::span<const double> errors) {
  ErrorSummary summary;
  summary.points = errors.size();
  if (errors.empty()) {
    return summary;
  }
  constexpr double median = 0.5;
  constexpr double most = 0.9;
  std::vector<double> sizes;
  for (const double error : errors) {
    sizes.push_back(std::abs(error));
  }
  summary.worst = static_cast<std::size_t>(std::ranges::max_element(sizes) - sizes.begin());
  std::ranges::sort(sizes);
  summary.median_abs = percentile(sizes, median);
  summary.p90_abs = percentile(sizes, most);
  std::vector<double> sorted(errors.begin(), errors.end());
  std::ranges::sort(sorted);
  summary.bias = percentile(sorted, median);
  return summary;
}

SizeBand band_of(Bytes size) {
  using namespace literals;
  if (size <= 64_KiB) {
    return SizeBand::Small;
  }
  if (size <= 1_MiB) {
    return SizeBand::Medium;
  }
  return size < 16_MiB ? SizeBand::Large : SizeBand::Huge;
}

std::string_view name_of(SizeBand band) {
  switch (band) {
    case SizeBand::Small:
      return "<= 64 KiB";
    case SizeBand::Medium:
      return "64 KiB - 1 MiB";
    case SizeBand::Large:
      return "1 - 16 MiB";
    case SizeBand::Huge:
      return ">= 16 MiB";
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

Duration StraightLine::at(Bytes size) const {
  const double us = latency_us + us_per_byte * static_cast<double>(size.count());
  return Duration(std::llround(us * ps_per_us));
}

std::optional<StraightLine> best_line(std::span<const Bytes> sizes,
                                      std::span<const Duration> times) {
  if (std::set<Bytes>(sizes.begin(), sizes.end()).size() < 2) {
    return std::nullopt;
  }
  std::vector<double> bytes;
  std::vector<double> us;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    bytes.push_back(static_cast<double>(sizes[i].count()));
    us.push_back(static_cast<double>(times[i].count()) / ps_per_us);
  }
  // Least absolute errors by reweighting: each round weighs a point by the inverse of its error.
  std::vector<double> weights(bytes.size(), 1);
  StraightLine line;
  constexpr int rounds = 30;
  constexpr double least_error = 0.01;
  for (int round = 0; round < rounds; ++round) {
    line = weighted_line(bytes, us, weights);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const double error = (line.latency_us + line.us_per_byte * bytes[i]) / us[i] - 1;
      weights[i] = 1 / std::max(std::abs(error), least_error);
    }
  }
  return line;
}

}  // namespace collsim
