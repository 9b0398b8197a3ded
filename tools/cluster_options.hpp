#pragma once

// The options that choose a cluster, and loading it.

#include <optional>
#include <string>
#include <vector>

#include "tools/cli_names.hpp"
#include "topology/cluster.hpp"
#include "topology/io/load.hpp"

namespace collsim {

struct ClusterOptions {
  std::string cluster;
  std::vector<std::string> settings;  ///< --set PATH=VALUE
  std::string config_directory;
};

/// Adds --cluster (required), --set and --config-dir.
void add_cluster_options(CLI::App& app, ClusterOptions& options);
/// Adds --config-dir alone.
void add_config_directory(CLI::App& app, ClusterOptions& options);

/// --config-dir, the folders of COLLSIM_CONFIG_PATH, share/collsim/configs beside the program, and for a
/// program in its build tree the source tree's configs.
[[nodiscard]] ConfigPath config_path(const ClusterOptions& options);

struct Machine {
  LoadedCluster loaded;
  Cluster cluster;
};
/// Throws: InputError, located.
[[nodiscard]] Machine load_machine(const ClusterOptions& options);

}  // namespace collsim
