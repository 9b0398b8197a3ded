#pragma once

// Calls of a collective as workloads, and what runs of them come to: what a single call
// (collective_run.cpp) and calls back to back (back_to_back.cpp) have in common. Internal to sim/.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/collective_run.hpp"
#include "sim/workload.hpp"

namespace collsim::detail {

using Programs = std::vector<std::shared_ptr<const Program>>;

/// `calls` calls of each group, one behind the other on every GPU. Operation
/// `call * groups + group`.
[[nodiscard]] Workload workload_of(const CollectiveJob& job, const Programs& programs,
                                   std::uint32_t calls);

/// What a run of any number of calls says about a group of the job. Throws: RangeError where links
/// carried more than output can hold.
[[nodiscard]] CollectiveResult result_of(const Cluster& cluster, const CollectiveJob& job,
                                         const Programs& programs, std::size_t group,
                                         RunResult&& run);

/// When the last rank ended; 0 without ranks.
[[nodiscard]] Duration last_end(const OperationResult& operation);
/// The first of those that take longest. Requires: there are some.
[[nodiscard]] std::size_t slowest_of(const std::vector<Duration>& times);
/// Where it was the slowest, and what all took; nothing where there is one group.
void set_groups(CollectiveResult& result, std::vector<Duration> times, std::size_t slowest);

/// One call, and whether all ranks of all groups ended it together.
struct OneCall {
  CollectiveResult result;
  bool together = true;
};
/// Throws: as run_collective().
[[nodiscard]] OneCall run_once(const Cluster& cluster, const CollectiveJob& job,
                               const Programs& programs, const RunOptions& options);

}  // namespace collsim::detail
