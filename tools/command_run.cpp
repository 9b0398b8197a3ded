#include <CLI/CLI.hpp>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "sim/io/trace_json.hpp"
#include "study/compare.hpp"
#include "tools/cli.hpp"
#include "tools/cluster_options.hpp"
#include "tools/format_text.hpp"
#include "tools/job_options.hpp"
#include "tools/nccl_run.hpp"
#include "tools/option_values.hpp"
#include "tools/output.hpp"
#include "tools/render_csv.hpp"
#include "tools/render_json.hpp"
#include "tools/render_table.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

struct RunCommand {
  ClusterOptions cluster;
  NcclRunOptions nccl;
  JobOptions job;
  CallOptions call;
  OutputOptions output;
  std::string algorithm = "auto";
  std::string links = "top";
  std::string trace;
  bool per_rank = false;
  bool critical_path = false;
  bool verify = false;
  bool timing = false;
};

/// Shows how far a long run is.
std::function<bool(std::uint64_t)> watch(ProgressLine& line, std::uint64_t all) {
  return [&line, all](std::uint64_t done) {
    line.show(grouped(done) + " of " + grouped(all) + " transfers");
    return true;
  };
}

/// Chooses an algorithm by simulating all of them, and says why in the row.
void choose_algorithm(const RunCommand& command, const Cluster& cluster, ResultRow& row) {
  ProgressLine line(command.output);
  CompareOptions options;
  options.run.network = row.network_model;
  options.limits = limits_of(command.job);
  options.progress = [&line](std::size_t done, std::size_t all, const std::string& next) {
    line.show("choosing: " + next + " (" + std::to_string(done + 1) + " of " + std::to_string(all) +
              ")");
  };
  BestAlgorithm best = best_algorithm(cluster, row.job, options);
  row.job.algorithm = best.result.algorithm;
  row.chosen_because = best.reason;
  row.result = std::move(best.result);
}

bool needs_second_run(const RunCommand& command) {
  return command.critical_path || !command.trace.empty();
}

void simulate(const RunCommand& command, const Machine& machine, ResultRow& row) {
  const Cluster& cluster = machine.cluster;
  const std::optional<CostParameters> costs =
      cost_parameters(machine, command.nccl, command.cluster);
  const std::string algorithm = meant_algorithm(command.algorithm, costs.has_value());
  const bool choose = is_chosen_by_simulation(algorithm);
  row.job.algorithm = algorithm;
  std::optional<NcclRun> nccl;
  if (is_nccl_algorithm(algorithm)) {
    nccl.emplace(machine, command.nccl, command.cluster, command.job,
                 std::vector<Communicator>{row.job.gpus}, command.output);
    nccl->prepare(row, algorithm);
  } else {
    refuse_without_nccl(command.nccl, command.job, algorithm);
    if (choose) {
      choose_algorithm(command, cluster, row);
    }
  }
  const std::shared_ptr<const Program> program = checked_program(cluster, row.job, 1, command.job);
  if (command.verify) {
    row.check = check_job(cluster, nccl ? nccl->checkable(row, algorithm) : row.job);
  }
  if (choose && !needs_second_run(command)) {
    return;
  }

  ProgressLine line(command.output);
  RunOptions options;
  options.network = row.network_model;
  options.costs = nccl && costs ? &*costs : nullptr;
  options.call = CallIs::Isolated;
  options.critical_path = command.critical_path;
  options.progress = watch(line, program->transfer_count() * row.job.groups());
  std::unique_ptr<TraceJson> trace;
  if (!command.trace.empty()) {
    trace = std::make_unique<TraceJson>(cluster.graph());
    options.observer = trace.get();
  }
  row.result = run_collective(cluster, row.job, options);
  if (options.costs != nullptr) {
    row.parameters = used_parameters(*costs, cluster, row.job, row.nodes, row.result);
  }
  if (trace) {
    std::ostringstream text;
    trace->write(text);
    write_file("--trace", command.trace, text.str());
  }
}

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
  refuse(command.critical_path, "--critical-path");
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
  const Machine machine = load_machine(command.cluster, command.output);
  ResultRow row = row_for(machine, command.job, command.call);
  require_any_algorithm(command.algorithm, row.job.call.kind, "--algorithm");
  at_its_place(machine, [&] { simulate(command, machine, row); });
  show_slowest_group(machine.cluster, row);
  const RunInfo info = stopwatch.stop(row.result.events, row.result.transfers);
  const RowDetail detail{command.per_rank, command.links == "all", command.critical_path};
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
  add_job_options(*sub, command->job);
  add_call_options(*sub, command->call);
  add_cluster_options(*sub, command->cluster);
  add_algorithm_option(*sub, command->algorithm);
  add_nccl_run_options(*sub, command->nccl);
  add_switch(*sub, "--verify", command->verify, "check the algorithm's data symbolically")
      ->group("Simulation");
  add_text(*sub, "--trace", command->trace, "FILE", "write a timeline that ui.perfetto.dev opens")
      ->group("Output");
  add_switch(*sub, "--critical-path", command->critical_path,
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
