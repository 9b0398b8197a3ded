#pragma once

// The options that choose an NCCL: its version and its environment; and what it decides with them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/nccl/decisions.hpp"
#include "algorithms/nccl/tuner.hpp"
#include "tools/cli_names.hpp"
#include "tools/cluster_options.hpp"

namespace collsim {

struct NcclOptions {
  std::string version = "2.28";
  std::vector<std::string> environment;  ///< NAME=VALUE
};

/// Adds --nccl and --env.
void add_nccl_options(CLI::App& app, NcclOptions& options);

/// Adds --tuner.
void add_tuner_option(CLI::App& app, std::string& tuner);
/// The rules of the file of --tuner; none where it is not given. Throws: InputError with the place.
[[nodiscard]] std::vector<nccl::TunerRule> read_tuner(const std::string& tuner);

/// The part of a cluster that a communicator has: whole nodes alike.
struct NcclJob {
  std::optional<std::uint32_t> nodes;          ///< the first ones
  std::optional<std::uint32_t> gpus_per_node;  ///< the first ones of each
};

/// The variables in force: the cluster's `environment`, and those of --env, which come later and win.
struct NcclVariable {
  std::string name;
  std::string value;
  std::string origin;  ///< "--env", or the cluster's name
};
[[nodiscard]] std::vector<NcclVariable> nccl_environment(const Machine& machine,
                                                         const NcclOptions& options);

/// What NCCL decides from on the machine. Reads the files that NCCL_TOPO_FILE and NCCL_GRAPH_FILE name; what
/// is assumed of them is noted.
/// Throws: InputError for a version or variable that is not known, a machine that is not described
/// enough, nodes that differ, and more nodes or GPUs than there are.
[[nodiscard]] nccl::DecisionInput nccl_decision_input(const Machine& machine,
                                                      const NcclOptions& options,
                                                      const ClusterOptions& cluster,
                                                      const NcclJob& job,
                                                      const OutputOptions& output);

/// The number of each GPU on its host, by rank: the names of graph files. Throws: InputError if two
/// have the same.
[[nodiscard]] std::vector<int> gpu_numbers(const nccl::Machine& machine);

/// The machine as NCCL's topology file describes it. Throws: InputError as nccl_decision_input.
[[nodiscard]] nccl::Machine nccl_machine(const Machine& machine, const ClusterOptions& cluster);

}  // namespace collsim
