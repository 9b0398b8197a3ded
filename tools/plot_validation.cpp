// Small multiples: a panel for each machine, collective and number of ranks. Above, times over sizes, both logarithmic:
// what was measured as dots, what is predicted as a line through the same sizes. Below it the errors, since on a
// logarithmic axis ten percent are a hair. All panels have one axis of sizes and one of errors; those of a row one of
// times.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/format_text.hpp"
#include "tools/plot_panels.hpp"
#include "tools/render_validation.hpp"
#include "tools/svg.hpp"
#include "tools/text_table.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr double margin = 18;
constexpr double axis_width = 58;  ///< of the words left of a row
constexpr double plot_width = 256;
constexpr double gap = 22;
constexpr double times_height = 150;
constexpr double errors_height = 62;
constexpr double between = 16;  ///< times and errors
constexpr double panel_head = 26;
constexpr double panel_foot = 30;  ///< words below, and space
constexpr double machine_head = 26;
constexpr double least_width = 700;
constexpr double dot = 2.6;
constexpr double legend_left = margin + 256;  ///< behind measured, predicted, apart

constexpr std::string_view style =
    ".curve{fill:none;stroke-opacity:.7}.dot{fill-opacity:.85}.hollow{fill:none}.axis{stroke:#"
    "8c959f}\n"
    "@media (prefers-color-scheme:dark){.axis{stroke:#6e7681}}\n";

/// From values to places, logarithmic.
struct LogScale {
  double low = 0;  ///< logarithms
  double high = 1;
  double from = 0;
  double to = 1;

  [[nodiscard]] double at(double value) const {
    return from + (std::log10(value) - low) / (high - low) * (to - from);
  }
};

/// The errors that the strips hold: those of most rows; the others stand at the edge.
double error_limit(const ValidationView& view) {
  std::vector<double> errors;
  for (const ValidatedRun& run : view.validation.runs) {
    for (const ValidatedRow& row : run.rows) {
      errors.push_back(std::abs(row.error));
    }
  }
  std::ranges::sort(errors);
  constexpr double most = 0.95;
  const double held =
      errors[static_cast<std::size_t>(most * static_cast<double>(errors.size() - 1))];
  for (const double limit : {0.1, 0.2, 0.5}) {
    if (held <= limit) {
      return limit;
    }
  }
  return 1;
}

double microseconds(Duration time) { return static_cast<double>(time.count()) / 1e6; }

std::string dot_path(SvgPoint at, double radius) {
  return fmt::format("M{:.1f} {:.1f}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0-{d} 0z", at.x - radius, at.y,
                     fmt::arg("r", radius), fmt::arg("d", 2 * radius));
}

std::string title_of(const ValidatedRow& row) {
  std::string text =
      fmt::format("{}: measured {}, predicted {} ({}), {} {}", human_bytes(row.row->bytes),
                  human_time(row.row->time), human_time(row.predicted), signed_percent(row.error),
                  row.algorithm, row.protocol);
  if (row.row->in_place) {
    text += *row.row->in_place == InPlace::Yes ? ", in place" : ", out of place";
  }
  return text + (row.apart == Apart::No ? "" : ", apart");
}

class Picture {
 public:
  explicit Picture(const ValidationView& view)
      : view_(&view),
        rows_(panel_rows(view.validation.runs)),
        series_(view.validation.runs, rows_),
        limit_(error_limit(view)) {
    std::size_t columns = 0;
    for (const PanelRow& row : rows_) {
      columns = std::max(columns, row.panels.size());
      bottom_ += times_height + between + errors_height + panel_head + panel_foot +
                 (row.opens_machine ? machine_head : 0);
    }
    width_ = std::max(least_width, 2 * margin + axis_width +
                                       static_cast<double>(columns) * (plot_width + gap) - gap);
    constexpr double letter = 6.4;
    subtitle_ = wrapped(subtitle(), static_cast<std::size_t>((width_ - 2 * margin) / letter));
    top_ = 50 + 17 * static_cast<double>(subtitle_.size());
    place_legend();
    sizes_ = size_scale();
  }

  std::string draw() {
    Svg svg({width_, top_ + bottom_ + margin}, "Predicted and measured", subtitle(), style);
    draw_head(svg);
    double y = top_;
    for (const PanelRow& row : rows_) {
      if (row.opens_machine) {
        draw_machine(svg, row.panels.front().table(), y);
        y += machine_head;
      }
      draw_row(svg, row, y + panel_head);
      y += times_height + between + errors_height + panel_head + panel_foot;
    }
    return std::move(svg).finish();
  }

