#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli.hpp"
#include "tools/data_run.hpp"
#include "tools/file_writer.hpp"
#include "tools/measure_gpus.hpp"
#include "tools/measure_run.hpp"
#include "tools/output.hpp"
#include "tools/render_host_cluster.hpp"
#include "tools/render_measure.hpp"
#include "tools/tcp_ranks.hpp"
#include "topology/error.hpp"
#include "validate/host/host_execution.hpp"
#include "validate/host/host_figures.hpp"
#include "validate/io/measurements_json.hpp"
#include "validate/tcp/tcp_group.hpp"

namespace collsim {

namespace {

Exit show(const MeasureCommand& command, const MeasurePlan& plan,
          const std::vector<MeasuredLine>& lines, const std::vector<RankPlace>& places,
          const GpuSoftware& software = {}) {
  const MachineFacts facts = machine_facts();
  write_stdout(render_measure(command, plan, lines, facts, places));
  if (!command.output.to_stdout()) {
    Measurements measurements = measurements_of(command, plan, lines, facts, places);
    software.add_to(measurements);
    write_file("--output", command.output.file, write_measurements_json(measurements));
  }
  const std::vector<std::string> wrong = wrong_data(plan, lines);
  for (const std::string& text : wrong) {
    note(OutputOptions{}, "wrong data: " + text);
  }
  return wrong.empty() ? Exit::Done : Exit::CheckFailed;
}

/// Before anything is measured: it would be lost.
void require_place_for_output(const OutputOptions& output) {
  if (!output.to_stdout()) {
    require_writable("--output", output.file);
  }
}

Exit measure_on_host(const MeasureCommand& command, const MeasurePlan& plan) {
  require_threads(plan.ranks, "--ranks");
  require_memory(command, plan);
  const std::vector<MeasuredLine> lines = run_plan(command, plan, execute_on_host);
  const RankPlace here{machine_facts().host, static_cast<std::uint32_t>(getpid()), std::nullopt};
  return show(command, plan, lines, std::vector<RankPlace>(plan.ranks, here));
}

/// "PID HOST", as ranks tell each other.
RankPlace read_place(const std::string& text) {
  RankPlace place;
  const std::size_t blank = text.find(' ');
  std::from_chars(text.data(), text.data() + text.size(), place.process);
  place.host = printable(blank == std::string::npos ? text : text.substr(blank + 1), text.size());
  return place;
}

/// One rank's part; rank 0 shows the outcome.
Exit measure_as_rank(const MeasureCommand& command, const MeasurePlan& plan, TcpPlace place) {
  if (place.rank == 0) {
    require_place_for_output(command.output);
  }
  place.digest = digest_of(command, plan);
  MeasureCommand own = command;
  own.output.quiet = own.output.quiet || place.rank != 0;
  TcpGroup group(place);
  std::vector<RankPlace> places;
  for (const std::string& text :
       group.exchange(std::to_string(getpid()) + " " + machine_facts().host)) {
    places.push_back(read_place(text));
  }
  const std::vector<MeasuredLine> lines = run_plan(
      own, plan,
      [&group](const std::shared_ptr<const Program>& program, const ExecutionRequest& request) {
        return group.execute(*program, request);
      });
  if (place.rank == 0) {
    return show(own, plan, lines, places);
  }
  return wrong_data(plan, lines).empty() ? Exit::Done : Exit::CheckFailed;
}

Exit measure_over_tcp(MeasureCommand command) {
  const std::uint32_t ranks = tcp_ranks(command.tcp);
  if (command.job.ranks && *command.job.ranks != ranks) {
    throw InputError("differs from the number of processes, " + std::to_string(ranks), "--ranks",
                     "leave the option out");
  }
  command.job.ranks = ranks;
  const MeasurePlan plan = measure_plan(command);
  if (!command.tcp.spawn) {
    const TcpPlace place = tcp_place(command);
    require_memory(command, plan, Rank(place.rank));
    return measure_as_rank(command, plan, place);
  }
  require_memory(command, plan);
  return spawn_ranks(ranks, std::chrono::seconds(command.timeout),
                     [&](const TcpPlace& place) { return measure_as_rank(command, plan, place); });
}

Exit measure_gpus(const MeasureCommand& command) {
  GpuBackend backend(command);
  const MeasurePlan plan = backend.plan();
  const std::vector<MeasuredLine> lines = run_plan(command, plan, backend.execute(plan.ranks));
  return show(command, plan, lines, backend.places(plan.ranks), backend.software());
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
  if (!command.is_tcp() || command.tcp.spawn) {
    require_place_for_output(command.output);
  }
  if (command.calibrate_host) {
    return calibrate_host(command);
  }
  if (!command.inputs.empty()) {
    write_output(command.output, run_on_data(command, command.inputs));
    return Exit::Done;
  }
  if (command.is_tcp()) {
    return measure_over_tcp(command);
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
      "  collsim measure --calibrate-host --ranks 4 --output this-host.yaml");
  sub->callback([command, sub, &chosen] {
    command->given = given_options(*sub);
    chosen = [command] { return measure(*command); };
  });
}

}  // namespace collsim
