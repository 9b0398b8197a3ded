#pragma once

// One collective on one machine, from options to the row of results: what `run` shows and `sweep` does at each point.

#include <string>

#include "sim/trace.hpp"
#include "tools/cli_names.hpp"
#include "tools/cluster_options.hpp"
#include "tools/job_options.hpp"
#include "tools/nccl_run.hpp"
#include "tools/output.hpp"
#include "tools/result_row.hpp"

namespace collsim {

struct SingleRun {
  ClusterOptions cluster;
  NcclRunOptions nccl;
  JobOptions job;
  CallOptions call;
  std::string algorithm = "auto";
  bool critical_path = false;
  bool verify = false;
};

/// Adds the options that say what is run and on what: all of these but the switches.
void add_single_run_options(CLI::App& app, SingleRun& run);

/// Throws what simulate_run would before it simulates anything: the job does not fit on the machine, a word is not
/// known there.
void check_run(const SingleRun& run, const Machine& machine, const OutputOptions& output);

/// Simulates it on its machine, which was loaded before. `observer`, if given, sees the run. Notes and progress go
/// where `output` says. Throws: InputError naming the option or located in the description of the cluster;
/// SimulationError.
[[nodiscard]] ResultRow simulate_run(const SingleRun& run, const Machine& machine,
                                     const OutputOptions& output,
                                     TraceObserver* observer = nullptr);

}  // namespace collsim
