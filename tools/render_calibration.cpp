#include "tools/render_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "tools/format_text.hpp"
#include "tools/json_text.hpp"
#include "tools/text_table.hpp"
#include "validate/error_statistics.hpp"

namespace collsim {

namespace {

using Json = nlohmann::ordered_json;

std::string value_text(CostItem item, std::int64_t units) {
  switch (definition_of(item).unit) {
    case CostUnit::Picoseconds:
      return human_time(Duration(units));
    case CostUnit::RateUnits:
      return human_bandwidth(Bandwidth::from_units(units));
    case CostUnit::Bytes:
      return human_bytes(Bytes(units));
    case CostUnit::Millionths:
      return fmt::format("{:.3f}", static_cast<double>(units) / 1e6);
  }
  return "";
}

/// In the unit of JSON and CSV: ps, B/s, or of one.
double plain_value(CostItem item, std::int64_t units) {
  switch (definition_of(item).unit) {
    case CostUnit::Picoseconds:
    case CostUnit::Bytes:
      return static_cast<double>(units);
    case CostUnit::RateUnits:
      return Bandwidth::from_units(units).as_bytes_per_second();
    case CostUnit::Millionths:
      return static_cast<double>(units) / 1e6;
  }
  return 0;
}

std::string_view plain_unit(CostItem item) {
  switch (definition_of(item).unit) {
    case CostUnit::Picoseconds:
      return "ps";
    case CostUnit::RateUnits:
      return "B/s";
    case CostUnit::Bytes:
      return "B";
    case CostUnit::Millionths:
      return "1";
  }
  return "";
}

std::string error_text(const ErrorSummary& summary) {
  return fmt::format("{:.1f} %", 100 * summary.median_abs);
}

std::vector<std::string> summary_cells(const std::string& name, const ErrorSummary& summary) {
  return {name, std::to_string(summary.points), error_text(summary),
          fmt::format("{:.1f} %", 100 * summary.p90_abs),
          fmt::format("{:+.1f} %", 100 * summary.bias)};
}

TextTable summary_table(const std::string& heading) {
  TextTable table;
  table.add_column(heading, Align::Left);
  table.add_column("points");
  table.add_column("median");
  table.add_column("90th pct");
  table.add_column("bias");
  return table;
}

/// Errors of the calls that a key groups, in the order of the keys' first calls.
struct NamedErrors {
  std::string name;
  std::vector<double> errors;
};
std::vector<NamedErrors> grouped_errors(
    const CalibrationReport& report,
    const std::function<std::string(const MeasuredCall&)>& key_of) {
  std::vector<NamedErrors> groups;
  for (std::size_t i = 0; i < report.calls->size(); ++i) {
    const std::string key = key_of((*report.calls)[i]);
    auto group = std::ranges::find(groups, key, &NamedErrors::name);
    if (group == groups.end()) {
      groups.push_back({key, {}});
      group = groups.end() - 1;
    }
    group->errors.push_back(report.calibration.errors[i]);
  }
  return groups;
}

std::vector<NamedErrors> by_collective(const CalibrationReport& report) {
  return grouped_errors(
      report, [](const MeasuredCall& call) { return std::string(name_of(call.call.kind)); });
}

std::vector<NamedErrors> by_ranks(const CalibrationReport& report) {
  return grouped_errors(
      report, [](const MeasuredCall& call) { return std::to_string(call.call.ranks) + " ranks"; });
}

std::vector<NamedErrors> by_band(const CalibrationReport& report) {
  std::vector<NamedErrors> bands;
  const std::vector<NamedErrors> found = grouped_errors(report, [](const MeasuredCall& call) {
    return std::string(name_of(band_of(call.row->bytes)));
  });
  for (const SizeBand band : size_bands) {
    const auto group = std::ranges::find(found, std::string(name_of(band)), &NamedErrors::name);
    if (group != found.end()) {
      bands.push_back(*group);
    }
  }
  return bands;
}

/// All errors of a kind of folds.
std::vector<double> errors_of(const std::vector<Fold>& folds, LeftOut kind) {
  std::vector<double> errors;
  for (const Fold& fold : folds) {
    if (fold.kind == kind) {
      errors.insert(errors.end(), fold.errors.begin(), fold.errors.end());
    }
  }
  return errors;
}

std::string parameters_text(const CalibrationReport& report) {
  TextTable table;
  table.add_column("parameter", Align::Left);
  table.add_column("start");
  table.add_column("fitted");
  table.add_column("± (1 s.e.)");
  table.add_column("", Align::Left, 44);
  for (const FittedParameter& parameter : report.calibration.fitted) {
    std::string remark = parameter.at_bound ? "at its bound" : "";
    for (const CostItem follower : parameter.followers) {
      remark += (remark.empty() ? "with it " : ", ") + name_of(follower);
    }
    table.add_row({name_of(parameter.item), value_text(parameter.item, parameter.start.units),
                   value_text(parameter.item, parameter.value.units),
                   fmt::format("{:.0f} %", 100 * parameter.value.standard_error), remark});
  }
  return table.render("  ");
}

std::string doubts_text(const CalibrationReport& report) {
  std::string text;
  if (!report.calibration.undecided.empty()) {
    text +=
        "\nNot decided by these data, so in the ratio of the start to another one, or left there:";
    for (const CostItem item : report.calibration.undecided) {
      text += " " + name_of(item);
    }
    text += "\n";
  }
  for (const CorrelatedParameters& pair : report.calibration.correlated) {
    text += fmt::format("Hard to tell apart: {} and {} (correlation {:+.2f})\n",
                        name_of(pair.first), name_of(pair.second), pair.correlation);
  }
  if (!report.calibration.converged) {
    text += "The fit was still gaining when it ended: more steps may do better.\n";
  }
  return text;
}

std::string folds_text(const CalibrationReport& report) {
  if (report.folds.empty()) {
    return "";
  }
  TextTable table = summary_table("left out");
  for (const LeftOut kind : all_left_out) {
    const std::vector<double> all = errors_of(report.folds, kind);
    if (all.empty()) {
      continue;
    }
    for (const Fold& fold : report.folds) {
      if (fold.kind == kind) {
        table.add_row(summary_cells(fold.group, summarize(fold.errors)));
      }
    }
    table.add_row(summary_cells("= " + std::string(name_of(kind)), summarize(all)));
  }
  return "\nPredicted without having seen it (fitted to the rest)\n" + table.render("  ");
}

Json summary_json(const ErrorSummary& summary) {
  return {{"points", summary.points},
          {"median_abs_error", summary.median_abs},
          {"p90_abs_error", summary.p90_abs},
          {"bias", summary.bias}};
}

Json groups_json(const std::vector<NamedErrors>& groups) {
  Json json = Json::object();
  for (const NamedErrors& group : groups) {
    json[group.name] = summary_json(summarize(group.errors));
  }
  return json;
}

}  // namespace

std::string render_calibration_table(const CalibrationReport& report) {
  const CalibrationRecord& record = report.record;
  const std::string calls =
      counted(record.points, "call") + " of " + counted(report.tables, "table");
  const bool any = !report.calibration.fitted.empty();
  std::string text =
      any ? fmt::format("{} ({}) fitted to {}, from {} in {} steps\n\n",
                        counted(report.calibration.fitted.size(), "parameter"),
                        name_of(report.tier), calls, report.start->name, report.calibration.steps)
          : fmt::format("{}, predicted with {} as it is: nothing is fitted\n", calls,
                        report.start->name);
  if (any) {
    text += parameters_text(report) + doubts_text(report);
  }
  TextTable table = summary_table("|predicted / measured - 1|");
  table.add_row(summary_cells("all", summarize(report.calibration.errors)));
  for (const auto& groups : {by_collective(report), by_ranks(report), by_band(report)}) {
    for (const NamedErrors& group : groups) {
      table.add_row(summary_cells(group.name, summarize(group.errors)));
    }
  }
  text += any ? "\nOn the calls it was fitted to\n" : "\n";
  text += table.render("  ");
  text += folds_text(report);
  if (!report.written.empty()) {
    text += "\nwritten to " + report.written + "\n";
  }
  return text;
}

std::string render_calibration_json(const CalibrationReport& report) {
  Json json;
  json["schema"] = "collsim/calibration/1";
  json["start"] = report.start->name;
  json["tier"] = name_of(report.tier);
  json["tables"] = report.tables;
  json["steps"] = report.calibration.steps;
  json["converged"] = report.calibration.converged;
  json["parameters"] = Json::array();
  for (const FittedParameter& parameter : report.calibration.fitted) {
    Json entry{{"name", name_of(parameter.item)},
               {"unit", plain_unit(parameter.item)},
               {"start", plain_value(parameter.item, parameter.start.units)},
               {"value", plain_value(parameter.item, parameter.value.units)},
               {"relative_standard_error", parameter.value.standard_error},
               {"at_bound", parameter.at_bound}};
    entry["followers"] = Json::array();
    for (const CostItem follower : parameter.followers) {
      entry["followers"].push_back(name_of(follower));
    }
    json["parameters"].push_back(entry);
  }
  json["undecided"] = Json::array();
  for (const CostItem item : report.calibration.undecided) {
    json["undecided"].push_back(name_of(item));
  }
  json["correlated"] = Json::array();
  for (const CorrelatedParameters& pair : report.calibration.correlated) {
    json["correlated"].push_back({{"first", name_of(pair.first)},
                                  {"second", name_of(pair.second)},
                                  {"correlation", pair.correlation}});
  }
  json["summary"] = summary_json(summarize(report.calibration.errors));
  json["summary"]["by_collective"] = groups_json(by_collective(report));
  json["summary"]["by_ranks"] = groups_json(by_ranks(report));
  json["summary"]["by_band"] = groups_json(by_band(report));
  json["left_out"] = Json::array();
  for (const Fold& fold : report.folds) {
    Json entry{{"kind", name_of(fold.kind)}, {"group", fold.group}};
    entry.update(summary_json(summarize(fold.errors)));
    json["left_out"].push_back(entry);
  }
  return json_text(json);
}

std::string render_calibration_csv(const CalibrationReport& report) {
  std::string text = "parameter,unit,start,value,relative_standard_error,at_bound\n";
  for (const FittedParameter& parameter : report.calibration.fitted) {
    text += fmt::format("{},{},{},{},{},{}\n", name_of(parameter.item), plain_unit(parameter.item),
                        plain_value(parameter.item, parameter.start.units),
                        plain_value(parameter.item, parameter.value.units),
                        parameter.value.standard_error, parameter.at_bound);
  }
  return text;
}

}  // namespace collsim
