#pragma once

// How large a simulation may become before it is refused rather than begun: by its transfers, which
// take time, and by its lanes, which take memory. Both are known before anything runs.

#include <cstdint>
#include <limits>

#include "algorithms/program.hpp"
#include "sim/collective_run.hpp"
#include "topology/cluster.hpp"
#include "topology/units.hpp"

namespace collsim {

/// What a simulation may take.
struct RunLimits {
  std::uint64_t max_transfers = 1'000'000'000;
  Bytes max_memory{std::numeric_limits<std::int64_t>::max()};
};

/// How large a simulation is, known before it runs.
struct RunSize {
  std::uint64_t transfers = 0;  ///< of one call, in all groups
  std::uint64_t calls = 1;
  Bytes memory{};  ///< about the most that it takes beyond the topology
};

/// The size of `calls` calls of a program, one after the other, in each of the job's groups at once.
/// Memory, rounded up to whole MiB: for each lane 1,400 B, as measured for `direct`, where every lane has
/// its own path and a message under way, and 48 B for each link of its route beyond 8, which sprayed
/// routes have many of; and a time per rank and call. The links are the mean over the lanes of the first
/// group, a lane's route the longest of up to 4 of its messages. Of more than 512 lanes, 512 are looked
/// at, and three standard errors are added to their mean.
/// Throws: RangeError if the transfers of a call cannot be counted in 64 bits; as Router::route.
/// Complexity: O(ranks), and at most 2,048 routes.
[[nodiscard]] RunSize size_of_run(const Cluster& cluster, const CollectiveJob& job,
                                  const Program& program, std::uint64_t calls);

/// What is left of the size of a run where lanes stand for others: in proportion to them.
[[nodiscard]] RunSize folded_size(const RunSize& size, const Folding& folding);

/// Whether a simulation of that size is within the limits, and if not, which one it exceeds first.
enum class WithinLimits : std::uint8_t { Yes, TooManyTransfers, TooMuchMemory };

[[nodiscard]] WithinLimits check_limits(const RunSize& size, const RunLimits& limits);

}  // namespace collsim
