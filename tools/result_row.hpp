#pragma once

// One row of `collsim/results/1`: a simulated collective with everything that output shows of it.
// docs/output.md lists the fields.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/check.hpp"
#include "sim/collective_run.hpp"
#include "tools/cluster_options.hpp"
#include "tools/job_options.hpp"
#include "tools/used_parameters.hpp"
#include "topology/cluster.hpp"

namespace collsim {

struct ResultRow {
  std::string input_digest;
  std::string placement;
  std::uint32_t nodes = 1;  ///< of the group that is shown
  std::string groups;       ///< "tp=8"; empty: all ranks are one
  Bytes requested;
  NetworkModel network_model = NetworkModel::Flow;
  CollectiveJob job;
  CollectiveResult result;
  std::string protocol;  ///< of NCCL's programs; empty: none
  std::optional<std::uint32_t>
      nccl_channels;  ///< channels that run, those that are joined among them
  std::optional<UsedParameters> parameters;  ///< absent: nominal
  std::string chosen_because;                ///< where the algorithm was not named by the user
  std::optional<CheckReport> check;          ///< where --verify was given
  std::optional<Iterations> iterations;      ///< back to back, for perf
  std::vector<std::string> warnings;         ///< besides the result's own
};

/// A row about a job that is still to be simulated.
[[nodiscard]] ResultRow row_for(const Machine& machine, const JobOptions& options,
                                CollectiveJob job, Bytes requested);
/// The same for the job of `run` and `compare`, without its algorithm. Throws: as job_of.
[[nodiscard]] ResultRow row_for(const Machine& machine, const JobOptions& options,
                                const CallOptions& call);

/// The job's groups in the result's order of interest: with groups side by side the slowest is the one
/// whose GPUs the row shows. Does nothing for one group.
void show_slowest_group(const Cluster& cluster, ResultRow& row);

/// What to show of a row besides the rest.
struct RowDetail {
  bool per_rank = false;
  bool all_links = false;
  bool critical_path = false;
};

/// Use of a link, as shown.
struct ShownLink {
  LinkId link;
  std::string name;
  std::string level;
  std::int64_t bytes = 0;
  double utilisation = 0;  ///< bytes over what the link can carry in the time
  double busy = 0;         ///< share of the time with at least one transfer
  std::uint32_t peak_flows = 0;
};

/// Use of all links of a level that carried something.
struct LevelUse {
  std::string level;
  std::uint64_t links = 0;  ///< all links of the level
  std::uint64_t used = 0;
  std::int64_t bytes = 0;  ///< the sum of the links' (each in whole bytes)
  double peak_utilisation = 0;
};

/// Links that carried something: the most utilised first (ties: by id), at most `limit`.
[[nodiscard]] std::vector<ShownLink> busiest_links(const Graph& graph,
                                                   const CollectiveResult& result,
                                                   std::size_t limit);
[[nodiscard]] std::vector<LevelUse> use_by_level(const Graph& graph,
                                                 const CollectiveResult& result);

/// min, max and mean (rounded down) of the ranks' times.
struct RankTimes {
  Duration min{};
  Duration max{};
  Duration mean{};
};
[[nodiscard]] RankTimes rank_times(const CollectiveResult& result);

/// Where a time over back-to-back iterations lies below the bound of one call: why. Buffers are
/// unlimited, so that ranks which only send are done long before the last one.
[[nodiscard]] std::optional<std::string> below_bound_warning(const ResultRow& row);

inline constexpr std::string_view nominal_note = "nominal: no protocol, no launch";

/// The result's warnings, and those that hold for every result of this version.
[[nodiscard]] std::vector<std::string> warnings_of(const ResultRow& row);

/// bound / time, at most 1; absent without a bound or a time.
[[nodiscard]] std::optional<double> efficiency(const CollectiveResult& result);

}  // namespace collsim
