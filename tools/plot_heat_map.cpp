#include "tools/plot_heat_map.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "tools/format_text.hpp"
#include "tools/plot_frame.hpp"
#include "tools/render_sweep.hpp"
#include "tools/svg.hpp"
#include "tools/text_table.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr double margin = 18;
constexpr double cell_height = 34;
constexpr double least_cell_width = 68;
constexpr double head = 64;
constexpr double line_height = 17;
constexpr double panel_head = 30;
constexpr double panel_gap = 46;
constexpr int steps = 8;  ///< of colour

/// One hue from light to dark; in the dark the other way round, so that much stands out against the paper.
constexpr std::string_view style =
    ".h0{fill:#eef6ff}.h1{fill:#d3e7fd}.h2{fill:#b2d4fa}.h3{fill:#8bbcf4}"
    ".h4{fill:#5f9fe9}.h5{fill:#3a80d6}.h6{fill:#2062b8}.h7{fill:#0e468f}"
    ".onlight{fill:#1f2328}.ondark{fill:#fff}\n"
    "@media (prefers-color-scheme:dark){"
    ".h0{fill:#0f2037}.h1{fill:#13304f}.h2{fill:#18436f}.h3{fill:#1f5990}"
    ".h4{fill:#3175b4}.h5{fill:#5796d3}.h6{fill:#88b8e8}.h7{fill:#c0dcf8}"
    ".onlight{fill:#e6edf3}.ondark{fill:#0d1117}}\n";

std::size_t axis_of(const Experiment& experiment, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(experiment.axes, name, &Axis::name) -
                                  experiment.axes.begin());
}

class HeatMap {
 public:
  explicit HeatMap(const SweepResults& results)
      : results_(&results),
        plot_(&*results.experiment().plot),
        x_(axis_of(results.experiment(), plot_->x)),
        y_(axis_of(results.experiment(), plot_->y)) {
    for (const PointResult& point : results.points) {
      if (const std::optional<double> value = results.metric(point, plot_->value)) {
        low_ = any_ ? std::min(low_, *value) : *value;
        high_ = any_ ? std::max(high_, *value) : *value;
        any_ = true;
      }
    }
    if (!any_) {
      throw InputError("no point has a " + plot_->value, "--plot");
    }
    for (const AxisValue& value : x_axis().values) {
      cell_width_ = std::max(cell_width_, text_width(value.label) + 12);
    }
    for (const AxisValue& value : y_axis().values) {
      names_width_ = std::max(names_width_, text_width(value.label));
    }
    names_width_ = std::max(names_width_, text_width(plot_->y)) + 14;
  }

  [[nodiscard]] std::string draw() const {
    const std::size_t panels = plot_->panels.empty() ? 1 : panel_axis().values.size();
    const double panel_height =
        panel_head + cell_height * static_cast<double>(y_axis().values.size()) + panel_gap;
    const double width = std::max(
        2 * margin + names_width_ + cell_width_ * static_cast<double>(x_axis().values.size()),
        2 * margin + text_width(plot_->title) * 1.35);
    const std::string what =
        metric_heading(plot_->value) + ", " + shared_text(results_->experiment());
    constexpr double letter = 6.2;
    const std::vector<std::string> lines =
        wrapped(what, static_cast<std::size_t>((width - 2 * margin) / letter));
    const double top = head + line_height * static_cast<double>(lines.size() - 1);
    Svg svg({width, top + panel_height * static_cast<double>(panels)}, plot_->title, what, style);
    svg.text({margin, 28}, plot_->title, "ink bold large");
    for (std::size_t i = 0; i < lines.size(); ++i) {
      svg.text({margin, 48 + line_height * static_cast<double>(i)}, lines[i], "faint small");
    }
    for (std::size_t panel = 0; panel < panels; ++panel) {
      draw_panel(svg, panel, top + panel_height * static_cast<double>(panel));
    }
    return std::move(svg).finish();
  }

 private:
  [[nodiscard]] const Axis& x_axis() const { return results_->experiment().axes[x_]; }
  [[nodiscard]] const Axis& y_axis() const { return results_->experiment().axes[y_]; }
  [[nodiscard]] const Axis& panel_axis() const {
    return results_->experiment().axes[axis_of(results_->experiment(), plot_->panels)];
  }

  [[nodiscard]] bool is_in(const PointResult& point, std::size_t panel) const {
    return plot_->panels.empty() ||
           choice(point, axis_of(results_->experiment(), plot_->panels)) == panel;
  }

  [[nodiscard]] std::size_t choice(const PointResult& point, std::size_t axis) const {
    return results_->loaded->points[point.index].values[axis];
  }

  /// The lower left cell is the first of both axes.
  [[nodiscard]] SvgPoint cell(double top, std::size_t column, std::size_t row) const {
    const auto from_top = static_cast<double>(y_axis().values.size() - 1 - row);
    return {margin + names_width_ + cell_width_ * static_cast<double>(column),
            top + panel_head + cell_height * from_top};
  }

  void draw_panel(Svg& svg, std::size_t panel, double top) const {
    if (!plot_->panels.empty()) {
      svg.text({margin, top + 14}, panel_title(panel_axis(), panel_axis().values[panel].label),
               "ink bold");
    }
    svg.text({margin, top + panel_head - 5}, plot_->y, "faint small");
    for (std::size_t row = 0; row < y_axis().values.size(); ++row) {
      const SvgPoint at = cell(top, 0, row);
      svg.text({at.x - 8, at.y + cell_height / 2 + 4}, y_axis().values[row].label, "ink",
               Anchor::End);
    }
    for (std::size_t column = 0; column < x_axis().values.size(); ++column) {
      const SvgPoint at = cell(top, column, 0);
      svg.text({at.x + cell_width_ / 2, at.y + cell_height + 17}, x_axis().values[column].label,
               "ink", Anchor::Middle);
    }
    const SvgPoint last = cell(top, x_axis().values.size() - 1, 0);
    svg.text({(margin + names_width_ + last.x + cell_width_) / 2, last.y + cell_height + 35},
             plot_->x, "faint small", Anchor::Middle);
    for (const PointResult& point : results_->points) {
      if (is_in(point, panel)) {
        draw_cell(svg, point, cell(top, choice(point, x_), choice(point, y_)));
      }
    }
  }

  void draw_cell(Svg& svg, const PointResult& point, SvgPoint at) const {
    const std::optional<double> value = results_->metric(point, plot_->value);
    const SvgPoint middle{at.x + cell_width_ / 2, at.y + cell_height / 2 + 4};
    if (!value) {
      svg.text(middle, point.failed() ? "failed" : "-", "faint small", Anchor::Middle);
      return;
    }
    const double part = high_ > low_ ? (*value - low_) / (high_ - low_) : 0;
    const int step = std::min(static_cast<int>(part * steps), steps - 1);
    svg.rectangle({at.x + 1, at.y + 1}, {cell_width_ - 2, cell_height - 2},
                  "h" + std::to_string(step));
    svg.text(middle, metric_text(*value), step < steps / 2 ? "small onlight" : "small ondark",
             Anchor::Middle);
  }

  const SweepResults* results_;
  const PlotSpec* plot_;
  std::size_t x_;
  std::size_t y_;
  bool any_ = false;
  double low_ = 0;
  double high_ = 0;
  double cell_width_ = least_cell_width;
  double names_width_ = 0;
};

}  // namespace

std::string plot_heat_map(const SweepResults& results) { return HeatMap(results).draw(); }

}  // namespace collsim
