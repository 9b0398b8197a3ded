#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "sim/io/trace_json.hpp"
#include "tools/cli.hpp"
#include "tools/option_values.hpp"
#include "tools/output.hpp"
#include "tools/render_csv.hpp"
#include "tools/render_json.hpp"
#include "tools/render_table.hpp"
#include "tools/single_run.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

struct RunCommand {
  SingleRun single;
  OutputOptions output;
  std::string links = "top";
  std::string trace;
  bool per_rank = false;
  bool timing = false;
};

/// A line of CSV has no place for these.
void refuse_without_effect(const RunCommand& command) {
  if (command.output.format() != Format::Csv) {
    return;
  }
  const auto refuse = [](bool given, const char* option) {
    if (given) {
      throw InputError("csv has one line for the run: it cannot show this", option,
                       "--format table or json");
    }
  };
  refuse(command.per_rank, "--per-rank");
  refuse(command.single.critical_path, "--critical-path");
  refuse(command.links == "all", "--links");
}

Exit run(const RunCommand& command) {
  const Stopwatch stopwatch;
  if (command.trace == "-") {
    throw InputError("stdout is for the result: a trace needs a file", "--trace");
  }
  if (!command.trace.empty()) {
    refuse_overwriting("--trace", command.trace, command.output);
  }
  refuse_without_effect(command);
  const Machine machine = load_machine(command.single.cluster, command.output);
  std::optional<TraceJson> trace;
  if (!command.trace.empty()) {
    trace.emplace(machine.cluster.graph());
  }
  const ResultRow row =
      simulate_run(command.single, machine, command.output, trace ? &*trace : nullptr);
  if (trace) {
    std::ostringstream timeline;
    trace->write(timeline);
    write_file("--trace", command.trace, timeline.str());
  }
  const RunInfo info = stopwatch.stop(row.result.events, row.result.transfers);
  const RowDetail detail{command.per_rank, command.links == "all", command.single.critical_path};
  std::string text;
  switch (command.output.format()) {
    case Format::Json: {
      const Results results{{&row, 1}, std::vector<RunInfo>(command.timing ? 1 : 0, info), {}};
      text = render_json(machine.cluster, results, detail);
      break;
    }
    case Format::Csv:
      text = render_csv(machine.cluster, {row});
      if (command.timing) {
        note(command.output, run_info_text(info));
      }
      break;
    case Format::Table:
      text = render_run(machine.cluster, row, detail);
      if (command.timing) {
        text += "\n" + run_info_text(info) + "\n";
      }
      break;
  }
  write_output(command.output, text);
  return row.check && !row.check->ok() ? Exit::CheckFailed : Exit::Done;
}

}  // namespace

void add_run_command(CLI::App& app, Action& chosen) {
  const auto command = std::make_shared<RunCommand>();
  CLI::App* sub = app.add_subcommand("run", "simulate one collective and explain its time");
  add_single_run_options(*sub, command->single);
  add_switch(*sub, "--verify", command->single.verify, "check the algorithm's data symbolically")
      ->group("Simulation");
  add_text(*sub, "--trace", command->trace, "FILE", "write a timeline that ui.perfetto.dev opens")
      ->group("Output");
  add_switch(*sub, "--critical-path", command->single.critical_path,
             "list the steps that determine the time")
      ->group("Output");
  add_switch(*sub, "--per-rank", command->per_rank, "show each rank's time")->group("Output");
  add_choice(*sub, "--links", command->links, {"top", "all"}, "the most used links, or all")
      ->group("Output");
  add_switch(*sub, "--timing", command->timing, "show what the simulation itself took")
      ->group("Output");
  add_output_options(*sub, command->output);
  sub->footer(
      "Example:\n"
      "  collsim run all_reduce --cluster dgx-h100-x4 --bytes 1GiB --algorithm ring "
      "--critical-path");
  sub->callback([command, &chosen] { chosen = [command] { return run(*command); }; });
}

}  // namespace collsim
