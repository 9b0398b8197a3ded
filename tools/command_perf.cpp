#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli.hpp"
#include "tools/format_text.hpp"
#include "tools/nccl_tests_table.hpp"
#include "tools/output.hpp"
#include "tools/perf_options.hpp"
#include "tools/perf_run.hpp"
#include "tools/render_csv.hpp"
#include "tools/render_json.hpp"

namespace collsim {

namespace {

std::string table(const PerfCommand& command, const PerfPlan& plan, const Machine& machine,
                  const std::vector<PerfRow>& lines) {
  const PerfHeader header = header_of(command, plan);
  std::string text =
      nccl_tests_header(header, machine.cluster.graph(), plan.gpus, machine.cluster.name());
  for (const PerfRow& line : lines) {
    text += nccl_tests_row(header, line);
  }
  return text + nccl_tests_footer(header, lines);
}

std::string render(const PerfCommand& command, const PerfPlan& plan, const Machine& machine,
                   const PerfRun& run) {
  switch (command.output.format()) {
    case Format::Json: {
      Results results{run.rows(), {}, {}};
      if (command.timing) {
        results.infos = run.infos();
      }
      return render_json(machine.cluster, results, {});
    }
    case Format::Csv:
      return render_csv(machine.cluster, run.rows());
    case Format::Table:
      break;
  }
  return table(command, plan, machine, run.table());
}

/// Where rows are outside of what was fitted: for each property what was found, neighbours of a kind as a range.
std::vector<std::string> outside_lines(const std::vector<ResultRow>& rows) {
  struct Range {
    std::string first;
    std::string last;
    std::size_t row = 0;
  };
  std::map<std::pair<std::string, std::string>, std::vector<Range>> ranges;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].parameters) {
      continue;
    }
    for (const OutsideFit& outside : rows[i].parameters->outside) {
      std::vector<Range>& known = ranges[{outside.what, outside.fitted}];
      if (!known.empty() && i - known.back().row <= 2) {
        known.back().last = outside.found;
        known.back().row = i;
      } else {
        known.push_back({outside.found, outside.found, i});
      }
    }
  }
  std::vector<std::string> lines;
  for (const auto& [property, found] : ranges) {
    std::string line;
    for (const Range& range : found) {
      line += (line.empty() ? "" : ", ") + range.first;
      line += range.first == range.last ? "" : " to " + range.last;
    }
    lines.push_back(fmt::format("outside of what was fitted: {} {} (fitted: {})", property.first,
                                line, property.second));
  }
  return lines;
}

/// What nccl-tests' table has no place for goes to stderr.
void write_notes(const PerfCommand& command, const PerfRun& run) {
  std::string last;
  std::vector<std::string> last_warnings;
  for (const ResultRow& row : run.rows()) {
    const std::string size = human_bytes(row.job.call.size());
    for (const std::string& warning : row.result.warnings) {
      if (std::ranges::find(last_warnings, warning) == last_warnings.end()) {
        note(command.output, fmt::format("from {}: {}", size, warning));
      }
    }
    last_warnings = row.result.warnings;
    for (const std::string& warning : row.warnings) {
      note(command.output, fmt::format("{} {}", size, warning));
    }
    if (const auto below = below_bound_warning(row);
        below && row.job.call.in_place == InPlace::No) {
      note(command.output, fmt::format("{} is {}", size, *below));
    }
    if (row.chosen_because.empty() || row.result.algorithm == last) {
      continue;
    }
    last = row.result.algorithm;
    note(command.output, fmt::format("algorithm from {}: {}", size, last));
  }
  if (run.unchecked() > 0) {
    note(command.output,
         "#wrong is N/A where a program has too many transfers to check its data: " +
             grouped(run.unchecked()) + " times; collsim run --verify has no limit");
  }
  const bool nominal = run.rows().empty() || !run.rows().front().parameters;
  note(command.output, nominal ? std::string(nominal_note)
                               : "parameters " + parameters_text(*run.rows().front().parameters));
  for (const std::string& line : outside_lines(run.rows())) {
    note(command.output, line);
  }
}

RunInfo total_of(const Stopwatch& stopwatch, const std::vector<ResultRow>& rows) {
  std::uint64_t events = 0;
  std::uint64_t transfers = 0;
  for (const ResultRow& row : rows) {
    events += row.result.events;
    transfers += row.result.transfers;
  }
  return stopwatch.stop(events, transfers);
}

Exit perf(const PerfCommand& command) {
  const Stopwatch stopwatch;
  const Machine machine = load_machine(command.cluster, command.output);
  const PerfPlan plan = plan_of(command, machine.cluster);
  PerfRun run(command, machine, plan);
  at_its_place(machine, [&] { run.run(); });
  if (command.output.format() != Format::Json) {
    write_notes(command, run);
    // The table itself is for scripts that know nothing of us.
    if (command.timing) {
      note(command.output, run_info_text(total_of(stopwatch, run.rows())));
    }
  }
  write_output(command.output, render(command, plan, machine, run));
  return run.failed() ? Exit::CheckFailed : Exit::Done;
}

}  // namespace

void add_perf_command(CLI::App& app, Action& chosen) {
  const auto command = std::make_shared<PerfCommand>();
  CLI::App* sub = app.add_subcommand("perf", "many sizes, with nccl-tests' options and table");
  add_perf_options(*sub, *command);
  sub->footer(
      "Example:\n"
      "  collsim perf all_reduce --cluster dgx-h100 -b 8 -e 1G -f 2 -g 8");
  sub->callback([command, &chosen] { chosen = [command] { return perf(*command); }; });
}

}  // namespace collsim
