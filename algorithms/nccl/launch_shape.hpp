#pragma once
// How many channels and threads a call of a given size runs with.
//
// Small calls use fewer channels, then fewer threads, so that each thread has some work: a
// threshold in bytes a thread. Source: NCCL 2.28.9, src/enqueue.cc, src/graph/tuning.cc.

#include <cstdint>

#include "algorithms/nccl/tuning.hpp"

namespace collsim::nccl {

struct LaunchShape {
  int channels{1};
  int threads{0};  ///< of a block

  bool operator==(const LaunchShape&) const = default;
};

/// Threads of a block before any reduction; 0: not limited by threads (PAT).
[[nodiscard]] int max_threads(const TuningInput& input, Algorithm algorithm, Protocol protocol);

/// Bytes a thread below which channels and threads are given up.
[[nodiscard]] std::int64_t thread_threshold(const TuningInput& input, Algorithm algorithm,
                                            Protocol protocol);

/// `bytes` as in Call. Complexity: O(channels).
[[nodiscard]] LaunchShape launch_shape(const TuningInput& input, const Channels& channels,
                                       Algorithm algorithm, Protocol protocol, std::uint64_t bytes);

}  // namespace collsim::nccl
