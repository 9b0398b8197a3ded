#pragma once
// How a primitive of NCCL cuts its chunk: into slices, each with a wait for the peer before it and a
// post behind it.
//
// All slices of a primitive are synchronised, those that are empty as well; what a message of theirs
// carries is nothing. LL and LL128 have one slice. Source: NCCL 2.28.9, src/device/prims_simple.h.

#include <algorithm>
#include <cstdint>

#include "algorithms/nccl/divided_up.hpp"
#include "algorithms/nccl/execution.hpp"
#include "algorithms/nccl/vocabulary.hpp"
#include "algorithms/program.hpp"

namespace collsim::nccl {

/// Elements of a primitive, the first of them counted from the primitive's own first.
struct Slice {
  std::int64_t first{0};
  std::int64_t count{0};

  bool operator==(const Slice&) const = default;
};

/// Slice `index` of a primitive on `count` elements. Requires: index < execution.slices.
[[nodiscard]] constexpr Slice slice_of(const Execution& execution, std::int64_t count,
                                       std::int64_t index) {
  if (execution.slices == 1) {
    return {0, count};
  }
  const std::int64_t grain = execution.slice_grain;
  const std::int64_t size =
      std::max(divided_up(count, grain * execution.slices) * grain, execution.least_slice);
  const std::int64_t first = std::min(index * size, count);
  return {first, std::min(size, count - first)};
}

[[nodiscard]] constexpr WireProtocol wire_protocol(Protocol protocol) {
  switch (protocol) {
    case Protocol::LL:
      return WireProtocol::LL;
    case Protocol::LL128:
      return WireProtocol::LL128;
    case Protocol::Simple:
      break;
  }
  return WireProtocol::Simple;
}

/// The threads of a group that move data: Simple keeps a warp of a group that sends for fences and
/// flags, where it has at least three.
[[nodiscard]] constexpr int moving_threads(Protocol protocol, int threads) {
  constexpr int warp = 32;
  return protocol == Protocol::Simple && threads >= 3 * warp ? threads - warp : threads;
}

}  // namespace collsim::nccl
