#pragma once

// Measured tables on the clusters they are said to be of: what `validate` and `calibrate` work on.

#include <memory>
#include <string>
#include <vector>

#include "study/measured_calls.hpp"
#include "tools/cluster_options.hpp"
#include "tools/measurement_options.hpp"
#include "tools/nccl_options.hpp"
#include "tools/output.hpp"
#include "validate/measurement.hpp"

namespace collsim {

struct MeasuredTablesOptions {
  ClusterOptions cluster;
  MeasurementOptions measurements;  ///< files may have a cluster before them: CLUSTER=FILE
  std::string network_parameters;   ///< empty: those of each cluster's fabric
};

/// Adds --cluster, --set, --config-dir, --network-parameters, and those of add_measurement_options.
void add_measured_tables_options(CLI::App& app, MeasuredTablesOptions& options);

/// A cluster and the tables of one file on it.
struct MeasuredMachine {
  std::unique_ptr<Machine> machine;
  std::unique_ptr<Measurements> measurements;
  std::vector<std::unique_ptr<MeasuredTable>> tables;
  std::vector<std::string> left_out;  ///< tables that cannot be predicted, and why
};

/// What is assumed of the tables, or left out, is noted. Throws: InputError for files and clusters, and where no table is
/// left.
[[nodiscard]] std::vector<MeasuredMachine> load_measured_machines(
    const MeasuredTablesOptions& options, const OutputOptions& output);

}  // namespace collsim
