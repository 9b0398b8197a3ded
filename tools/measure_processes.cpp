#include "tools/measure_processes.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/in_process.hpp"
#include "tools/machine_facts.hpp"
#include "tools/measure_gpus.hpp"
#include "tools/measure_run.hpp"
#include "tools/measure_show.hpp"
#include "tools/tcp_ranks.hpp"
#include "topology/error.hpp"
#include "validate/tcp/tcp_group.hpp"

namespace collsim {

namespace {

/// What runs this rank's part of a program.
Execute executor_of(TcpGroup& group, std::optional<GpuBackend>& gpus) {
  if (gpus) {
    return gpus->execute(group);
  }
  return [&group](const std::shared_ptr<const Program>& program, const ExecutionRequest& request) {
    return group.execute(*program, request);
  };
}

/// One rank's part; rank 0 shows the outcome.
Exit measure_as_rank(const MeasureCommand& command, const MeasurePlan& plan, TcpPlace place) {
  if (place.rank == 0) {
    require_place_for_output(command.output);
  }
  place.digest = digest_of(command, plan);
  MeasureCommand own = command;
  own.output.quiet = own.output.quiet || place.rank != 0;
  // What is missing here is told before the others wait.
  std::optional<GpuBackend> gpus;
  if (command.is_gpu()) {
    gpus.emplace(command);
  }
  TcpGroup group(place);
  RankPlace here = place_here(machine_facts().host);
  if (gpus) {
    here.gpu = gpus->take_gpu(group);
  }
  const std::vector<RankPlace> places = exchange_places(group, here);
  if (gpus) {
    gpus->require_places(places);
  }
  const std::vector<MeasuredLine> lines = run_plan(own, plan, executor_of(group, gpus));
  if (place.rank == 0) {
    return show_measured(own, plan, lines, places, gpus ? gpus->software() : GpuSoftware{});
  }
  return wrong_data(plan, lines).empty() ? Exit::Done : Exit::CheckFailed;
}

/// CUDA does not survive a fork: a process that goes again looks whether it is there.
Exit look_for_gpus(const MeasureCommand& command) {
  return in_process([&command] {
    const GpuBackend backend(command);
    return Exit::Done;
  });
}

}  // namespace

Exit measure_in_processes(MeasureCommand command) {
  const std::uint32_t ranks = tcp_ranks(command.tcp);
  if (command.job.ranks && *command.job.ranks != ranks) {
    throw InputError("differs from the number of processes, " + std::to_string(ranks), "--ranks",
                     "leave the option out");
  }
  command.job.ranks = ranks;
  const MeasurePlan plan = command.is_gpu() ? gpu_plan(command) : measure_plan(command);
  if (!command.tcp.spawn) {
    const TcpPlace place = tcp_place(command);
    if (!command.is_gpu()) {
      require_memory(command, plan, Rank(place.rank));
    }
    return measure_as_rank(command, plan, place);
  }
  if (command.is_gpu()) {
    if (const Exit missing = look_for_gpus(command); missing != Exit::Done) {
      return missing;
    }
  } else {
    require_memory(command, plan);
  }
  return spawn_ranks(ranks, std::chrono::seconds(command.timeout),
                     [&](const TcpPlace& place) { return measure_as_rank(command, plan, place); });
}

}  // namespace collsim
