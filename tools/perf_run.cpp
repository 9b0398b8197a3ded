#include "tools/perf_run.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "study/compare.hpp"
#include "study/falling_times.hpp"
#include "tools/format_text.hpp"

namespace collsim {

namespace {

/// The data checker walks every step: beyond this many transfers rows say N/A.
constexpr std::uint64_t most_checked_transfers = 200'000;
/// The same for NCCL's programs, of which every channel is walked and not only one of each sort.
constexpr std::uint64_t most_checked_of_nccl = 10'000;

}  // namespace

PerfRun::PerfRun(const PerfCommand& command, const Machine& machine, const PerfPlan& plan)
    : command_(&command),
      machine_(&machine),
      plan_(&plan),
      costs_(cost_parameters(machine, command.nccl, command.cluster)),
      algorithm_(meant_algorithm(command.algorithm, costs_.has_value())),
      line_(command.output) {
  if (is_nccl_algorithm(algorithm_)) {
    nccl_.emplace(machine, command.nccl, command.cluster, command.job, plan.groups, command.output);
  } else {
    refuse_without_nccl(command.nccl, command.job, algorithm_);
  }
  if (command.graph_launches > 0 && !(nccl_ && costs_)) {
    throw InputError("changes what launches cost, which NCCL's programs have with parameters only",
                     "-G", "--parameters NAME, or leave the option out");
  }
}

void PerfRun::run() {
  for (const DataType type : plan_->types) {
    for (const ReductionOp op : plan_->ops) {
      for (const std::int64_t root : plan_->roots) {
        add_series(type, op, root);
      }
    }
  }
}

void PerfRun::add_series(DataType type, ReductionOp op, std::int64_t root) {
  const std::size_t first = rows_.size();
  for (const Bytes size : plan_->sizes) {
    line_.show("size " + human_bytes(size) + " (line " + std::to_string(table_.size() + 1) +
               " of " + std::to_string(plan_->row_count()) + ")");
    const auto ranks = static_cast<std::uint32_t>(plan_->groups.front().size());
    CollectiveCall call = call_for_size(plan_->kind, ranks, size, type);
    call.op = op;
    call.root = Rank(std::max<std::int64_t>(root, 0));
    add_line(call, size, root);
  }
  warn_of_falling_times(first, InPlace::No);
  warn_of_falling_times(first, InPlace::Yes);
}

void PerfRun::add_line(const CollectiveCall& call, Bytes requested, std::int64_t root) {
  PerfRow line;
  line.size = call.size();
  line.count = call.count;
  line.type = call.type;
  line.redop = shows_op(plan_->kind) ? std::string(name_of(call.op)) : "none";
  line.root = root;
  ResultRow row = row_for(*machine_, command_->job, job_for(call), requested);
  row.groups = command_->groups;
  choose_algorithm(row);
  line.extra = {row.job.algorithm, row.protocol.empty() ? "-" : row.protocol,
                std::to_string(row.nccl_channels.value_or(row.job.channels))};
  line.out_of_place = measure(row);
  if (allows_in_place(plan_->kind)) {
    // The same messages: what is best out of place is best in place.
    row.job.call.in_place = InPlace::Yes;
    if (nccl_) {
      nccl_->prepare(row, algorithm_);
    }
    line.in_place = measure(std::move(row));
  } else {
    // In place these would overwrite blocks not yet sent: a copy of the input to scratch memory,
    // which costs nothing here, makes it the same program. nccl-tests times it and cannot check it.
    line.in_place = line.out_of_place;
    line.in_place.wrong.reset();
  }
  table_.push_back(line);
}

CollectiveJob PerfRun::job_for(const CollectiveCall& call) const {
  CollectiveJob job;
  job.call = call;
  job.call.in_place = InPlace::No;
  set_groups(job, plan_->groups);
  job.algorithm = algorithm_;
  job.channels = command_->job.channels.value_or(1);
  job.chunks = command_->job.chunks.value_or(1);
  return job;
}

void PerfRun::choose_algorithm(ResultRow& row) const {
  if (nccl_) {
    nccl_->prepare(row, algorithm_);
    return;
  }
  if (!is_chosen_by_simulation(algorithm_)) {
    return;
  }
  CompareOptions options;
  options.run.network = plan_->network;
  options.run.fold = fold_of(command_->job);
  options.limits = limits_of(command_->job);
  BestAlgorithm best = best_algorithm(machine_->cluster, row.job, options);
  row.job.algorithm = best.result.algorithm;
  row.chosen_because = best.reason;
}

PerfTime PerfRun::measure(ResultRow row) {
  const Stopwatch stopwatch;
  const std::uint64_t calls =
      command_->isolated ? 1 : std::uint64_t{plan_->iterations.warmup} + plan_->iterations.timed;
  const CheckedProgram checked = checked_program(machine_->cluster, row.job, calls, command_->job);
  check(row);
  simulate(row, checked.size);
  show_slowest_group(machine_->cluster, row);
  PerfTime half;
  half.time = row.result.time;
  const CollectiveCall& call = row.job.call;
  half.algbw_GBps = algorithm_bandwidth_GBps(call.size(), half.time);
  half.busbw_GBps = bus_bandwidth_GBps(call.kind, call.ranks, call.size(), half.time);
  if (row.check) {
    half.wrong = row.check->failures.size();
  }
  infos_.push_back(stopwatch.stop(row.result.events, row.result.transfers));
  rows_.push_back(std::move(row));
  return half;
}

std::shared_ptr<const Program> PerfRun::whole_program(const ResultRow& row) const {
  const CollectiveJob job = nccl_ ? nccl_->checkable(row, algorithm_) : row.job;
  return programs_of(machine_->cluster, job).front();
}

void PerfRun::check(ResultRow& row) {
  if (command_->check == 0) {
    return;
  }
  const CollectiveJob job = nccl_ ? nccl_->checkable(row, algorithm_) : row.job;
  const std::uint64_t transfers = programs_of(machine_->cluster, job).front()->transfer_count();
  if (transfers > (nccl_ ? most_checked_of_nccl : most_checked_transfers)) {
    ++unchecked_;
    return;
  }
  row.check = check_job(machine_->cluster, job);
  failed_ = failed_ || !row.check->ok();
}

RunOptions PerfRun::run_options() const {
  RunOptions options;
  options.network = plan_->network;
  options.fold = fold_of(command_->job);
  if (!nccl_ || !costs_) {
    return options;
  }
  options.costs = &*costs_;
  options.call = command_->isolated ? CallIs::Isolated : CallIs::BackToBack;
  options.launch = command_->graph_launches > 0 ? LaunchFrom::CudaGraph : LaunchFrom::Stream;
  if (options.launch == LaunchFrom::Stream) {
    options.host_per_call =
        host_per_call(*costs_, std::int64_t{command_->gpus} * command_->threads);
  }
  return options;
}

void PerfRun::simulate(ResultRow& row, const RunSize& size) const {
  RunOptions options = run_options();
  require_folded_within_limits(options, size, command_->job);
  try {
    if (command_->isolated) {
      row.result = run_collective(machine_->cluster, row.job, options);
    } else {
      row.iterations = plan_->iterations;
      row.result = run_back_to_back(machine_->cluster, row.job, plan_->iterations, options);
    }
  } catch (const InputError& error) {
    rethrow_about(error, human_bytes(row.job.call.size()) + " by " + row.job.algorithm);
  }
  retime(row.result, averaged(row.result, plan_->averaging));
  if (options.costs != nullptr) {
    row.parameters = used_parameters(*costs_, machine_->cluster, row.job, row.nodes, row.result);
  }
}

void PerfRun::warn_of_falling_times(std::size_t first, InPlace in_place) {
  std::vector<SizePoint> points;
  std::vector<std::size_t> row_of;
  for (std::size_t i = first; i < rows_.size(); ++i) {
    const ResultRow& row = rows_[i];
    if (row.job.call.in_place != in_place) {
      continue;
    }
    points.push_back({row.job.call.size(), row.result.time, row.result.algorithm});
    row_of.push_back(i);
  }
  for (const std::size_t fall : falling_times(points)) {
    rows_[row_of[fall]].warnings.push_back(
        "takes less time than " + human_bytes(points[fall - 1].size) + " with the same algorithm");
  }
}

}  // namespace collsim
