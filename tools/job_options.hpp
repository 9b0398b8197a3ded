#pragma once

// The options that describe a job (a collective on some GPUs of the cluster) and how it is simulated.
// Shared by run, compare and perf.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/collective_run.hpp"
#include "study/limits.hpp"
#include "study/placement.hpp"
#include "tools/cli_names.hpp"
#include "topology/cluster.hpp"

namespace collsim {

struct JobOptions {
  std::string collective;
  std::optional<std::uint32_t> nodes;
  std::optional<std::uint32_t> gpus_per_node;
  std::optional<std::uint32_t> ranks;
  std::string node_list;
  std::string placement = "block";
  std::string network_model = "flow";
  std::string fold = "auto";
  std::string protocol;
  std::optional<std::uint32_t> channels;  ///< absent: 1, or as many as NCCL takes
  std::optional<std::uint32_t> chunks;    ///< absent: 1
  std::uint64_t max_transfers = RunLimits().max_transfers;
  std::string max_memory;  ///< empty: what the machine has
};

/// Adds the collective and the options above.
void add_job_options(CLI::App& app, JobOptions& options);

/// What one call of the collective is given by, as text.
struct CallOptions {
  std::string bytes;
  std::string datatype = "float";
  std::string redop;                  ///< empty: sum
  std::optional<std::uint32_t> root;  ///< absent: 0
  bool out_of_place = false;
  std::string groups;  ///< "tp=8"; empty: one group of all ranks
};
/// Adds --bytes, --datatype, --redop, --root, --out-of-place and --groups.
void add_call_options(CLI::App& app, CallOptions& options);
void add_groups_option(CLI::App& app, std::string& groups);
CLI::Option* add_algorithm_option(CLI::App& app, std::string& algorithm);

/// Each throws InputError naming the option.
[[nodiscard]] CollectiveKind collective_of(const std::string& text);
[[nodiscard]] DataType data_type_of(const std::string& text, const std::string& option);
[[nodiscard]] ReductionOp reduction_of(const std::string& text, const std::string& option);
[[nodiscard]] Bytes size_of_option(const std::string& text, const std::string& option);
/// "auto" or "best".
[[nodiscard]] bool is_chosen_by_simulation(const std::string& algorithm);
/// Refuses a name that is unknown or does not implement the collective.
void require_algorithm(const std::string& name, CollectiveKind kind, const std::string& option);
/// The same where NCCL's programs are names, too.
void require_program(const std::string& name, CollectiveKind kind, const std::string& option);
/// And the words "auto" and "best".
void require_any_algorithm(const std::string& name, CollectiveKind kind, const std::string& option);
/// Throws: InputError("--max-memory").
[[nodiscard]] RunLimits limits_of(const JobOptions& options);
[[nodiscard]] NetworkModel network_model_of(const JobOptions& options);
[[nodiscard]] FoldMode fold_of(const JobOptions& options);
[[nodiscard]] Communicator gpus_of(const Cluster& cluster, const JobOptions& options);
/// "block", "cyclic", "random:7" or a file as it was given, and of which nodes, for output.
[[nodiscard]] std::string placement_name(const JobOptions& options);
/// The groups that run at once; one of all, where the text is empty.
[[nodiscard]] std::vector<Communicator> groups_of(const Communicator& gpus,
                                                  const std::string& groups);
/// Of groups, the first with the others beside it.
void set_groups(CollectiveJob& job, std::vector<Communicator> groups);
[[nodiscard]] Rank root_of(std::uint32_t root, std::uint32_t ranks, const std::string& option);

/// A job without its algorithm. `requested` gets the size that was asked for.
[[nodiscard]] CollectiveJob job_of(const Cluster& cluster, const JobOptions& options,
                                   const CallOptions& call, Bytes& requested);

/// A program, and how large its simulation is where every lane is simulated.
struct CheckedProgram {
  std::shared_ptr<const Program> program;
  RunSize size;
};

/// The program of a job whose algorithm is named. Throws: InputError("--algorithm") with what stands
/// in its way, and as require_within_limits where nothing may be folded.
[[nodiscard]] CheckedProgram checked_program(const Cluster& cluster, const CollectiveJob& job,
                                             std::uint64_t iterations, const JobOptions& options);

/// Sets what is asked before a run of that size, once it is known how it is folded: whether it is within
/// the limits. Requires: `options` outlives the run.
void require_folded_within_limits(RunOptions& run, const RunSize& size, const JobOptions& options);

/// Throws: InputError("--max-transfers" or "--max-memory") with the estimate if a run of that size
/// would be too large.
void require_within_limits(const RunSize& size, const JobOptions& options);

}  // namespace collsim
