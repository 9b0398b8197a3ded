#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tools/cli.hpp"
#include "tools/data_run.hpp"
#include "tools/machine_facts.hpp"
#include "tools/measure_gpus.hpp"
#include "tools/measure_processes.hpp"
#include "tools/measure_run.hpp"
#include "tools/measure_show.hpp"
#include "tools/output.hpp"
#include "tools/render_host_cluster.hpp"
#include "topology/error.hpp"
#include "validate/host/host_execution.hpp"
#include "validate/host/host_figures.hpp"

namespace collsim {

namespace {

Exit measure_on_host(const MeasureCommand& command, const MeasurePlan& plan) {
  require_threads(plan.ranks, "--ranks");
  require_memory(command, plan);
  const std::vector<MeasuredLine> lines = run_plan(command, plan, execute_on_host);
  return show_measured(command, plan, lines,
                       std::vector<RankPlace>(plan.ranks, place_here(machine_facts().host)));
}

Exit measure_gpus(const MeasureCommand& command) {
  GpuBackend backend(command);
  const MeasurePlan plan = backend.plan();
  const std::vector<MeasuredLine> lines = run_plan(command, plan, backend.execute(plan.ranks));
  return show_measured(command, plan, lines, backend.places(plan.ranks), backend.software());
}

Exit calibrate_host(const MeasureCommand& command) {
  const std::uint32_t ranks = command.job.ranks.value_or(default_measured_ranks);
  if (ranks < 2) {
    throw InputError("an exchange needs 2 ranks at least", "--ranks");
  }
  write_output(command.output, render_host_cluster(measure_host(ranks), machine_facts()));
  return Exit::Done;
}

Exit measure(const MeasureCommand& command) {
  check_measure_options(command);
  if (command.backend == "host" && command.job.ranks) {
    require_threads(*command.job.ranks, "--ranks");
  }
  // Of ranks that are started elsewhere, rank 0 alone writes.
  if (!command.in_processes() || command.tcp.spawn) {
    require_place_for_output(command.output);
  }
  if (command.calibrate_host) {
    return calibrate_host(command);
  }
  if (!command.inputs.empty()) {
    write_output(command.output, run_on_data(command, command.inputs));
    return Exit::Done;
  }
  if (command.in_processes()) {
    return measure_in_processes(command);
  }
  if (command.is_gpu()) {
    return measure_gpus(command);
  }
  return measure_on_host(command, measure_plan(command));
}

}  // namespace

void add_measure_command(CLI::App& app, Action& chosen) {
  const auto command = std::make_shared<MeasureCommand>();
  CLI::App* sub = app.add_subcommand(
      "measure", "run the programs for real, check their data, time them as nccl-tests does");
  add_measure_options(*sub, *command);
  sub->footer(
      "Examples:\n"
      "  collsim measure all_reduce --ranks 4 --algorithm ring -b 8 -e 1M -f 4\n"
      "  collsim measure all_reduce --backend tcp --spawn 4 -b 1K -e 1M -f 4\n"
      "  collsim measure all_reduce --backend cuda --ranks 8 -b 1K -e 64M -f 4\n"
      "  collsim measure all_reduce --backend nccl --spawn 8 -b 1K -e 64M -f 4\n"
      "  collsim measure --calibrate-host --ranks 4 --output this-host.yaml");
  sub->callback([command, sub, &chosen] {
    command->given = given_options(*sub);
    chosen = [command] { return measure(*command); };
  });
}

}  // namespace collsim
