#include "sim/event_run.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <variant>

namespace collsim::detail {

void EventRun::schedule_start() {
  for (std::uint32_t change = 0; change < workload_->capacity_changes.size(); ++change) {
    const Time time = workload_->capacity_changes[change].time;
    queue_.push({time, EventPhase::Capacity, change, 0});
  }
  for (GpuIndex gpu = 0; gpu < gpus_.size(); ++gpu) {
    queue_.push({Time{}, EventPhase::Operation, gpu, 0});
  }
}

void EventRun::handle(const Event& event) {
  switch (event.phase) {
    case EventPhase::Capacity:
      capacities_.change(workload_->capacity_changes[event.subject]);
      break;
    case EventPhase::Departure:
      if (const auto departure = network_->depart(event)) {
        lanes_.departed(*departure);
      }
      break;
    case EventPhase::Arrival:
      lanes_.arrived(event.subject);
      break;
    case EventPhase::Staged:
      lanes_.staged(event.subject);
      break;
    case EventPhase::Work:
      lanes_.worked(OperationId(event.generation), event.subject);
      break;
    case EventPhase::Launch:
      launched(OperationId(event.subject), Rank(event.generation));
      break;
    case EventPhase::Step:
      end_compute(OperationId(event.subject), Rank(event.generation));
      break;
    case EventPhase::Operation:
      run_gpu(event.subject);
      break;
  }
  if (!lanes_.ended().empty()) {
    end_ranks();
  }
}

void EventRun::run_gpu(GpuIndex gpu) {
  GpuState& state = gpus_[gpu];
  while (!state.held_by && state.next < workload_->operations.size()) {
    const OperationId operation(state.next);
    if (const auto rank = participants_.rank_of(operation, gpu)) {
      begin_operation(operation);
      std::visit([&](const auto& any) { begin(gpu, operation, *rank, any); },
                 workload_->operations[operation.index()]);
    } else {
      ++state.next;
    }
  }
}

void EventRun::begin_operation(OperationId id) {
  OperationProgress& progress = progress_[id.index()];
  if (progress.begun) {
    return;
  }
  progress.begun = true;
  const std::size_t ranks = participants_.ranks(id).size();
  progress.ranks_left = static_cast<std::uint32_t>(ranks);
  progress.ended.resize(ranks);
  OperationResult& result = result_.operations[id.index()];
  result.start = queue_.now();
  result.time_of_rank.resize(ranks);
  const Workload::Operation& operation = workload_->operations[id.index()];
  if (const auto* collective = std::get_if<Collective>(&operation)) {
    lanes_.activate(id, *collective);
  }
}

void EventRun::begin(GpuIndex gpu, OperationId operation, Rank rank, const Collective& collective) {
  ++gpus_[gpu].next;
  if (!launch_later(gpu, operation, rank, collective)) {
    lanes_.start(operation, rank, progress_of(gpu));
    end_ranks();
  }
  if (collective.launch == Launch::Blocking && !over(operation, rank)) {
    gpus_[gpu].held_by = operation;
  }
}

void EventRun::begin(GpuIndex gpu, OperationId operation, Rank rank, const Compute& compute) {
  ++gpus_[gpu].next;
  delay(gpu, operation, rank)[lanes_.layout().compute()] += compute.time.count();
  go_on_later(gpu, operation, rank, compute.time, EventPhase::Step);
  if (compute.launch == Launch::Blocking) {
    gpus_[gpu].held_by = operation;
  }
}

void EventRun::begin(GpuIndex gpu, OperationId operation, Rank rank, const Wait& wait) {
  const auto waited = participants_.rank_of(wait.operation, gpu);
  if (!over(wait.operation, *waited)) {
    // Comes back here when that is over.
    gpus_[gpu].held_by = wait.operation;
    return;
  }
  ++gpus_[gpu].next;
  end_rank(operation, rank, progress_of(gpu));
}

/// Adds a rank to those that stand still for a while, as its GPU stands now; returns its vector, to add to.
std::int64_t* EventRun::delay(GpuIndex gpu, OperationId operation, Rank rank) {
  return progress_[operation.index()].delayed.add(rank, participants_.ranks(operation).size(),
                                                  {vector_of(gpu), width_});
}

/// Whether the rank's lanes start later than the rank, which this has then arranged.
bool EventRun::launch_later(GpuIndex gpu, OperationId operation, Rank rank,
                            const Collective& collective) {
  if (options_->costs == nullptr) {
    return false;
  }
  const std::vector<CostPart> parts =
      launch_costs(*options_->costs, *collective.program, rank, options_->call, options_->launch);
  if (parts.empty()) {
    return false;
  }
  std::int64_t* const vector = delay(gpu, operation, rank);
  Duration launch{};
  for (const CostPart& part : parts) {
    vector[lanes_.layout().cost(part.item)] += part.time.count();
    launch = checked_add(launch, part.time);
  }
  go_on_later(gpu, operation, rank, launch, EventPhase::Launch);
  return true;
}

/// A rank goes on after a time, with an event of that phase.
void EventRun::go_on_later(GpuIndex gpu, OperationId operation, Rank rank, Duration after,
                           EventPhase phase) {
  const Time end = checked_add(queue_.now(), after);
  if (options_->critical_path) {
    CriticalStep step;
    step.operation = operation;
    step.rank = rank;
    step.start = queue_.now();
    step.left = end;
    progress_[operation.index()].delayed.set_stretch(rank,
                                                     critical_paths_.add(step, gpus_[gpu].stretch));
  }
  queue_.push({end, phase, operation.value(), rank.value()});
}

void EventRun::launched(OperationId operation, Rank rank) {
  const Progress progress = progress_[operation.index()].delayed.progress(rank);
  lanes_.start(operation, rank, progress);
  critical_paths_.release(progress.stretch);
}

bool EventRun::over(OperationId operation, Rank rank) const {
  const OperationProgress& progress = progress_[operation.index()];
  return progress.ranks_left == 0 || progress.ended[rank.index()];
}

void EventRun::end_compute(OperationId operation, Rank rank) {
  const Progress progress = progress_[operation.index()].delayed.progress(rank);
  end_rank(operation, rank, progress);
  critical_paths_.release(progress.stretch);
}

void EventRun::end_ranks() {
  // Ending a rank only schedules what comes next, so nothing is added meanwhile.
  for (const EndedRank& ended : lanes_.ended()) {
    Progress progress = lanes_.progress_of(ended.operation, ended.rank);
    if (progress.vector == nullptr) {
      progress = progress_of(participants_.ranks(ended.operation)[ended.rank.index()]);
    }
    end_rank(ended.operation, ended.rank, progress);
  }
  lanes_.ended().clear();
}

void EventRun::end_rank(OperationId operation, Rank rank, Progress from) {
  OperationProgress& progress = progress_[operation.index()];
  OperationResult& result = result_.operations[operation.index()];
  const Time now = queue_.now();
  result.time_of_rank[rank.index()] = now - Time{};
  progress.ended[rank.index()] = true;
  if (!progress.last_rank || now > result.end || rank < *progress.last_rank) {
    progress.last_rank = rank;
    progress.vector.assign(from.vector, from.vector + width_);
    critical_paths_.assign(progress.stretch, from.stretch);
  }
  result.end = now;

  const GpuIndex gpu = participants_.ranks(operation)[rank.index()];
  if (gpus_[gpu].held_by == operation) {
    release(gpu, from);
  }
  if (--progress.ranks_left == 0) {
    end_operation(operation);
  }
}

/// What a GPU waited for is over: it goes on from there, unless it was as late itself.
void EventRun::release(GpuIndex gpu, Progress from) {
  GpuState& state = gpus_[gpu];
  const Time now = queue_.now();
  if (now > state.clock) {
    state.clock = now;
    std::copy_n(from.vector, width_, vector_of(gpu));
    critical_paths_.assign(state.stretch, from.stretch);
  }
  state.held_by.reset();
  queue_.push({now, EventPhase::Operation, gpu, 0});
}

void EventRun::end_operation(OperationId id) {
  OperationProgress& progress = progress_[id.index()];
  OperationResult& result = result_.operations[id.index()];
  const auto parts = static_cast<std::ptrdiff_t>(lanes_.layout().size());
  const std::int64_t sum =
      std::accumulate(progress.vector.begin(), progress.vector.begin() + parts, std::int64_t{0});
  COLLSIM_ENSURE(
      sum == (result.end - Time{}).count(),
      "the attribution of operation " + std::to_string(id.value()) + " does not sum to its time");
  if (steady_) {
    steady_->complete_attribution(progress.vector);
  }
  result.attribution = lanes_.layout().parts(progress.vector.data());
  result.critical_path = critical_paths_.path(progress.stretch);
  if (lanes_.active(id)) {
    const OperationState& state = lanes_.state(id);
    if (state.messages != 0) {
      throw SimulationError(describe_leftovers(state, lanes_.messages()));
    }
    lanes_.deactivate(id);
  }
  critical_paths_.release(progress.stretch);
  progress = OperationProgress{};
  progress.begun = true;
  --operations_left_;
}

Standstill EventRun::standstill() const {
  Standstill standstill;
  standstill.now = queue_.now();
  standstill.messages = &lanes_.messages();
  for (std::size_t operation = 0; operation < workload_->operations.size(); ++operation) {
    if (!lanes_.active(OperationId(operation))) {
      continue;
    }
    standstill.active.push_back(&lanes_.state(OperationId(operation)));
  }
  standstill.kept_by = [this](const OperationState& operation, Rank rank) {
    return gpus_[participants_.ranks(operation.id)[rank.index()]].held_by;
  };
  return standstill;
}

RunResult EventRun::finished_result() {
  for (const OperationResult& operation : result_.operations) {
    result_.time = std::max(result_.time, operation.end - Time{});
  }
  const auto links = network_->link_use();
  result_.links.assign(links.begin(), links.end());
  result_.transfers = lanes_.transfers();
  result_.events = queue_.popped();
  result_.contention_ignored = network_->contention_ignored();
  if (steady_) {
    steady_->complete(result_);
  }
  return std::move(result_);
}

}  // namespace collsim::detail
