#include "tools/single_run.hpp"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "study/compare.hpp"
#include "tools/format_text.hpp"

namespace collsim {

namespace {

/// Shows how far a long run is.
std::function<bool(std::uint64_t)> watch(ProgressLine& line, std::uint64_t all) {
  return [&line, all](std::uint64_t done) {
    line.show(grouped(done) + " of " + grouped(all) + " transfers");
    return true;
  };
}

/// Chooses an algorithm by simulating all of them, and says why in the row.
void choose_algorithm(const SingleRun& run, const Cluster& cluster, const OutputOptions& output,
                      ResultRow& row) {
  ProgressLine line(output);
  CompareOptions options;
  options.run.network = row.network_model;
  options.run.fold = fold_of(run.job);
  options.limits = limits_of(run.job);
  options.progress = [&line](std::size_t done, std::size_t all, const std::string& next) {
    line.show("choosing: " + next + " (" + std::to_string(done + 1) + " of " + std::to_string(all) +
              ")");
  };
  BestAlgorithm best = best_algorithm(cluster, row.job, options);
  row.job.algorithm = best.result.algorithm;
  row.chosen_because = best.reason;
  row.result = std::move(best.result);
}

/// What is known before anything is simulated.
struct Prepared {
  std::optional<CostParameters> costs;
  std::string algorithm;
  std::optional<NcclRun> nccl;
};

Prepared prepare(const SingleRun& run, const Machine& machine, const OutputOptions& output,
                 ResultRow& row) {
  Prepared prepared{cost_parameters(machine, run.nccl, run.cluster), {}, {}};
  prepared.algorithm = meant_algorithm(run.algorithm, prepared.costs.has_value());
  row.job.algorithm = prepared.algorithm;
  if (is_nccl_algorithm(prepared.algorithm)) {
    prepared.nccl.emplace(machine, run.nccl, run.cluster, run.job,
                          std::vector<Communicator>{row.job.gpus}, output);
    prepared.nccl->prepare(row, prepared.algorithm);
  } else {
    refuse_without_nccl(run.nccl, run.job, prepared.algorithm);
  }
  return prepared;
}

void simulate(const SingleRun& run, const Machine& machine, const OutputOptions& output,
              TraceObserver* observer, ResultRow& row) {
  const Cluster& cluster = machine.cluster;
  const auto [costs, algorithm, nccl] = prepare(run, machine, output, row);
  const bool choose = is_chosen_by_simulation(algorithm);
  if (choose) {
    choose_algorithm(run, cluster, output, row);
  }
  const CheckedProgram checked = checked_program(cluster, row.job, 1, run.job);
  if (run.verify) {
    require_within_limits(checked.size, run.job);
    row.check = check_job(cluster, nccl ? nccl->checkable(row, algorithm) : row.job);
  }
  if (choose && !run.critical_path && observer == nullptr) {
    return;
  }

  ProgressLine line(output);
  RunOptions options;
  options.network = row.network_model;
  options.fold = fold_of(run.job);
  options.costs = nccl && costs ? &*costs : nullptr;
  options.call = CallIs::Isolated;
  options.critical_path = run.critical_path;
  options.progress = watch(line, checked.size.transfers);
  require_folded_within_limits(options, checked.size, run.job);
  options.observer = observer;
  row.result = run_collective(cluster, row.job, options);
  if (options.costs != nullptr) {
    row.parameters = used_parameters(*costs, cluster, row.job, row.nodes, row.result);
  }
}

}  // namespace

void add_single_run_options(CLI::App& app, SingleRun& run) {
  add_job_options(app, run.job);
  add_call_options(app, run.call);
  add_cluster_options(app, run.cluster);
  add_algorithm_option(app, run.algorithm);
  add_nccl_run_options(app, run.nccl);
}

void check_run(const SingleRun& run, const Machine& machine, const OutputOptions& output) {
  ResultRow row = row_for(machine, run.job, run.call);
  require_any_algorithm(run.algorithm, row.job.call.kind, "--algorithm");
  at_its_place(machine, [&] { static_cast<void>(prepare(run, machine, output, row)); });
}

ResultRow simulate_run(const SingleRun& run, const Machine& machine, const OutputOptions& output,
                       TraceObserver* observer) {
  ResultRow row = row_for(machine, run.job, run.call);
  require_any_algorithm(run.algorithm, row.job.call.kind, "--algorithm");
  at_its_place(machine, [&] { simulate(run, machine, output, observer, row); });
  show_slowest_group(machine.cluster, row);
  return row;
}

}  // namespace collsim
