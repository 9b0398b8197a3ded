#include "tools/plot_frame.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "study/job_keys.hpp"
#include "tools/render_sweep.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr std::array<double, 3> round_digits{1, 2, 5};

/// The greatest of 1, 2, 5, 10, 20, … (and 0.5, 0.2, …) that is at most the value, or the least that is at least it.
double round_below(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  double found = power;
  for (const double digit : round_digits) {
    if (digit * power <= value * (1 + 1e-12)) {
      found = digit * power;
    }
  }
  return found;
}

double round_above(double value) {
  const double below = round_below(value);
  if (below >= value * (1 - 1e-12)) {
    return below;
  }
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double digit : round_digits) {
    if (digit * power > below * (1 + 1e-12)) {
      return digit * power;
    }
  }
  return 10 * power;
}

double linear_step(double span) {
  constexpr double most_ticks = 6;
  return round_above(span / most_ticks);
}

}  // namespace

const std::string_view plot_style =
    ".curve{fill:none;stroke-opacity:.75}.front{fill:none;stroke:#8c959f}.edge{stroke:#8c959f}\n"
    "@media (prefers-color-scheme:dark){.front,.edge{stroke:#6e7681}}\n";

double AxisScale::at(double value) const {
  const double part = kind == PlotScale::Logarithmic ? std::log(value / low) / std::log(high / low)
                                                     : (value - low) / (high - low);
  return from + part * (to - from);
}

AxisScale scale_of(std::span<const double> values, PlotScale kind) {
  COLLSIM_ENSURE(!values.empty(), "a scale has values");
  const auto [min, max] = std::ranges::minmax(values);
  AxisScale scale;
  scale.kind = kind;
  if (kind == PlotScale::Logarithmic) {
    COLLSIM_ENSURE(min > 0, "what is on a logarithmic scale is above 0");
    scale.low = round_below(min);
    scale.high = round_above(max);
    if (scale.high <= scale.low) {
      scale.high = 2 * scale.low;
    }
    return scale;
  }
  const double low = std::min(min, 0.0);
  const double span = max > low ? max - low : 1;
  const double step = linear_step(span);
  scale.low = step * std::floor(low / step);
  scale.high = step * std::ceil((low + span) / step - 1e-9);
  return scale;
}

std::vector<Tick> ticks_of(const AxisScale& scale) {
  std::vector<Tick> ticks;
  const auto add = [&ticks](double value) { ticks.push_back({value, metric_text(value)}); };
  if (scale.kind == PlotScale::Linear) {
    const double step = linear_step(scale.high - scale.low);
    const auto count = static_cast<int>(std::llround((scale.high - scale.low) / step));
    for (int i = 0; i <= count; ++i) {
      add(scale.low + step * i);
    }
    return ticks;
  }
  const double decades = std::log10(scale.high / scale.low);
  constexpr double few = 2.5;
  constexpr double many = 8;
  for (int power = static_cast<int>(std::floor(std::log10(scale.low)));
       power <= static_cast<int>(std::ceil(std::log10(scale.high))); ++power) {
    for (const double digit : round_digits) {
      const double value = digit * std::pow(10.0, power);
      const bool is_wanted = digit == 1 ? decades <= many || power % 2 == 0 : decades <= few;
      if (is_wanted && value >= scale.low * (1 - 1e-9) && value <= scale.high * (1 + 1e-9)) {
        add(value);
      }
    }
  }
  return ticks;
}

void place(const Frame& frame, AxisScale& x, AxisScale& y) {
  x.from = frame.corner.x;
  x.to = frame.corner.x + frame.size.width;
  y.from = frame.corner.y + frame.size.height;
  y.to = frame.corner.y;
}

void draw_frame(Svg& svg, const Frame& frame, const AxisScale& x, std::span<const Tick> x_ticks,
                const AxisScale& y) {
  const double bottom = frame.corner.y + frame.size.height;
  const double right = frame.corner.x + frame.size.width;
  for (const Tick& tick : ticks_of(y)) {
    const double height = y.at(tick.value);
    svg.line({frame.corner.x, height}, {right, height}, "grid");
    svg.text({frame.corner.x - 8, height + 4}, tick.label, "faint small", Anchor::End);
  }
  double last = frame.corner.x - frame_left;
  for (const Tick& tick : x_ticks) {
    const double across = x.at(tick.value);
    svg.line({across, bottom}, {across, bottom + 4}, "edge");
    const double half = text_width(tick.label) / 2;
    if (across - half > last + 6) {
      svg.text({across, bottom + 18}, tick.label, "faint small", Anchor::Middle);
      last = across + half;
    }
  }
  svg.line({frame.corner.x, bottom}, {right, bottom}, "edge");
  if (!frame.title.empty()) {
    svg.text({frame.corner.x, frame.corner.y - 28}, frame.title, "ink bold");
  }
  svg.text({frame.corner.x - frame_left + 8, frame.corner.y - 11}, frame.y_heading, "faint small");
  svg.text({frame.corner.x + frame.size.width / 2, bottom + 37}, frame.x_heading, "faint small",
           Anchor::Middle);
}

std::string panel_title(const Axis& axis, const std::string& label) {
  return axis.is_numeric() ? axis.name + " " + label : label;
}

std::string shared_text(const Experiment& experiment) {
  std::string text;
  const auto value_of = [&](std::string_view key) {
    const auto found = std::ranges::find(experiment.base, key, &Assignment::key);
    return found == experiment.base.end() ? std::string() : found->value;
  };
  text = value_of("collective");
  if (const std::string bytes = value_of("bytes"); !bytes.empty()) {
    text += (text.empty() ? "" : " of ") + bytes;
  }
  if (const std::string cluster = value_of("cluster"); !cluster.empty()) {
    text += (text.empty() ? "" : " on ") + cluster;
  }
  for (const Assignment& one : experiment.base) {
    if (one.key != "collective" && one.key != "bytes" && one.key != "cluster") {
      const bool is_setting = one.key.starts_with(setting_prefix);
      text += (text.empty() ? "" : ", ") +
              (is_setting ? one.key.substr(setting_prefix.size()) : one.key) + " " + one.value;
    }
  }
  return text;
}

}  // namespace collsim
