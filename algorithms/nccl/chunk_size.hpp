#pragma once
// The chunk in which a channel moves its part of a collective, in bytes of data.
//
// It starts from the slots of the connection's buffer and is halved for small parts, by rules of
// the algorithm, then rounded down to the protocol's grain. Buffers that the user registered are
// not modelled. Source: NCCL 2.28.9, src/enqueue.cc, src/init.cc, src/include/collectives.h.

#include <cstdint>

#include "algorithms/nccl/tuning.hpp"

namespace collsim::nccl {

/// A part of a collective that runs on some channels with one chunk size.
struct ChunkRequest {
  Function function{Function::AllReduce};
  Algorithm algorithm{Algorithm::Ring};
  Protocol protocol{Protocol::Simple};
  /// Of the part: the larger of what all ranks send and receive of it (as Call::bytes).
  std::uint64_t bytes{0};
  /// 1 for the part of one channel; with CollNet and NVLS over several nodes all that share it.
  int channels{1};
};

struct Chunk {
  std::int64_t bytes{0};
  int steps{1};           ///< slots of the buffer in a chunk
  int slice_steps{1};     ///< slots between two synchronisations
  std::int64_t loops{0};  ///< passes of the algorithm over the part

  bool operator==(const Chunk&) const = default;
};

/// Bytes of data a slot of the connection's buffer holds.
[[nodiscard]] std::int64_t slot_data(const Configuration& configuration, Protocol protocol);

/// Complexity: O(log chunk).
[[nodiscard]] Chunk chunk_size(const TuningInput& input, const Tuning& tuning,
                               const ChunkRequest& request);

}  // namespace collsim::nccl
