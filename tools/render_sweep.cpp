#include "tools/render_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "study/point_metrics.hpp"
#include "tools/format_text.hpp"
#include "tools/json_text.hpp"
#include "tools/render_csv.hpp"
#include "tools/text_table.hpp"

namespace collsim {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t text_width = 118;

std::string cell(const std::string& name, const std::optional<double>& value) {
  if (!value) {
    return "-";
  }
  const bool is_share = name == "efficiency" || name.ends_with("_share");
  return is_share ? human_percent(*value) : metric_text(*value);
}

TextTable table_of(const SweepResults& results) {
  const Experiment& experiment = results.experiment();
  TextTable table;
  for (const Axis& axis : experiment.axes) {
    table.add_column(axis.name, axis.is_numeric() ? Align::Right : Align::Left);
  }
  for (const std::string& name : experiment.metrics) {
    table.add_column(metric_heading(name));
  }
  for (const PointResult& point : results.points) {
    if (point.failed()) {
      continue;
    }
    std::vector<std::string> cells;
    for (std::size_t axis = 0; axis < experiment.axes.size(); ++axis) {
      cells.push_back(results.value(point, axis).label);
    }
    for (const std::string& name : experiment.metrics) {
      cells.push_back(cell(name, results.metric(point, name)));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

std::string indented(const std::string& text) {
  std::string lines = "  ";
  for (const char c : text) {
    lines += c;
    if (c == '\n') {
      lines += "  ";
    }
  }
  return lines;
}

/// Each message once, with the points that it is about.
std::string failures_text(const SweepResults& results) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> messages;
  for (const PointResult& point : results.points) {
    if (!point.failed()) {
      continue;
    }
    const auto known = std::ranges::find(messages, point.failure,
                                         &std::pair<std::string, std::vector<std::size_t>>::first);
    if (known == messages.end()) {
      messages.push_back({point.failure, {point.index}});
    } else {
      known->second.push_back(point.index);
    }
  }
  constexpr std::size_t most_shown = 5;
  std::string text;
  for (const auto& [message, points] : messages) {
    text += "\n";
    for (std::size_t i = 0; i < std::min(points.size(), most_shown); ++i) {
      text +=
          "failed: " + point_text(results.experiment(), results.loaded->points[points[i]]) + "\n";
    }
    if (points.size() > most_shown) {
      text += fmt::format("failed: {} more\n", grouped(points.size() - most_shown));
    }
    text += indented(message) + "\n";
  }
  return text;
}

Json axes_json(const SweepResults& results, const PointResult& point) {
  Json json = Json::object();
  for (std::size_t axis = 0; axis < results.experiment().axes.size(); ++axis) {
    json[results.experiment().axes[axis].name] = results.value(point, axis).label;
  }
  return json;
}

/// As json_text prints an element of a list that is a key's value.
std::string nested(const Json& json) {
  std::string lines = "\n    ";
  for (const char c : json_text(json)) {
    lines += c;
    if (c == '\n') {
      lines += "    ";
    }
  }
  return lines.substr(0, lines.find_last_not_of(" \n") + 1);
}

}  // namespace

std::string metric_text(double value) {
  constexpr int digits = 4;
  constexpr double least = 1e-4;
  const double size = std::abs(value);
  if (size != 0 && size < least) {
    return fmt::format("{:.3g}", value);
  }
  const int before = size < 1 ? 0 : static_cast<int>(std::floor(std::log10(size))) + 1;
  if (value == std::floor(value) || before >= digits) {
    constexpr double most = 1e18;
    return size < most
               ? (value < 0 ? "-" : "") + grouped(static_cast<std::uint64_t>(std::llround(size)))
               : fmt::format("{:.4g}", value);
  }
  return fmt::format("{:.4g}", value);
}

std::string metric_heading(const std::string& name) {
  const std::vector<MetricDefinition>& definitions = metric_definitions();
  const auto found = std::ranges::find(definitions, name, &MetricDefinition::name);
  return found == definitions.end() ? name : found->heading;
}

std::string render_sweep(const SweepResults& results) {
  const Experiment& experiment = results.experiment();
  const std::size_t failures = results.failures();
  std::string text = experiment.name + ": " + counted(results.points.size(), "point");
  text += failures == 0 ? "\n" : fmt::format(", {} failed\n", grouped(failures));
  if (!experiment.description.empty()) {
    for (const std::string& line : wrapped(experiment.description, text_width)) {
      text += "  " + line + "\n";
    }
  }
  const TextTable table = table_of(results);
  if (!table.empty()) {
    text += "\n" + table.render("  ");
  }
  text += failures_text(results);
  for (const std::string& warning : falling_warnings(results)) {
    text += "\nwarning: " + warning;
  }
  return text.ends_with('\n') ? text : text + "\n";
}

std::string render_sweep_json(const SweepResults& results) {
  const Experiment& experiment = results.experiment();
  Json document{{"schema", "collsim/results/1"},
                {"experiment",
                 {{"name", experiment.name},
                  {"digest", results.digest},
                  {"points", results.points.size()},
                  {"failed", results.failures()}}},
                {"rows", Json::array()}};
  std::string rows;
  for (const PointResult& point : results.points) {
    if (point.failed()) {
      document["failed"].push_back({{"point", point.index},
                                    {"axes", axes_json(results, point)},
                                    {"message", point.failure},
                                    {"exit_code", point.exit_code}});
      continue;
    }
    Json row = results.row(point);
    row["point"] = point.index;
    row["axes"] = axes_json(results, point);
    for (const std::string& name : experiment.metrics) {
      const std::optional<double> value = results.metric(point, name);
      row["metrics"][name] = value ? Json(*value) : Json(nullptr);
    }
    rows += (rows.empty() ? "" : ",") + nested(row);
  }
  for (const std::string& warning : falling_warnings(results)) {
    document["warnings"].push_back(warning);
  }
  // Rows are printed one by one: as values a million of them would not fit into memory.
  std::string text = json_text(document);
  if (!rows.empty()) {
    const std::string_view none = "\"rows\": []";
    text.replace(text.find(none), none.size(), "\"rows\": [" + rows + "\n  ]");
  }
  return text;
}

std::string render_sweep_csv(const SweepResults& results) {
  const Experiment& experiment = results.experiment();
  std::string text;
  for (const Axis& axis : experiment.axes) {
    text += axis.name + ",";
  }
  for (const std::string& name : experiment.metrics) {
    text += name + ",";
  }
  text += "failure\n";
  for (const PointResult& point : results.points) {
    for (std::size_t axis = 0; axis < experiment.axes.size(); ++axis) {
      text += csv_field(results.value(point, axis).label) + ",";
    }
    for (const std::string& name : experiment.metrics) {
      const std::optional<double> value = results.metric(point, name);
      text += (value ? fmt::format("{}", *value) : "") + ",";
    }
    text += csv_field(point.failure) + "\n";
  }
  return text;
}

}  // namespace collsim
