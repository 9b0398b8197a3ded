// Lines over an axis, and Pareto fronts.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "study/pareto.hpp"
#include "tools/format_text.hpp"
#include "tools/plot_frame.hpp"
#include "tools/plot_heat_map.hpp"
#include "tools/render_sweep.hpp"
#include "tools/svg.hpp"
#include "tools/text_table.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr double margin = 16;
constexpr double title_height = 34;
constexpr double text_line = 17;
constexpr double legend_height = 24;
constexpr std::size_t panels_a_row = 3;

/// What is drawn of a point.
struct PlottedPoint {
  const PointResult* result = nullptr;
  double x = 0;
  double y = 0;
  std::size_t series = 0;
  std::size_t panel = 0;
};

/// Where something is drawn already.
struct Box {
  static constexpr double text_height = 13;

  SvgPoint corner;
  SvgSize size;

  /// The place of a mark.
  static Box around(SvgPoint at) {
    constexpr double half = 5;
    return {{at.x - half, at.y - half}, {2 * half, 2 * half}};
  }
  [[nodiscard]] bool overlaps(const Box& other) const {
    return corner.x < other.corner.x + other.size.width && other.corner.x < corner.x + size.width &&
           corner.y < other.corner.y + other.size.height && other.corner.y < corner.y + size.height;
  }
};

class Plot {
 public:
  explicit Plot(const SweepResults& results)
      : results_(&results), plot_(&*results.experiment().plot) {
    for (const PointResult& point : results.points) {
      add(point);
    }
    if (points_.empty()) {
      throw InputError(
          left_out_ == 0 ? "no point has a " + plot_->y : "no point has a place: " + why_left_out(),
          "--plot", left_out_ == 0 ? "" : "x_scale and y_scale: linear");
    }
    if (series_.size() > Svg::series_colours) {
      throw InputError("a plot tells " + std::to_string(Svg::series_colours) +
                           " series apart, and there are " + std::to_string(series_.size()),
                       "--plot", "panels for an axis, constraints, or fewer values");
    }
  }

  /// What is said of points that have figures and no place; empty if there are none.
  [[nodiscard]] std::string note() const {
    return left_out_ == 0
               ? ""
               : counted(left_out_, "point") + " left out of the plot: " + why_left_out();
  }