 private:
  [[nodiscard]] std::string subtitle() const {
    const ErrorSummary& errors = view_->scores.summary.all.errors;
    if (errors.points == 0) {
      return "All rows stand apart: suspect, or small and launched in a way that is not said";
    }
    return fmt::format(
        "Median error {}, 90th percentile {} of {} rows (the best straight lines: {}). Below each "
        "panel: "
        "predicted / measured - 1",
        human_percent(errors.median_abs), human_percent(errors.p90_abs), grouped(errors.points),
        human_percent(view_->scores.rival.front().all.errors.median_abs));
  }

  [[nodiscard]] LogScale size_scale() const {
    double low = 1e30;
    double high = 1;
    for (const ValidatedRun& run : view_->validation.runs) {
      for (const ValidatedRow& row : run.rows) {
        const auto bytes = static_cast<double>(std::max<std::int64_t>(row.row->bytes.count(), 1));
        low = std::min(low, bytes);
        high = std::max(high, bytes);
      }
    }
    constexpr double room = 1.5;
    return {std::log10(low / room), std::log10(high * room), 0, plot_width};
  }

  [[nodiscard]] static LogScale time_scale(const PanelRow& row) {
    double low = 1e30;
    double high = 0;
    for (const Panel& panel : row.panels) {
      for (const ValidatedRun* const run : panel.runs) {
        for (const ValidatedRow& each : run->rows) {
          low = std::min({low, microseconds(each.row->time), microseconds(each.predicted)});
          high = std::max({high, microseconds(each.row->time), microseconds(each.predicted)});
        }
      }
    }
    constexpr double room = 0.12;
    low = std::log10(low) - room;
    high = std::log10(high) + room;
    // At least one power of ten to read.
    low = std::floor(high) < std::ceil(low) ? std::floor(low) : low;
    return {low, high, times_height, 0};
  }

  /// Words from left to right, and on in the next line.
  void place_legend() {
    SvgPoint at{legend_left, top_ + 6};
    for (const std::string& name : series_.legend()) {
      const double width = text_width(name) + 20;
      if (at.x > margin && at.x + width > width_ - margin) {
        at = {margin, at.y + 17};
      }
      legend_.push_back(at);
      at.x += width;
    }
    top_ = at.y + 18;
  }

  void draw_head(Svg& svg) const {
    svg.text({margin, 30}, "Predicted and measured", "ink bold large");
    double y = 50;
    for (const std::string& line : subtitle_) {
      svg.text({margin, y}, line, "faint small");
      y += 17;
    }
    svg.path(dot_path({margin + 4, y + 1.5}, dot), 1, "faint", "");
    svg.text({margin + 14, y + 6}, "measured", "faint small");
    svg.path(fmt::format("M{:.1f} {:.1f}h20", margin + 88, y + 1.5), 1.8, "curve axis", "");
    svg.text({margin + 114, y + 6}, "predicted", "faint small");
    svg.path(dot_path({margin + 192, y + 1.5}, dot), 1.2, "hollow axis", "");
    svg.text({margin + 202, y + 6}, "apart", "faint small");
    const std::vector<std::string> names = series_.legend();
    for (std::size_t i = 0; i < names.size(); ++i) {
      svg.text(legend_[i], names[i], "bold small " + PlotSeries::colour(i));
    }
  }

  void draw_machine(Svg& svg, const MeasuredTable& table, double y) const {
    const auto of = std::ranges::find(view_->machines, table.machine, &ValidatedMachine::name);
    std::string text = of->name + " on " + of->cluster + ", parameters " + of->parameters.name +
                       " (" +
                       (of->parameters.tier ? std::string(name_of(*of->parameters.tier))
                                            : of->parameters.provenance) +
                       ")";
    for (const LaunchOffset& offset : view_->validation.offsets) {
      if (offset.machine == of->name) {
        text += fmt::format(", launch {:+.2f} us", microseconds(offset.more));
      }
    }
    svg.text({margin, y + 16}, text, "ink bold");
  }

  void draw_row(Svg& svg, const PanelRow& row, double y) const {
    LogScale times = time_scale(row);
    times.from += y;
    times.to += y;
    const double strip = y + times_height + between;
    double left = margin + axis_width;
    for (std::size_t i = 0; i < row.panels.size(); ++i) {
      draw_axes(svg, times, left, strip, i == 0);
      draw_panel(svg, row.panels[i], times, left, strip);
      left += plot_width + gap;
    }
  }

