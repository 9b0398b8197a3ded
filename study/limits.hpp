#pragma once

// How large a simulation may become before it is refused rather than begun: by its transfers, which
// take time, and by its lanes, which take memory. Both are known before anything runs.

#include <cstdint>
#include <limits>

#include "algorithms/program.hpp"
#include "topology/units.hpp"

namespace collsim {

/// What a simulation may take.
struct RunLimits {
  std::uint64_t max_transfers = 1'000'000'000;
  Bytes max_memory{std::numeric_limits<std::int64_t>::max()};
};

/// About the most that simulating a program takes beyond the topology, rounded up to whole MiB:
/// 1,400 B a lane, as measured for `direct`, where every lane has its own path and a message under
/// way.
/// Complexity: O(ranks).
[[nodiscard]] Bytes memory_estimate(const Program& program);

}  // namespace collsim
