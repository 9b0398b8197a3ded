#pragma once

// NCCL's programs for the commands that simulate: which cost parameters are in force, what NCCL decides
// on the job's GPUs, and the program of each call.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/nccl/decisions.hpp"
#include "algorithms/nccl/tuner.hpp"
#include "sim/costs.hpp"
#include "study/nccl_job.hpp"
#include "tools/cluster_options.hpp"
#include "tools/job_options.hpp"
#include "tools/nccl_options.hpp"
#include "tools/output.hpp"
#include "tools/result_row.hpp"

namespace collsim {

struct NcclRunOptions {
  NcclOptions nccl;
  std::string parameters;          ///< empty: the cluster's
  std::string network_parameters;  ///< empty: its fabric's
  std::string tuner;
  bool symmetric_windows = false;  ///< buffers are; NCCL's choice has its kernels for them
};

/// Adds --nccl, --env, --tuner, --parameters and --network-parameters.
void add_nccl_run_options(CLI::App& app, NcclRunOptions& options);

/// The cost parameters in force; none where neither the option nor the cluster names any, or the option
/// says "none". Throws: InputError naming the option, or located in the cluster.
[[nodiscard]] std::optional<CostParameters> cost_parameters(const Machine& machine,
                                                            const NcclRunOptions& options,
                                                            const ClusterOptions& cluster);

/// What the fabric's software costs; nothing where neither `chosen` (of --network-parameters) nor the cluster names
/// any, or `chosen` is "none". Throws: as cost_parameters.
[[nodiscard]] std::optional<NetworkCosts> network_costs(const Machine& machine,
                                                        const std::string& chosen,
                                                        const ClusterOptions& cluster);

/// What is known by name or by itself: "auto" is "nccl" where there are parameters, else "best".
[[nodiscard]] std::string meant_algorithm(const std::string& algorithm, bool has_parameters);

/// Refuses options that only NCCL's programs have a use for, where it is not among them.
void refuse_without_nccl(const NcclRunOptions& options, const JobOptions& job,
                         const std::string& algorithm);
/// The same in these words.
void refuse_nccl_options(const NcclRunOptions& options, const JobOptions& job,
                         const std::string& why, const std::string& hint);

/// NCCL on a job's GPUs.
class NcclRun {
 public:
  /// `groups` are those that run at once, alike. Throws: InputError where the GPUs are not the first ones of
  /// nodes alike, and as nccl_decision_input.
  NcclRun(const Machine& machine, const NcclRunOptions& options, const ClusterOptions& cluster,
          const JobOptions& job, const std::vector<Communicator>& groups,
          const OutputOptions& output);

  /// Sets the row's program, GPUs in the order of NCCL's ranks, and what is shown of the choice.
  /// Requires: is_nccl_algorithm(algorithm). Throws: InputError naming the option.
  void prepare(ResultRow& row, const std::string& algorithm) const;

  /// The job with programs that the data checker takes.
  [[nodiscard]] CollectiveJob checkable(const ResultRow& row, const std::string& algorithm) const;

 private:
  [[nodiscard]] NcclProgram program(const CollectiveCall& call, const std::string& algorithm,
                                    ChannelsRun channels) const;

  const Machine* machine_;
  std::unique_ptr<nccl::Decisions> decisions_;
  std::vector<nccl::TunerRule> tuner_;
  std::optional<nccl::Protocol> protocol_;
  bool symmetric_windows_;
  bool sets_channels_;
};

}  // namespace collsim
