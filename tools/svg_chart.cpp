#include "tools/svg_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "tools/svg.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr double margin = 16;
constexpr double panel_width = 340;
constexpr double panel_gap = 28;
constexpr double value_height = 17;  ///< of a mark with its text
constexpr double row_gap = 11;
constexpr double group_height = 24;  ///< its name
constexpr double header_height = 62;
constexpr double legend_height = 22;
constexpr double legend_text_factor = 1.15;  ///< bold is wider
constexpr double axis_height = 60;

/// Powers of ten that enclose all values.
struct Decades {
  int low = 0;
  int high = 1;
};

/// Absent where no value is known.
std::optional<Decades> decades_of(const ChartPanel& panel) {
  std::optional<Decades> found;
  for (const auto& row : panel.values) {
    for (const std::optional<ChartValue>& value : row) {
      if (!value || !value->value) {
        continue;
      }
      const double power = std::log10(*value->value);
      const Decades here{static_cast<int>(std::floor(power)), static_cast<int>(std::ceil(power))};
      found =
          found ? Decades{std::min(found->low, here.low), std::max(found->high, here.high)} : here;
    }
  }
  if (found) {
    found->high = std::max(found->high, found->low + 1);
  }
  return found;
}

/// Where everything stands.
class Layout {
 public:
  explicit Layout(const Chart& chart) : chart_(&chart) {
    for (const ChartRow& row : chart.rows) {
      names_width_ = std::max(names_width_, text_width(row.name));
    }
    place_legend();
    place_rows();
  }

  [[nodiscard]] SvgSize size() const {
    return {panel_left(chart_->panels.size()) - panel_gap + margin, bottom_ + margin};
  }
  [[nodiscard]] double panel_left(std::size_t panel) const {
    return margin + names_width_ + 14 + static_cast<double>(panel) * (panel_width + panel_gap);
  }
  [[nodiscard]] double row_top(std::size_t row) const { return row_top_[row]; }
  [[nodiscard]] double row_height() const {
    return value_height * static_cast<double>(chart_->series.size()) + row_gap;
  }
  [[nodiscard]] double rows_top() const { return rows_top_; }
  [[nodiscard]] double rows_bottom() const { return bottom_; }
  [[nodiscard]] SvgPoint legend(std::size_t series) const { return legend_[series]; }

  /// Whether a row is the first of its group.
  [[nodiscard]] bool opens_group(std::size_t row) const {
    return row == 0 || chart_->rows[row].group != chart_->rows[row - 1].group;
  }

 private:
  void place_legend() {
    const double right = panel_left(chart_->panels.size()) - panel_gap;
    SvgPoint at{margin, header_height};
    for (const std::string& name : chart_->series) {
      const double width = legend_text_factor * text_width(name) + 40;
      if (at.x > margin && at.x + width > right) {
        at = {margin, at.y + legend_height};
      }
      legend_.push_back(at);
      at.x += width;
    }
    rows_top_ = at.y + legend_height / 2 + axis_height;
  }

  void place_rows() {
    double y = rows_top_;
    for (std::size_t row = 0; row < chart_->rows.size(); ++row) {
      if (opens_group(row)) {
        y += group_height;
      }
      row_top_.push_back(y);
      y += row_height();
    }
    bottom_ = y;
  }

  const Chart* chart_;
  double names_width_ = 0;
  double rows_top_ = 0;
  double bottom_ = 0;
  std::vector<double> row_top_;
  std::vector<SvgPoint> legend_;
};

void draw_head(Svg& svg, const Chart& chart, const Layout& layout) {
  svg.text({margin, 28}, chart.title, "ink bold large");
  svg.text({margin, 47}, chart.subtitle, "faint small");
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const SvgPoint at = layout.legend(i);
    svg.mark({at.x + 6, at.y + 10}, i, chart.series[i]);
    svg.text({at.x + 17, at.y + 14.5}, chart.series[i], "bold " + series_class(i));
  }
}

