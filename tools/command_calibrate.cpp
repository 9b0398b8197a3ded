#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/io/read_costs.hpp"
#include "sim/io/write_costs.hpp"
#include "study/calibration.hpp"
#include "study/calibration_rows.hpp"
#include "study/cross_validation.hpp"
#include "tools/cli.hpp"
#include "tools/measured_tables.hpp"
#include "tools/nccl_run.hpp"
#include "tools/option_values.hpp"
#include "tools/output.hpp"
#include "tools/parallel.hpp"
#include "tools/render_calibration.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

struct CalibrateCommand {
  MeasuredTablesOptions tables;
  OutputOptions output;  ///< its file is the parameters', not the report's
  std::string start;
  std::string tier = "fitted";
  std::string description;
  std::vector<std::string> only;
  std::vector<std::string> leave_out;
};

std::vector<CostItem> items_of(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const CostDefinition& definition : cost_definitions()) {
    known.push_back(name_of(definition.item));
  }
  std::vector<CostItem> items;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end()) {
      refuse_word("--only", "parameter", name, known);
    }
    items.push_back(cost_definitions()[static_cast<std::size_t>(found - known.begin())].item);
  }
  return items;
}

std::vector<LeftOut> left_out_of(const std::vector<std::string>& names) {
  if (names.empty()) {
    return {all_left_out.begin(), all_left_out.end()};
  }
  std::vector<std::string> known{"none"};
  for (const LeftOut kind : all_left_out) {
    known.emplace_back(name_of(kind));
  }
  std::vector<LeftOut> kinds;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end()) {
      refuse_word("--leave-out", "group", name, known);
    }
    if (name == "none") {
      if (names.size() > 1) {
        throw InputError("none is not one of several", "--leave-out");
      }
      return {};
    }
    kinds.push_back(all_left_out.at(static_cast<std::size_t>(found - known.begin()) - 1));
  }
  return kinds;
}

ParameterTier tier_of(const std::string& name) {
  for (const ParameterTier tier :
       {ParameterTier::Fitted, ParameterTier::Generation, ParameterTier::Nominal}) {
    if (name_of(tier) == name) {
      return tier;
    }
  }
  throw InputError("unknown tier " + in_quotes(name), "--tier");
}

/// The set to begin from: --start, else that of the first cluster.
CostParameters start_of(const CalibrateCommand& command, const Machine& machine) {
  NcclRunOptions options;
  options.parameters = command.start;
  options.network_parameters = "none";  // laid over in each prediction
  const std::optional<CostParameters> start = [&] {
    try {
      return cost_parameters(machine, options, command.tables.cluster);
    } catch (const InputError& error) {
      if (error.path() != "--parameters") {
        throw;
      }
      throw InputError(error.message(), "--start", error.hint());
    }
  }();
  if (!start) {
    throw InputError(machine.cluster.name() + " names no cost parameters to begin from", "--start",
                     "one of `collsim list parameters`");
  }
  return *start;
}

std::vector<MeasuredCall> calls_of(const std::vector<MeasuredMachine>& machines,
                                   const OutputOptions& output, std::size_t& tables) {
  std::vector<MeasuredCall> calls;
  for (const MeasuredMachine& machine : machines) {
    for (const auto& table : machine.tables) {
      if (table->is_of_our_program) {
        note(output, fmt::format("left out: {}: {} ran as a program of ours ({}), on which no "
                                 "parameter has any effect",
                                 table->machine, name_of(table->run->collective),
                                 table->run->software.algorithm));
        continue;
      }
      const std::vector<MeasuredCall> rows = rows_to_fit(*table);
      tables += rows.empty() ? 0U : 1U;
      calls.insert(calls.end(), rows.begin(), rows.end());
    }
  }
  if (calls.empty()) {
    throw InputError(
        "no row is left to fit to: stalls, and sizes up to 1 MiB of tables that do not say how "
        "kernels were launched, are left out",
        "--measurements", "--launch MODE, if you know it");
  }
  return calls;
}