  [[nodiscard]] std::string draw() {
    const std::size_t columns = std::min(panels_.size(), panels_a_row);
    const std::size_t rows = (panels_.size() + panels_a_row - 1) / panels_a_row;
    const SvgSize panel = columns == 1 ? SvgSize{560, 300} : SvgSize{300, 220};
    const double top = frame_top + (panels_.size() > 1 ? frame_title : 0);
    const SvgSize outer{panel.width + frame_left + frame_right, panel.height + top + frame_bottom};
    const double width = 2 * margin + outer.width * static_cast<double>(columns);
    place_head(width);
    Svg svg({width, head_ + outer.height * static_cast<double>(rows) + margin}, plot_->title,
            shared_text(results_->experiment()), plot_style);
    draw_head(svg);
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      const auto column = static_cast<double>(i % panels_a_row);
      const std::size_t in_front = i / panels_a_row;
      const auto row = static_cast<double>(in_front);
      Frame frame;
      frame.corner = {margin + frame_left + outer.width * column, head_ + top + outer.height * row};
      frame.size = panel;
      frame.title =
          panels_.size() > 1 ? panel_title(axes()[axis_of(plot_->panels)], panels_[i]) : "";
      draw_panel(svg, frame, i);
    }
    return std::move(svg).finish();
  }

 private:
  [[nodiscard]] bool is_pareto() const { return plot_->kind == PlotKind::Pareto; }
  [[nodiscard]] const std::vector<Axis>& axes() const { return results_->experiment().axes; }

  [[nodiscard]] std::size_t axis_of(const std::string& name) const {
    return static_cast<std::size_t>(std::ranges::find(axes(), name, &Axis::name) - axes().begin());
  }

  /// Its number where all values of the axis have one, else its position.
  [[nodiscard]] double across(std::size_t axis, std::size_t value) const {
    return axes()[axis].is_numeric() ? *axes()[axis].values[value].number
                                     : static_cast<double>(value);
  }

  static std::size_t position(std::vector<std::string>& names, const std::string& name) {
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) {
      return static_cast<std::size_t>(found - names.begin());
    }
    names.push_back(name);
    return names.size() - 1;
  }

  /// The labels of the axes, one behind the other.
  [[nodiscard]] std::string labels(const PointResult& point,
                                   const std::vector<std::string>& names) const {
    std::string text;
    for (const std::string& name : names) {
      const std::size_t axis = axis_of(name);
      const AxisValue& value = results_->value(point, axis);
      text += (text.empty() ? "" : ", ") +
              (axes()[axis].is_numeric() ? name + " " + value.label : value.label);
    }
    return text;
  }

  void add(const PointResult& point) {
    const std::optional<double> y = results_->metric(point, plot_->y);
    std::optional<double> x;
    if (is_pareto()) {
      x = results_->metric(point, plot_->x);
    } else {
      const std::size_t axis = axis_of(plot_->x);
      x = across(axis, results_->loaded->points[point.index].values[axis]);
    }
    if (!x || !y) {
      return;
    }
    if (is_off(*x, plot_->x_scale) || is_off(*y, plot_->y_scale)) {
      ++left_out_;
      return;
    }
    PlottedPoint plotted{&point, *x, *y, 0, 0};
    plotted.series = position(series_, labels(point, plot_->series));
    const std::vector<std::string> panel(plot_->panels.empty() ? 0 : 1, plot_->panels);
    plotted.panel = position(
        panels_, panel.empty() ? "" : results_->value(point, axis_of(plot_->panels)).label);
    points_.push_back(plotted);
  }

  [[nodiscard]] std::string why_left_out() const {
    const bool both = is_pareto() && plot_->x_scale == plot_->y_scale;
    const std::string& one = plot_->y_scale == PlotScale::Logarithmic ? plot_->y : plot_->x;
    return "a logarithmic scale has none for " + (both ? plot_->x + " or " + plot_->y : one) +
           " of 0 or less";
  }

  /// What a logarithm has no place for.
  static bool is_off(double value, PlotScale scale) {
    return scale == PlotScale::Logarithmic && value <= 0;
  }

  void place_head(double width) {
    constexpr double letter = 6.2;
    subtitle_ = wrapped(shared_text(results_->experiment()),
                        static_cast<std::size_t>((width - 2 * margin) / letter));
    double y = title_height + text_line * static_cast<double>(subtitle_.size());
    double x = margin;
    for (const std::string& name : series_) {
      constexpr double bold = 1.15;
      const double needed = bold * text_width(name) + 36;
      if (x > margin && x + needed > width - margin) {
        x = margin;
        y += legend_height;
      }
      legend_.push_back({x, y});
      x += needed;
    }
    head_ = y + (has_legend() ? legend_height : 0);
  }

  [[nodiscard]] bool has_legend() const { return series_.size() > 1 || !series_.front().empty(); }

  void draw_head(Svg& svg) const {
    svg.text({margin, 27}, plot_->title, "ink bold large");
    double y = title_height + 12;
    for (const std::string& line : subtitle_) {
      svg.text({margin, y}, line, "faint small");
      y += text_line;
    }
    if (!has_legend()) {
      return;
    }
    for (std::size_t i = 0; i < series_.size(); ++i) {
      svg.mark({legend_[i].x + 6, legend_[i].y + 10}, i, series_[i]);
      svg.text({legend_[i].x + 17, legend_[i].y + 14.5}, series_[i], "bold " + series_class(i));
    }
  }

  [[nodiscard]] std::vector<Tick> x_ticks(const AxisScale& scale) const {
    if (is_pareto()) {
      return ticks_of(scale);
    }
    std::vector<Tick> ticks;
    const std::size_t axis = axis_of(plot_->x);
    for (std::size_t value = 0; value < axes()[axis].values.size(); ++value) {
      ticks.push_back({across(axis, value), axes()[axis].values[value].label});
    }
    return ticks;
  }

  /// Of an axis the ends are its values, with a little room; of a metric round numbers.
  [[nodiscard]] AxisScale x_scale() const {
    std::vector<double> values;
    values.reserve(points_.size());
    for (const PlottedPoint& point : points_) {
      values.push_back(point.x);
    }
    if (is_pareto()) {
      return scale_of(values, plot_->x_scale);
    }
    const std::size_t axis = axis_of(plot_->x);
    AxisScale scale;
    scale.kind = axes()[axis].is_numeric() ? plot_->x_scale : PlotScale::Linear;
    const auto [min, max] = std::ranges::minmax(values);
    constexpr double room = 0.04;
    if (scale.kind == PlotScale::Logarithmic) {
      const double factor = max > min ? std::pow(max / min, room) : 2;
      scale.low = min / factor;
      scale.high = max * factor;
    } else {
      const double more = max > min ? room * (max - min) : 1;
      scale.low = min - more;
      scale.high = max + more;
    }
    return scale;
  }

  void draw_panel(Svg& svg, Frame frame, std::size_t panel) const {
    std::vector<double> heights;
    heights.reserve(points_.size());
    for (const PlottedPoint& point : points_) {
      heights.push_back(point.y);
    }
    AxisScale x = x_scale();
    AxisScale y = scale_of(heights, plot_->y_scale);
    place(frame, x, y);
    frame.x_heading = is_pareto() ? metric_heading(plot_->x) : plot_->x;
    frame.y_heading = metric_heading(plot_->y);
    draw_frame(svg, frame, x, x_ticks(x), y);
    if (is_pareto()) {
      draw_front(svg, frame, x, y);
    } else {
      draw_curves(svg, panel, x, y);
    }
    for (const PlottedPoint& point : points_) {
      if (point.panel == panel) {
        svg.mark({x.at(point.x), y.at(point.y)}, point.series, title_of(point));
      }
    }
  }

  [[nodiscard]] std::string title_of(const PlottedPoint& point) const {
    std::string title =
        point_text(results_->experiment(), results_->loaded->points[point.result->index]);
    if (is_pareto()) {
      title += fmt::format(": {} {}", plot_->x, metric_text(point.x));
    }
    return title + fmt::format("{} {} {}", is_pareto() ? "," : ":", plot_->y, metric_text(point.y));
  }

  void draw_curves(Svg& svg, std::size_t panel, const AxisScale& x, const AxisScale& y) const {
    for (std::size_t series = 0; series < series_.size(); ++series) {
      std::vector<PlottedPoint> curve;
      std::ranges::copy_if(points_, std::back_inserter(curve), [&](const PlottedPoint& point) {
        return point.panel == panel && point.series == series;
      });
      std::ranges::stable_sort(curve, {}, &PlottedPoint::x);
      std::string data;
      for (const PlottedPoint& point : curve) {
        data +=
            fmt::format("{}{:.1f} {:.1f}", data.empty() ? "M" : "L", x.at(point.x), y.at(point.y));
      }
      if (!data.empty()) {
        svg.path(data, 2, "curve " + series_class(series), series_[series]);
      }
    }
  }

  /// Stairs along the front: below and beside them everything is bettered by a point on it.
  void draw_front(Svg& svg, const Frame& frame, const AxisScale& x, const AxisScale& y) const {
    std::vector<ParetoPoint> figures;
    figures.reserve(points_.size());
    for (const PlottedPoint& point : points_) {
      figures.push_back({point.x, point.y});
    }
    const std::vector<bool> on_front = pareto_front(figures, plot_->x_better, plot_->y_better);
    std::vector<PlottedPoint> front;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (on_front[i]) {
        front.push_back(points_[i]);
      }
    }
    std::ranges::stable_sort(front, {}, &PlottedPoint::x);
    const bool from_left = plot_->x_better == Better::Lower;
    std::string data;
    for (std::size_t i = 0; i < front.size(); ++i) {
      const double across = x.at(front[i].x);
      const double height = y.at(front[i].y);
      if (i == 0) {
        data = fmt::format("M{:.1f} {:.1f}", across, height);
      } else {
        data += from_left ? fmt::format("H{:.1f}V{:.1f}", across, height)
                          : fmt::format("V{:.1f}H{:.1f}", height, across);
      }
    }
    svg.path(data, 1.5, "front", "front");
    draw_labels(svg, frame, front, x, y);
  }

  /// What is on the front is named, where there is room above it or below.
  void draw_labels(Svg& svg, const Frame& frame, const std::vector<PlottedPoint>& front,
                   const AxisScale& x, const AxisScale& y) const {
    std::vector<std::string> names;
    for (const Axis& axis : axes()) {
      if (std::ranges::find(plot_->series, axis.name) == plot_->series.end()) {
        names.push_back(axis.name);
      }
    }
    std::vector<Box> taken;
    taken.reserve(points_.size());
    for (const PlottedPoint& point : points_) {
      taken.push_back(Box::around({x.at(point.x), y.at(point.y)}));
    }
    for (const PlottedPoint& point : front) {
      const std::string label = labels(*point.result, names);
      const SvgPoint at{x.at(point.x), y.at(point.y)};
      const double width = text_width(label);
      for (const SvgPoint corner :
           {SvgPoint{at.x - width - 8, at.y - 18}, SvgPoint{at.x + 8, at.y + 6}}) {
        const Box box{corner, {width, Box::text_height}};
        const bool is_inside = box.corner.x > frame.corner.x &&
                               box.corner.x + width < frame.corner.x + frame.size.width &&
                               box.corner.y + Box::text_height < frame.corner.y + frame.size.height;
        if (is_inside &&
            std::ranges::none_of(taken, [&](const Box& other) { return box.overlaps(other); })) {
          svg.text({corner.x, corner.y + 11}, label, "faint small");
          taken.push_back(box);
          break;
        }
      }
    }
  }

  const SweepResults* results_;
  const PlotSpec* plot_;
  std::vector<PlottedPoint> points_;
  std::vector<std::string> series_;
  std::vector<std::string> panels_;
  std::size_t left_out_ = 0;  ///< of the scales
  std::vector<std::string> subtitle_;
  std::vector<SvgPoint> legend_;
  double head_ = 0;
};

}  // namespace

SweepPlot plot_sweep(const SweepResults& results) {
  if (results.experiment().plot->kind == PlotKind::HeatMap) {
    return {plot_heat_map(results), {}};
  }
  Plot plot(results);
  std::string note = plot.note();
  return {plot.draw(), std::move(note)};
}

}  // namespace collsim
