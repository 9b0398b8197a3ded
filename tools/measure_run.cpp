#include "tools/measure_run.hpp"

#include <fmt/format.h>

#include <utility>

#include "tools/format_text.hpp"
#include "topology/error.hpp"
#include "validate/host/host_execution.hpp"

namespace collsim {

namespace {

PerfTime half_of(const CollectiveCall& call, const ExecutionOutcome& outcome, bool checked) {
  PerfTime half;
  half.time = outcome.time;
  half.algbw_GBps = algorithm_bandwidth_GBps(call.size(), half.time);
  half.busbw_GBps = bus_bandwidth_GBps(call.kind, call.ranks, call.size(), half.time);
  if (checked) {
    half.wrong = outcome.wrong_elements();
  }
  return half;
}

void add_wrong(std::vector<std::string>& texts, const MeasureCall& call, const std::string& place,
               const std::string& algorithm, const ExecutionOutcome& outcome) {
  for (const WrongData& wrong : outcome.wrong) {
    texts.push_back(fmt::format("{} of {}, {}, {}: {}", name_of(call.call.kind),
                                human_bytes(call.call.size()), algorithm, place, wrong.text()));
  }
}

}  // namespace

void require_memory(const MeasureCommand& command, const MeasurePlan& plan,
                    std::optional<Rank> one) {
  const Bytes allowed = limits_of(command.job).max_memory;
  for (const MeasureCall& call : plan.calls) {
    const Program& program = *call.out_of_place.program;
    const std::size_t bytes =
        one ? HostExecution::memory_of(program, *one) : HostExecution::memory_of(program);
    const Bytes needed(static_cast<std::int64_t>(bytes));
    if (needed > allowed) {
      throw InputError(fmt::format("buffers and connections of {} take {}, more than {}",
                                   counted(one ? 1 : program.call().ranks, "rank"),
                                   human_bytes(needed), human_bytes(allowed)),
                       "--max-memory", "a smaller -e, fewer --ranks, or a higher limit");
    }
  }
}

void require_threads(std::uint32_t ranks, const std::string& option) {
  if (ranks > most_host_ranks) {
    throw InputError(fmt::format("at most {} run as threads of this machine, found {}",
                                 counted(most_host_ranks, "rank"), grouped(ranks)),
                     option);
  }
}

std::vector<MeasuredLine> run_plan(const MeasureCommand& command, const MeasurePlan& plan,
                                   const Execute& execute) {
  ExecutionRequest request;
  request.warmup = command.warmup;
  request.timed = command.iterations;
  request.check = command.check != 0;
  request.seed = command.seed;
  request.patience = std::chrono::seconds(command.timeout);
  ProgressLine progress(command.output);
  std::vector<MeasuredLine> lines;
  lines.reserve(plan.calls.size());
  for (const MeasureCall& call : plan.calls) {
    progress.show(fmt::format("size {} (line {} of {})", human_bytes(call.call.size()),
                              lines.size() + 1, plan.calls.size()));
    MeasuredLine line;
    line.row.size = call.call.size();
    line.row.count = call.call.count;
    line.row.type = call.call.type;
    line.row.redop = shows_op(plan.kind) ? std::string(name_of(call.call.op)) : "none";
    line.row.root = call.root;
    line.out_of_place = execute(call.out_of_place.program, request);
    line.row.out_of_place = half_of(call.call, line.out_of_place, request.check);
    if (call.in_place) {
      line.in_place = execute(call.in_place->program, request);
      line.row.in_place = half_of(call.call, *line.in_place, request.check);
    } else {
      // As in `perf`: the same program, which nccl-tests times but cannot check.
      line.row.in_place = line.row.out_of_place;
      line.row.in_place.wrong.reset();
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> wrong_data(const MeasurePlan& plan,
                                    const std::vector<MeasuredLine>& lines) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const MeasureCall& call = plan.calls[i];
    add_wrong(texts, call, "out of place", call.out_of_place.algorithm, lines[i].out_of_place);
    if (lines[i].in_place) {
      add_wrong(texts, call, "in place", call.in_place->algorithm, *lines[i].in_place);
    }
  }
  return texts;
}

}  // namespace collsim