  void draw_axes(Svg& svg, const LogScale& times, double left, double strip, bool first) const {
    for (int power = static_cast<int>(std::ceil(times.low));
         power <= static_cast<int>(std::floor(times.high)); ++power) {
      const double y = times.at(std::pow(10.0, power));
      svg.line({left, y}, {left + plot_width, y}, "grid");
      if (first) {
        const Duration time(std::llround(std::pow(10.0, power) * 1e6));
        svg.text({left - 7, y + 4}, human_time(time), "faint small", Anchor::End);
      }
    }
    const auto level = [&](double part) { return strip + errors_height * (1 - part) / 2; };
    svg.rectangle({left, level(0.5)}, {plot_width, errors_height / 2}, "zone");
    for (const double part : {-1.0, 0.0, 1.0}) {
      svg.line({left, level(part)}, {left + plot_width, level(part)}, part == 0 ? "axis" : "grid");
      if (first) {
        const std::string text = part == 0 ? "0" : fmt::format("{:+.0f} %", 100 * limit_ * part);
        svg.text({left - 7, level(part) + 4}, text, "faint small", Anchor::End);
      }
    }
    // A factor of 64 between words: 1 KiB, 64 KiB, 4 MiB, 256 MiB, 16 GiB.
    for (double bytes = 16; std::log10(bytes) < sizes_.high; bytes *= 64) {
      if (std::log10(bytes) < sizes_.low) {
        continue;
      }
      const double x = left + sizes_.at(bytes);
      svg.line({x, times.to}, {x, times.from}, "grid");
      svg.line({x, strip}, {x, strip + errors_height}, "grid");
      svg.text({x, strip + errors_height + 14},
               human_bytes(Bytes(static_cast<std::int64_t>(bytes))), "faint small", Anchor::Middle);
    }
  }

  void draw_panel(Svg& svg, const Panel& panel, const LogScale& times, double left,
                  double strip) const {
    svg.text({left, times.to - 8}, what_ran(*panel.table().run), "ink bold small");
    std::vector<double> errors;
    for (const ValidatedRun* const run : panel.runs) {
      for (const ValidatedRow& row : run->rows) {
        if (row.apart == Apart::No) {
          errors.push_back(row.error);
        }
      }
    }
    if (!errors.empty()) {
      // Curves rise: this corner is free.
      svg.text({left + 8, times.to + 18}, "median " + human_percent(summarize(errors).median_abs),
               "faint small");
    }
    for (const ValidatedRun* const run : panel.runs) {
      const std::string colour = series_.colour(*run);
      draw_curves(svg, *run, times, left, colour);
      for (const ValidatedRow& row : run->rows) {
        const double x = left + x_of(row);
        const std::string title = title_of(row);
        draw_dot(svg, row, {x, times.at(microseconds(row.row->time))}, colour, title);
        draw_error(svg, row, {x, strip}, colour, title);
      }
    }
  }

  [[nodiscard]] double x_of(const ValidatedRow& row) const {
    return sizes_.at(static_cast<double>(std::max<std::int64_t>(row.row->bytes.count(), 1)));
  }

  /// One line in place and one out of place.
  void draw_curves(Svg& svg, const ValidatedRun& run, const LogScale& times, double left,
                   const std::string& colour) const {
    std::map<std::optional<InPlace>, std::map<Bytes, const ValidatedRow*>> curves;
    for (const ValidatedRow& row : run.rows) {
      curves[row.row->in_place].emplace(row.row->bytes, &row);
    }
    for (const auto& [in_place, rows] : curves) {
      std::string path;
      for (const auto& [bytes, row] : rows) {
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', left + x_of(*row),
                            times.at(microseconds(row->predicted)));
      }
      svg.path(path, 1.6, "curve " + colour, "predicted");
    }
  }

  static void draw_dot(Svg& svg, const ValidatedRow& row, SvgPoint at, const std::string& colour,
                       const std::string& title) {
    const bool apart = row.apart != Apart::No;
    svg.path(dot_path(at, dot), apart ? 1.2 : 0, apart ? "hollow " + colour : "dot " + colour,
             title);
  }

  /// Beyond the edge: an arrow head there.
  void draw_error(Svg& svg, const ValidatedRow& row, SvgPoint corner, const std::string& colour,
                  const std::string& title) const {
    const double part = row.error / limit_;
    const double y = corner.y + errors_height * (1 - std::clamp(part, -1.0, 1.0)) / 2;
    if (std::abs(part) <= 1) {
      draw_dot(svg, row, {corner.x, y}, colour, title);
      return;
    }
    const bool apart = row.apart != Apart::No;
    svg.path(fmt::format("M{:.1f} {:.1f}l-3.5 {s}h7z", corner.x, part > 0 ? y - 3 : y + 3,
                         fmt::arg("s", part > 0 ? 6 : -6)),
             apart ? 1.2 : 0, apart ? "hollow " + colour : colour, title);
  }

  const ValidationView* view_;
  std::vector<PanelRow> rows_;
  PlotSeries series_;
  double limit_;
  double width_ = 0;
  double top_ = 0;
  double bottom_ = 0;
  std::vector<std::string> subtitle_;
  std::vector<SvgPoint> legend_;
  LogScale sizes_;
};

}  // namespace

std::string plot_validation(const ValidationView& view) {
  COLLSIM_ENSURE(!view.validation.runs.empty(), "there is something to draw");
  return Picture(view).draw();
}

}  // namespace collsim
