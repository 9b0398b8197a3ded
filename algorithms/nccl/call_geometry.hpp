#pragma once
// One call alone in its group, as NCCL lays it out: channels and threads, the part of each channel,
// the chunk in which a part is moved. Puts launch_shape, split_work and chunk_size together.
//
// The chunk is that of the first channel's part: the others differ where their parts do.

#include <cstdint>
#include <vector>

#include "algorithms/nccl/chunk_size.hpp"
#include "algorithms/nccl/launch_shape.hpp"
#include "algorithms/nccl/tuner.hpp"
#include "algorithms/nccl/work_split.hpp"

namespace collsim::nccl {

struct CallGeometry {
  LaunchShape shape{};
  /// In the order of channels; in elements, of AllGather and ReduceScatter those of one rank. Empty
  /// where channels share the whole chunk by chunk (CollNet, NVLS over several nodes).
  std::vector<ChannelPart> parts{};
  std::int64_t element_size{1};
  Chunk chunk{};
};

/// Requires: call.bytes > 0 and is whole elements for each rank.
[[nodiscard]] CallGeometry call_geometry(const TuningInput& input, const Tuning& tuning,
                                         const Call& call, const TunedChoice& choice);

}  // namespace collsim::nccl
