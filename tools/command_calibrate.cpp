#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <map>
#include <cmath>
#include <memory>

#include "sim/io/read_costs.hpp"
#include "study/calibration.hpp"
#include "tools/cli.hpp"
#include "tools/measured_tables.hpp"
#include "tools/option_values.hpp"
#include "tools/parallel.hpp"
#include "tools/text_table.hpp"

namespace collsim {

namespace {

struct CalibrateCommand {
  MeasuredTablesOptions tables;
  OutputOptions output;
  std::string start;
  std::string tier = "fitted";
  std::uint64_t least = 0;
  bool verbose = false;
};

Exit calibrate_command(const CalibrateCommand& command) {
  const std::vector<MeasuredMachine> machines = load_measured_machines(command.tables, command.output);
  const CostParameters start = find_costs(config_path(command.tables.cluster), command.start);
  std::vector<MeasuredCall> calls;
  for (const MeasuredMachine& machine : machines) {
    for (const auto& table : machine.tables) {
      for (const MeasuredRow& row : table->run->rows) {
        if (row.suspect || row.bytes < Bytes(static_cast<std::int64_t>(command.least))) continue;
        if (auto call = measured_call(*table, row)) calls.push_back(*std::move(call));
      }
    }
  }
  CalibrationOptions options;
  options.tier = command.tier == "fitted" ? Tier::Fitted : command.tier == "nominal" ? Tier::Nominal : Tier::Generation;
  options.for_each = [](std::size_t count, const std::function<void(std::size_t)>& body) {
    for_each_in_parallel(count, body);
  };
  options.fit.progress = [](int step, double objective) {
    fmt::print(stderr, "step {} objective {:.5f}\n", step, objective);
    return true;
  };
  const Calibration calibration = calibrate(calls, start, options);
  for (const FittedParameter& p : calibration.fitted) {
    fmt::print("{:28} {:14} -> {:14}  x{:.2f} +- {:.0f} %{}{}\n", name_of(p.item), p.start.units, p.value.units,
               static_cast<double>(p.value.units) / static_cast<double>(p.start.units), 100 * p.standard_error,
               p.determined ? "" : "  not determined", p.at_bound ? " (bound)" : "");
  }
  std::map<std::string, std::vector<double>> by;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const MeasuredCall& call = calls[i];
    const double e = calibration.errors[i];
    by["all"].push_back(e);
    by["~" + std::string(name_of(call.call.kind))].push_back(e);
    by["n" + std::to_string(call.call.ranks)].push_back(e);
    by["band " + std::string(name_of(band_of(call.row->bytes)))].push_back(e);
    by["algo " + call.program.algorithm + " " + call.program.protocol].push_back(e);
    by["table " + call.table->machine + " " + std::string(name_of(call.call.kind)) + " " + std::to_string(call.call.ranks) + " " + std::string(name_of(call.call.type))].push_back(e);
    if (command.verbose) {
      fmt::print("{} {} n{} {} {:12} {:10} {:6} ch{:2} meas {:10.2f} {:+6.1f} %\n", call.table->machine, name_of(call.call.kind), call.call.ranks, name_of(call.call.type),
                 call.row->bytes.count(), call.program.algorithm, call.program.protocol, call.program.channels, static_cast<double>(call.row->time.count()) / 1e6, 100 * e);
    }
  }
  for (const auto& [name, errors] : by) {
    const ErrorSummary s = summarize(errors);
    fmt::print("{:50} {:5}  {:5.1f} / {:5.1f}  bias {:+5.1f}  worst {:+.0f}\n", name, s.points, 100 * s.median_abs, 100 * s.p90_abs, 100 * s.bias, 100 * errors[s.worst]);
  }
  return Exit::Done;
}

}  // namespace

void add_calibrate_command(CLI::App& app, Action& chosen) {
  const auto command = std::make_shared<CalibrateCommand>();
  CLI::App* sub = app.add_subcommand("calibrate", "fit what NCCL's kernels cost to measured tables");
  add_measured_tables_options(*sub, command->tables);
  add_text(*sub, "--start", command->start, "NAME", "start");
  add_text(*sub, "--tier", command->tier, "TIER", "tier");
  add_number(*sub, "--least", command->least, {}, "least bytes");
  add_switch(*sub, "--verbose", command->verbose, "each row");
  add_output_options(*sub, command->output);
  sub->callback([command, &chosen] { chosen = [command] { return calibrate_command(*command); }; });
}

}  // namespace collsim