void draw_rows(Svg& svg, const Chart& chart, const Layout& layout) {
  bool shaded = false;
  for (std::size_t row = 0; row < chart.rows.size(); ++row) {
    const double top = layout.row_top(row);
    if (layout.opens_group(row)) {
      std::size_t last = row;
      while (last + 1 < chart.rows.size() && !layout.opens_group(last + 1)) {
        ++last;
      }
      shaded = !shaded;
      const double zone_top = top - group_height;
      if (shaded) {
        svg.rectangle({margin - 8, zone_top},
                      {layout.size().width - 2 * margin + 16,
                       layout.row_top(last) + layout.row_height() - zone_top},
                      "zone");
      }
      svg.text({margin, zone_top + 16}, chart.rows[row].group, "faint small");
    }
    svg.text({margin, top + (layout.row_height() - row_gap) / 2 + 4.5}, chart.rows[row].name,
             "ink");
  }
}

void draw_value(Svg& svg, const ChartValue& value, std::size_t series, SvgPoint base, double x,
                const std::string& title) {
  if (!value.value) {
    svg.text({base.x + 4, base.y + 4}, "unknown", "small " + series_class(series));
    return;
  }
  svg.line(base, {x, base.y}, "stem " + series_class(series));
  svg.mark({x, base.y}, series, title);
  svg.text({x + 9, base.y + 4}, value.text, "small " + series_class(series));
}

/// The axis of a panel and what is on it.
class PanelDrawing {
 public:
  PanelDrawing(Svg& svg, const Chart& chart, const Layout& layout, std::size_t index)
      : svg_(&svg),
        chart_(&chart),
        layout_(&layout),
        panel_(&chart.panels[index]),
        left_(layout.panel_left(index)),
        decades_(decades_of(chart.panels[index])) {
    double widest = 0;
    for (const auto& row : panel_->values) {
      for (const std::optional<ChartValue>& value : row) {
        widest = std::max(widest, value ? text_width(value->text) : 0);
      }
    }
    right_ = left_ + panel_width - widest - 10;
  }

  void draw_axis() const {
    const double top = layout_->rows_top();
    svg_->text({left_, top - 26}, panel_->title, "ink bold");
    if (!decades_) {
      return;
    }
    constexpr double room_for_a_tick = 64;
    double last_tick = left_ - room_for_a_tick;
    for (int power = decades_->low; power <= decades_->high; ++power) {
      const double value = std::pow(10.0, power);
      const double x = place(value);
      svg_->line({x, top}, {x, layout_->rows_bottom()}, "grid");
      if (x >= last_tick + room_for_a_tick) {
        svg_->text({x, top - 6}, panel_->tick_text(value), "faint small", Anchor::Middle);
        last_tick = x;
      }
    }
  }

  void draw_values() const {
    for (std::size_t row = 0; row < chart_->rows.size(); ++row) {
      for (std::size_t series = 0; series < chart_->series.size(); ++series) {
        const std::optional<ChartValue>& value = panel_->values[row][series];
        if (!value) {
          continue;
        }
        const double y = layout_->row_top(row) + value_height * (static_cast<double>(series) + 0.5);
        const std::string title =
            chart_->series[series] + ", " + chart_->rows[row].name + ": " + value->text;
        draw_value(*svg_, *value, series, {left_, y}, value->value ? place(*value->value) : left_,
                   title);
      }
    }
  }

 private:
  [[nodiscard]] double place(double value) const {
    const double across =
        (std::log10(value) - decades_->low) / static_cast<double>(decades_->high - decades_->low);
    return left_ + across * (right_ - left_);
  }

  Svg* svg_;
  const Chart* chart_;
  const Layout* layout_;
  const ChartPanel* panel_;
  double left_;
  double right_ = 0;
  std::optional<Decades> decades_;
};

}  // namespace

std::string render_chart(const Chart& chart) {
  COLLSIM_ENSURE(!chart.series.empty() && chart.series.size() <= Svg::series_colours,
                 "a chart has as many series as there are colours, or fewer");
  for (const ChartPanel& panel : chart.panels) {
    COLLSIM_ENSURE(panel.values.size() == chart.rows.size(), "a panel has values for each row");
  }
  const Layout layout(chart);
  Svg svg(layout.size(), chart.title, chart.subtitle);
  draw_head(svg, chart, layout);
  draw_rows(svg, chart, layout);
  for (std::size_t i = 0; i < chart.panels.size(); ++i) {
    const PanelDrawing drawing(svg, chart, layout, i);
    drawing.draw_axis();
    drawing.draw_values();
  }
  return std::move(svg).finish();
}

}  // namespace collsim
