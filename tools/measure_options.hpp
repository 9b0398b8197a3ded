#pragma once

// The options of `measure`: nccl-tests' own, what runs, and the cluster to compare with.

#include <cstdint>
#include <optional>
#include <string>

#include "tools/cluster_options.hpp"
#include "tools/job_options.hpp"
#include "tools/nccl_run.hpp"
#include "tools/output.hpp"
#include "tools/series_options.hpp"

namespace collsim {

struct MeasureCommand : SeriesOptions {
  ClusterOptions cluster;  ///< empty: none to compare with
  NcclRunOptions nccl;
  JobOptions job;
  OutputOptions output;
  std::string backend = "host";
  std::string algorithm = "auto";
  std::string seed = "collsim";
  std::uint32_t timeout = 30;  ///< seconds without progress
};

void add_measure_options(CLI::App& app, MeasureCommand& command);

/// Refuses backends that this program does not have, and options that need a cluster where there is none.
/// Throws: InputError naming the option.
void check_measure_options(const MeasureCommand& command);

}  // namespace collsim
