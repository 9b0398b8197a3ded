#pragma once

// The results of a sweep as a table, JSON and CSV, and as the picture that the experiment describes.

#include <string>

#include "tools/sweep_results.hpp"

namespace collsim {

/// A line a point: its axes, the metrics that are shown, and below what failed.
[[nodiscard]] std::string render_sweep(const SweepResults& results);
/// `collsim/results/1`; docs/output.md lists the fields.
[[nodiscard]] std::string render_sweep_json(const SweepResults& results);
/// A line a point: its axes, the metrics that are shown in full, and what went wrong.
[[nodiscard]] std::string render_sweep_csv(const SweepResults& results);

struct SweepPlot {
  std::string svg;
  std::string note;  ///< of points that have no place on a logarithmic scale; empty if all have
};
/// Throws: InputError if no point has what the plot needs, or there are too many series.
/// Requires: the experiment has a plot.
[[nodiscard]] SweepPlot plot_sweep(const SweepResults& results);

/// A number in four significant digits, grouped: "1,234", "0.001234", "12.35".
[[nodiscard]] std::string metric_text(double value);
/// A metric's name with its unit, as a column or an axis is called.
[[nodiscard]] std::string metric_heading(const std::string& name);

}  // namespace collsim
