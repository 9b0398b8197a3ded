#include "sim/executor.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

#include "sim/event_run.hpp"
#include "sim/fold.hpp"
#include "sim/unshared.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace detail {

namespace {

/// Of a workload, or of what it is folded to: without events where that can be done.
RunResult execute(const Cluster& cluster, const Workload& workload, const RunOptions& options,
                  const FoldPlan* plan, Folding& folding) {
  if (plan != nullptr || (options.fold != FoldMode::Off && !is_small(workload))) {
    if (std::optional<RunResult> result = run_unshared(cluster, workload, options, plan)) {
      folding.evaluated = true;
      return std::move(*result);
    }
  }
  EventRun run(cluster, workload, options, plan);
  RunResult result = run.run();
  if (const SteadyState* const steady = run.steady_state()) {
    folding.periods_skipped = steady->rounds_skipped();
    folding.period = steady->round();
  }
  return result;
}

/// The run of what a workload is folded to. Absent: it does not come to an end, or its numbers grow too
/// large; the run of the whole says why.
std::optional<RunResult> run_folded(const Cluster& cluster, const FoldPlan& plan,
                                    const RunOptions& options, Folding& folding) {
  bool interrupted = false;
  RunOptions watched = options;
  if (options.progress) {
    watched.progress = [&](std::uint64_t transfers) {
      interrupted = !options.progress(transfers);
      return !interrupted;
    };
  }
  try {
    return unfolded(plan, execute(cluster, plan.workload, watched, &plan, folding));
  } catch (const SimulationError&) {
    if (interrupted) {
      throw;
    }
  } catch (const std::overflow_error&) {
    return std::nullopt;  // the whole may fit
  }
  return std::nullopt;
}

RunResult run(const Cluster& cluster, const Workload& workload, const RunOptions& options) {
  Folding folding;
  folding.reason = "not asked for";
  std::optional<RunResult> result;
  if (options.fold != FoldMode::Off) {
    FoldResult attempt = fold(cluster, workload, options);
    folding = std::move(attempt.folding);
    if (attempt.plan) {
      if (options.admit) {
        options.admit(folding);
      }
      result = run_folded(cluster, *attempt.plan, options, folding);
      if (!result) {
        folding.folded = false;
        folding.reason = "the folded run did not come to an end";
      }
    }
  }
  if (!result) {
    if (options.fold == FoldMode::Require) {
      throw InputError("nothing can be folded: " + folding.reason, "--fold", folding.remedy);
    }
    if (options.admit) {
      options.admit(folding);
    }
    result = execute(cluster, workload, options, nullptr, folding);
  }
  result->folding = std::move(folding);
  return std::move(*result);
}

}  // namespace

}  // namespace detail

RunResult run_workload(const Cluster& cluster, const Workload& workload,
                       const RunOptions& options) {
  try {
    return detail::run(cluster, workload, options);
  } catch (const std::overflow_error& error) {
    throw out_of_exact_range(error);
  }
}

}  // namespace collsim
