#pragma once

// The run of a workload by events: GPUs on their way through its operations. Internal to the executor.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/critical_path.hpp"
#include "sim/deadlock.hpp"
#include "sim/delayed_ranks.hpp"
#include "sim/event_queue.hpp"
#include "sim/executor.hpp"
#include "sim/fold.hpp"
#include "sim/lanes.hpp"
#include "sim/link_capacities.hpp"
#include "sim/network.hpp"
#include "sim/participants.hpp"
#include "sim/steady_state.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

/// A GPU on its way through the workload.
struct GpuState {
  std::uint32_t next = 0;              ///< the operation to look at next
  std::optional<OperationId> held_by;  ///< the operation that it waits for
  Time clock;                          ///< what its attribution vector sums to
  std::uint32_t stretch = no_index;    ///< of the critical path
};

/// An operation on its way to the end.
struct OperationProgress {
  bool begun = false;
  std::uint32_t ranks_left = 0;
  std::vector<bool> ended;           ///< by rank, while ranks are left
  std::optional<Rank> last_rank;     ///< that ended last (the lowest of equals)
  std::vector<std::int64_t> vector;  ///< of that rank
  std::uint32_t stretch = no_index;  ///< of that rank
  DelayedRanks delayed;              ///< of a Compute, or a Collective that costs a launch
};

class EventRun {
 public:
  /// `plan`: what the workload is folded to; null: nothing is.
  EventRun(const Cluster& cluster, const Workload& workload, const RunOptions& options,
           const FoldPlan* plan)
      : workload_(&workload),
        options_(&options),
        participants_(cluster.graph(), workload),
        network_(make_network(options.network, cluster.graph(), queue_)),
        steady_may_come_(SteadyState::may_come(workload, options)),
        lanes_(cluster, workload, options, plan, queue_, *network_, critical_paths_,
               steady_may_come_),
        width_(lanes_.width()),
        gpus_(participants_.gpus().size()),
        gpu_vectors_(gpus_.size() * width_),
        progress_(workload.operations.size()),
        operations_left_(workload.operations.size()),
        capacities_(cluster.graph(), workload, options.costs, *network_) {
    result_.operations.resize(workload.operations.size());
    const auto* const flow = dynamic_cast<const FlowNetwork*>(network_.get());
    if (steady_may_come_ && flow != nullptr) {
      steady_.emplace(*flow, lanes_);
    }
  }

  RunResult run() {
    schedule_start();
    while (operations_left_ != 0 && !queue_.empty()) {
      const Time now = queue_.next_time();
      // The rates of an instant are those after all that happens in it.
      while (!queue_.empty() && queue_.next_time() == now) {
        handle(queue_.pop());
      }
      network_->settle();
      if (steady_) {
        steady_->look(now);
      }
    }
    if (operations_left_ != 0) {
      throw SimulationError(describe_deadlock(standstill()));
    }
    lanes_.check_finished();
    return finished_result();
  }

  /// What was skipped of a steady state; null: nothing could be.
  [[nodiscard]] const SteadyState* steady_state() const { return steady_ ? &*steady_ : nullptr; }

 private:
  void schedule_start();
  void handle(const Event& event);
  void run_gpu(GpuIndex gpu);
  void begin(GpuIndex gpu, OperationId operation, Rank rank, const Collective& collective);
  void begin(GpuIndex gpu, OperationId operation, Rank rank, const Compute& compute);
  void begin(GpuIndex gpu, OperationId operation, Rank rank, const Wait& wait);
  bool launch_later(GpuIndex gpu, OperationId operation, Rank rank, const Collective& collective);
  void launched(OperationId operation, Rank rank);
  std::int64_t* delay(GpuIndex gpu, OperationId operation, Rank rank);
  void go_on_later(GpuIndex gpu, OperationId operation, Rank rank, Duration after,
                   EventPhase phase);
  void begin_operation(OperationId id);
  void end_compute(OperationId operation, Rank rank);
  void end_ranks();
  void end_rank(OperationId operation, Rank rank, Progress from);
  void end_operation(OperationId id);
  [[nodiscard]] bool over(OperationId operation, Rank rank) const;
  void release(GpuIndex gpu, Progress from);
  [[nodiscard]] Standstill standstill() const;
  RunResult finished_result();

  [[nodiscard]] std::int64_t* vector_of(GpuIndex gpu) { return gpu_vectors_.data() + gpu * width_; }
  [[nodiscard]] Progress progress_of(GpuIndex gpu) { return {vector_of(gpu), gpus_[gpu].stretch}; }

  const Workload* workload_;
  const RunOptions* options_;
  Participants participants_;
  EventQueue queue_;
  std::unique_ptr<Network> network_;
  CriticalPaths critical_paths_;
  bool steady_may_come_;
  LaneEngine lanes_;
  std::optional<SteadyState> steady_;
  std::size_t width_;
  std::vector<GpuState> gpus_;
  std::vector<std::int64_t> gpu_vectors_;
  std::vector<OperationProgress> progress_;  ///< by OperationId
  std::size_t operations_left_;
  LinkCapacities capacities_;
  RunResult result_;
};

}  // namespace collsim::detail
