#include "tools/compare_nccl.hpp"

#include <memory>
#include <utility>

#include "topology/error.hpp"

namespace collsim {

NcclComparison::NcclComparison(const Machine& machine, const NcclRunOptions& options,
                               const ClusterOptions& cluster, const JobOptions& job,
                               const ResultRow& common, const OutputOptions& output)
    : machine_(&machine),
      job_(&job),
      common_(&common),
      costs_(cost_parameters(machine, options, cluster)),
      nccl_(machine, options, cluster, job, std::vector<Communicator>{common.job.gpus}, output) {}

ComparedProgram NcclComparison::run(const std::string& name, const CompareOptions& options) const {
  const Cluster& cluster = machine_->cluster;
  ComparedProgram compared;
  compared.outcome.algorithm = name;
  ResultRow row = *common_;
  try {
    nccl_.prepare(row, name);
    static_cast<void>(checked_program(cluster, row.job, 1, *job_));
  } catch (const InputError& error) {
    compared.outcome.obstacle = error.message();
    return compared;
  }
  if (options.verify == Verify::Yes) {
    row.check = check_job(cluster, nccl_.checkable(row, name));
    compared.outcome.check = row.check;
  }
  RunOptions run = options.run;
  run.costs = costs_ ? &*costs_ : nullptr;
  run.call = CallIs::Isolated;
  try {
    row.result = run_collective(cluster, row.job, run);
  } catch (const InputError& error) {
    rethrow_about(error, name);
  }
  if (costs_) {
    row.parameters = used_parameters(*costs_, cluster, row.job, row.nodes, row.result);
  }
  compared.outcome.result = row.result;
  compared.row = std::move(row);
  return compared;
}

}  // namespace collsim
