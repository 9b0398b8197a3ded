#pragma once

// A chart of things of very different size, one below the other: a row a thing, in it a mark a series, and
// side by side a panel for each quantity, with a logarithmic axis. Each mark has its value written beside
// it, so nothing must be read off the axis, and nothing overlaps however near the values are.

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace collsim {

/// What a series has in a row of a panel.
struct ChartValue {
  std::optional<double> value;  ///< absent: shown as unknown; above 0
  std::string text;             ///< how it is written
};

/// One quantity.
struct ChartPanel {
  std::string title;
  std::function<std::string(double)> tick_text;  ///< for powers of ten
  /// By row, then by series; absent: the series has no such row.
  std::vector<std::vector<std::optional<ChartValue>>> values;
};

struct ChartRow {
  std::string name;
  std::string group;  ///< neighbours of one group are set apart together under its name
};

struct Chart {
  std::string title;
  std::string subtitle;
  std::vector<std::string> series;  ///< names
  std::vector<ChartRow> rows;
  std::vector<ChartPanel> panels;
};

/// The chart as an SVG document.
/// Requires: 1 to Svg::series_colours series; values as many as rows and series.
[[nodiscard]] std::string render_chart(const Chart& chart);

}  // namespace collsim
