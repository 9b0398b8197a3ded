#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tools/cli.hpp"
#include "tools/job_options.hpp"
#include "tools/measured_tables.hpp"
#include "tools/nccl_run.hpp"
#include "tools/option_values.hpp"
#include "tools/output.hpp"
#include "tools/parallel.hpp"
#include "tools/render_validation.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

struct ValidateCommand {
  MeasuredTablesOptions tables;
  NcclRunOptions costs;  ///< --parameters alone
  OutputOptions output;
  std::string collectives;
  std::string least;
  std::string most;
  std::string fail_above;
  std::string plot;
  bool fit_launch = false;
  bool rows = false;
};

/// Words between commas.
std::vector<CollectiveKind> collectives_of(const std::string& text) {
  std::vector<CollectiveKind> kinds;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const std::optional<CollectiveKind> kind = parse_collective(word);
    if (!kind) {
      refuse_word("--collectives", "collective", word, collective_names());
    }
    kinds.push_back(*kind);
    begin = end + 1;
  }
  return kinds;
}

std::optional<double> limit_of(const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  double limit = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, limit);
  if (error != std::errc{} || stop != end || !(limit > 0) || !std::isfinite(limit)) {
    throw InputError(
        "expected a part of one above 0, such as 0.15 for 15 %, got " + in_quotes(text),
        "--fail-above");
  }
  return limit;
}

ValidationOptions options_of(const ValidateCommand& command) {
  ValidationOptions options;
  options.collectives = collectives_of(command.collectives);
  options.fit_launch = command.fit_launch;
  if (!command.least.empty()) {
    options.least = size_of_option(command.least, "--min-bytes");
  }
  if (!command.most.empty()) {
    options.most = size_of_option(command.most, "--max-bytes");
    if (*options.most < options.least) {
      throw InputError("is less than --min-bytes", "--max-bytes");
    }
  }
  return options;
}

void require_plot(const ValidateCommand& command) {
  if (command.plot == "-") {
    throw InputError("stdout is for the result: a plot needs a file", "--plot");
  }
  if (!command.plot.empty()) {
    refuse_overwriting("--plot", command.plot, command.output);
  }
}

/// Absent where nothing is NCCL's.
std::optional<CostParameters> costs_of(const ValidateCommand& command,
                                       const MeasuredMachine& measured) {
  const bool needs_costs = std::ranges::any_of(
      measured.tables, [](const auto& table) { return !table->is_of_our_program; });
  if (!needs_costs) {
    return std::nullopt;
  }
  std::optional<CostParameters> costs =
      cost_parameters(*measured.machine, command.costs, command.tables.cluster);
  if (!costs) {
    throw InputError("there is nothing to validate without: " + measured.machine->cluster.name() +
                         " names no parameters, and the wire alone is no prediction of NCCL",
                     "--parameters", "`collsim list parameters` shows which there are");
  }
  return costs;
}

/// In force where programs are ours.
UsedParameters no_parameters() {
  UsedParameters none;
  none.name = "none";
  none.provenance = "nominal: no protocol, no launch";
  return none;
}

std::string text_of(const ValidateCommand& command, const ValidationView& view) {
  switch (command.output.format()) {
    case Format::Json:
      return render_validation_json(view);
    case Format::Csv:
      return render_validation_csv(view);
    case Format::Table:
      break;
  }
  return render_validation_table(view);
}

/// The verdict of --fail-above, on stderr even where notes are not wanted.
Exit verdict(double limit, const ValidationScores& scores) {
  const ErrorSummary& errors = scores.summary.all.errors;
  if (errors.points == 0) {
    throw InputError("there is nothing to check: all rows stand apart", "--fail-above",
                     "--launch says how tables were launched, --fit-launch fits an offset");
  }
  if (errors.median_abs <= limit) {
    return Exit::Done;
  }
  std::cerr << fmt::format(
      "check failed: the median error of {} row{} is {:.1f} %, above {:g} % (--fail-above)\n",
      errors.points, errors.points == 1 ? "" : "s", 100 * errors.median_abs, 100 * limit);
  return Exit::CheckFailed;
}

