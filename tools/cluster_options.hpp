#pragma once

// The options that choose a cluster, and loading it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/nccl/machine.hpp"
#include "tools/cli_names.hpp"
#include "tools/output.hpp"
#include "topology/cluster.hpp"
#include "topology/error.hpp"
#include "topology/io/load.hpp"

namespace collsim {

struct ClusterOptions {
  std::string cluster;
  std::vector<std::string> settings;  ///< --set PATH=VALUE
  std::string config_directory;
};

/// Whether the cluster may also be given as a word of its own, for commands that have no other.
enum class ClusterNaming : std::uint8_t { Option, OptionOrWord };

/// Adds --cluster (required), --set and --config-dir.
void add_cluster_options(CLI::App& app, ClusterOptions& options,
                         ClusterNaming naming = ClusterNaming::Option);
/// The same for a command that takes several clusters: --cluster may be given several times, and what
/// --set says holds for each.
struct ClustersOptions {
  std::vector<std::string> clusters;
  ClusterOptions common;  ///< its own `cluster` is not used
};
void add_clusters_options(CLI::App& app, ClustersOptions& options);

/// Adds --config-dir alone.
void add_config_directory(CLI::App& app, ClusterOptions& options);

/// --config-dir, the folders of COLLSIM_CONFIG_PATH, share/collsim/configs beside the program, and for a
/// program in its build tree the source tree's configs.
[[nodiscard]] ConfigPath config_path(const ClusterOptions& options);

struct Machine {
  LoadedCluster loaded;
  Cluster cluster;
  /// What the file says, where --cluster is a topology file of NCCL's (XML).
  std::optional<nccl::Machine> topology_file{};
};
/// Loads a description, or a topology file of NCCL's: told by its content. What was assumed of the
/// latter is noted. Throws: InputError, located.
[[nodiscard]] Machine load_machine(const ClusterOptions& options, const OutputOptions& output);
/// What `action` returns. An error that names a value of the description gets its place there.
template <class Action>
auto at_its_place(const Machine& machine, Action action) {
  try {
    return action();
  } catch (const InputError& error) {
    if (error.path().empty() || error.path().starts_with("-")) {
      throw;
    }
    throw machine.loaded.source_map.locate(error);
  }
}
/// One machine a cluster, in the order given. Throws: InputError, located, or for a cluster that is given
/// twice.
[[nodiscard]] std::vector<Machine> load_machines(const ClustersOptions& options,
                                                 const OutputOptions& output);

}  // namespace collsim