std::string file_text(const CalibrateCommand& command, const CalibrationReport& report) {
  std::vector<WrittenCost> values;
  const CostParameters& parameters = report.calibration.parameters;
  const CostParameters& start = *report.start;
  for (const CostDefinition& definition : cost_definitions()) {
    const CostValue& value = parameters.value(definition.item);
    if (value.source == CostSource::Fitted || value.units != start.value(definition.item).units) {
      values.push_back({definition.item, value});
    }
  }
  CostsFileText file;
  file.comment =
      "Written by `collsim calibrate`. What is not here is that of the base.\n"
      "error: relative standard error of a value. estimate: in a fixed ratio to one that is "
      "fitted.";
  std::string machines;
  for (const std::string& machine : report.record.machines) {
    machines += (machines.empty() ? "" : ", ") + machine;
  }
  file.description = command.description.empty() ? "fitted to " + machines : command.description;
  file.base = start.name;
  file.tier = report.tier;
  file.record = report.record;
  file.values = values;
  return write_costs(file);
}

Exit calibrate_tables(const CalibrateCommand& command) {
  CalibrationOptions options;
  options.tier = tier_of(command.tier);
  options.only = items_of(command.only);
  const std::vector<LeftOut> kinds = left_out_of(command.leave_out);
  const std::vector<MeasuredMachine> machines =
      load_measured_machines(command.tables, command.output);
  const CostParameters start = start_of(command, *machines.front().machine);

  CalibrationReport report;
  report.start = &start;
  report.tier = options.tier;
  const std::vector<MeasuredCall> calls = calls_of(machines, command.output, report.tables);
  report.calls = &calls;
  {
    ProgressLine line(command.output);
    std::string what = "fit";
    options.for_each = [](std::size_t count, const std::function<void(std::size_t)>& body) {
      for_each_in_parallel(count, body);
    };
    options.fit.progress = [&](int step, double objective) {
      line.show(fmt::format("{}: step {}, objective {:.5f}", what, step, objective));
      return true;
    };
    report.calibration = calibrate(calls, start, options);
    report.record = record_of(calls, report.calibration.errors);
    report.folds = cross_validate(calls, start, options, kinds,
                                  [&](const std::string& group) { what = "without " + group; });
  }
  if (!command.output.file.empty()) {
    report.written = command.output.file;
    write_file("--output", command.output.file, file_text(command, report));
  }
  switch (command.output.format()) {
    case Format::Json:
      write_stdout(render_calibration_json(report));
      break;
    case Format::Csv:
      write_stdout(render_calibration_csv(report));
      break;
    case Format::Table:
      write_stdout(render_calibration_table(report));
      break;
  }
  return Exit::Done;
}

}  // namespace

void add_calibrate_command(CLI::App& app, Action& chosen) {
  const auto command = std::make_shared<CalibrateCommand>();
  CLI::App* sub =
      app.add_subcommand("calibrate", "fit what NCCL's kernels cost to measured tables");
  add_measured_tables_options(*sub, command->tables);
  const char* const group = "Fit";
  add_text(*sub, "--start", command->start, "NAME",
           "the cost parameters to begin from, which the data then move")
      ->default_str("the cluster's")
      ->group(group);
  add_choice(*sub, "--tier", command->tier, {"fitted", "generation", "nominal"},
             "fitted: all that the data decide; generation: a few, the others in fixed ratios to "
             "them; nominal: none, only the errors of the start")
      ->group(group);
  sub->add_option("--only", command->only, "only these parameters (docs/parameters.md)")
      ->type_name("NAME,…")
      ->delimiter(',')
      ->take_all()
      ->group(group);
  sub->add_option("--leave-out", command->leave_out,
                  "check on what was not fitted to: sizes, ranks, collectives, machines, versions "
                  "(all, unless given), or none")
      ->type_name("GROUP,…")
      ->delimiter(',')
      ->take_all()
      ->group(group);
  add_text(*sub, "--description", command->description, "TEXT", "of the written set, one line")
      ->group("Output");
  add_output_options(*sub, command->output);
  sub->get_option("--output")->description("write the fitted parameters to this file (YAML)");
  sub->footer(
      "Example:\n"
      "  collsim calibrate --cluster dgx-h100 --measurements h100.json --output my-h100.yaml\n"
      "  collsim perf all_reduce --cluster dgx-h100 --parameters ./my-h100.yaml");
  sub->callback([command, &chosen] { chosen = [command] { return calibrate_tables(*command); }; });
}

}  // namespace collsim