Exit validate_command(const ValidateCommand& command) {
  require_plot(command);
  const std::optional<double> limit = limit_of(command.fail_above);
  ValidationOptions options = options_of(command);
  const std::vector<MeasuredMachine> machines =
      load_measured_machines(command.tables, command.output);
  std::vector<std::optional<CostParameters>> costs;
  ValidationView view;
  view.rows = command.rows;
  for (const MeasuredMachine& measured : machines) {
    costs.push_back(costs_of(command, measured));
    view.machines.push_back({measured.measurements->machine, measured.machine->cluster.name(),
                             measured.machine->loaded.digest,
                             costs.back() ? whole_set(*costs.back()) : no_parameters()});
    for (const std::string& why : measured.left_out) {
      view.left_out.push_back(measured.measurements->machine + ": " + why);
    }
  }
  std::vector<TableToValidate> tables;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    for (const auto& table : machines[i].tables) {
      tables.push_back({table.get(), costs[i] ? &*costs[i] : nullptr});
    }
  }
  {
    ProgressLine progress(command.output);
    options.for_each = [&progress](std::size_t count,
                                   const std::function<void(std::size_t)>& body) {
      for_each_in_parallel(count, body, [&](std::size_t done) {
        progress.show(fmt::format("{} of {} rows simulated", done, count));
      });
    };
    view.validation = validate(tables, options);
  }
  for (const std::string& why : view.validation.left_out) {
    note(command.output, "left out: " + why);
    view.left_out.push_back(why);
  }
  if (view.validation.runs.empty()) {
    throw InputError("no row is left", "--measurements",
                     "--collectives, --min-bytes and --max-bytes choose among them");
  }
  view.scores = score(view.validation);
  const Exit exit = limit ? verdict(*limit, view.scores) : Exit::Done;
  if (!command.plot.empty()) {
    write_file("--plot", command.plot, plot_validation(view));
  }
  write_output(command.output, text_of(command, view));
  return exit;
}

}  // namespace

void add_validate_command(CLI::App& app, Action& chosen) {
  const auto command = std::make_shared<ValidateCommand>();
  CLI::App* sub = app.add_subcommand(
      "validate", "predicted against measured, beside what simpler ways would have said");
  const char* const rows = "Rows";
  const char* const output = "Output";
  add_measured_tables_options(*sub, command->tables);
  add_text(*sub, "--parameters", command->costs.parameters, "NAME",
           "what NCCL's kernels cost (`collsim list parameters`)")
      ->default_str("the cluster's")
      ->group("NCCL");
  add_switch(
      *sub, "--fit-launch", command->fit_launch,
      "fit what a launch takes more: one time a machine and way to launch, from rows of up to "
      "32 KiB")
      ->group("NCCL");
  add_text(*sub, "--collectives", command->collectives, "A,B", "only tables of these")->group(rows);
  add_text(*sub, "--min-bytes", command->least, "SIZE", "only rows from this size on")->group(rows);
  add_text(*sub, "--max-bytes", command->most, "SIZE", "only rows up to this size")->group(rows);
  add_text(*sub, "--fail-above", command->fail_above, "ERROR",
           "end with 1 if the median error is above this: 0.15 is 15 %")
      ->group(output);
  add_text(*sub, "--plot", command->plot, "FILE", "draw the curves and their errors as an SVG")
      ->group(output);
  add_switch(*sub, "--rows", command->rows, "also each row, in the table")->group(output);
  add_output_options(*sub, command->output);
  sub->footer(
      "Examples:\n"
      "  collsim validate --cluster dgx-h100 --measurements h100-sxm-aic\n"
      "  collsim validate --cluster dgx-h100 --measurements my.json --fail-above 0.15\n"
      "  collsim validate --measurements dgx-h100=h100-sxm-aic dgx-a100=a100-sxm-aic --plot "
      "it.svg");
  sub->callback([command, &chosen] { chosen = [command] { return validate_command(*command); }; });
}

}  // namespace collsim
