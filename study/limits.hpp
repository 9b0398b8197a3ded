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

/// How large a simulation is, known before it runs.
struct RunSize {
  std::uint64_t transfers = 0;  ///< of one call, in all groups
  std::uint64_t calls = 1;
  Bytes memory{};  ///< about the most that it takes beyond the topology
};

/// The size of `calls` calls of a program, one after the other, in each of `groups` groups at once.
/// Memory, rounded up to whole MiB: 1,400 B a lane, as measured for `direct`, where every lane has
/// its own path and a message under way, and a time per rank and call.
/// Throws: RangeError if the transfers of a call cannot be counted in 64 bits.
/// Complexity: O(ranks).
[[nodiscard]] RunSize size_of_run(const Program& program, std::uint64_t groups,
                                  std::uint64_t calls);

/// Whether a simulation of that size is within the limits, and if not, which one it exceeds first.
enum class WithinLimits : std::uint8_t { Yes, TooManyTransfers, TooMuchMemory };

[[nodiscard]] WithinLimits check_limits(const RunSize& size, const RunLimits& limits);

}  // namespace collsim
