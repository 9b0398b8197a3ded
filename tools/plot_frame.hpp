#pragma once

// What plots of a sweep share: scales with ends and ticks at round numbers, and the frame of a panel.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/experiment.hpp"
#include "tools/svg.hpp"

namespace collsim {

/// From values to places.
struct AxisScale {
  PlotScale kind = PlotScale::Linear;
  double low = 0;
  double high = 1;
  double from = 0;
  double to = 1;

  [[nodiscard]] double at(double value) const;
};

/// A scale that has room for all values, its ends round; a linear one of positive values begins at 0.
/// Requires: at least one value; above 0 for a logarithmic one.
[[nodiscard]] AxisScale scale_of(std::span<const double> values, PlotScale kind);

struct Tick {
  double value = 0;
  std::string label;
};
/// At round numbers, a handful.
[[nodiscard]] std::vector<Tick> ticks_of(const AxisScale& scale);

/// A panel: its corner and size without what stands around it, its scales, its words.
struct Frame {
  SvgPoint corner;
  SvgSize size;
  std::string title;
  std::string x_heading;
  std::string y_heading;
};

/// Draws grid, ticks and words. Ticks of x that have no room are left out.
void draw_frame(Svg& svg, const Frame& frame, const AxisScale& x, std::span<const Tick> x_ticks,
                const AxisScale& y);

/// Sets the scales to a panel's place.
void place(const Frame& frame, AxisScale& x, AxisScale& y);

/// Room around a panel for the words of its axes.
inline constexpr double frame_left = 64;
inline constexpr double frame_title = 20;  ///< where a panel has one
inline constexpr double frame_top = 26;
inline constexpr double frame_bottom = 46;
inline constexpr double frame_right = 20;

/// What all points share: "all_reduce on dgx-h100, bytes 1GiB".
[[nodiscard]] std::string shared_text(const Experiment& experiment);

/// What a panel is called: "ranks 8", "all_reduce".
[[nodiscard]] std::string panel_title(const Axis& axis, const std::string& label);

/// Rules for plots: lines without a filling, and so on.
extern const std::string_view plot_style;

}  // namespace collsim
