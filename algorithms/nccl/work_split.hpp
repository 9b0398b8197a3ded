#pragma once
// How the elements of a group of collectives are dealt to channels.
//
// A group's collectives are laid one after the other over the channels, each channel filled up to
// its share of the traffic, in cells of at least 16 KiB of traffic. So a collective has a range of
// channels with equal parts and a first and a last one of other sizes. CollNet over all nodes, and
// NVLS with it, deals chunk by chunk instead; so does a call that Channels does not hold.
// Source: NCCL 2.28.9, src/enqueue.cc.

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/nccl/vocabulary.hpp"

namespace collsim::nccl {

/// One collective of a group.
struct SplitTask {
  Function function{Function::AllReduce};
  Protocol protocol{Protocol::Simple};
  std::int64_t count{0};  ///< elements: of AllGather and ReduceScatter those of one rank
  std::int64_t element_size{4};
  int channels{1};  ///< as launch_shape gives them
};

/// The part of a collective that a channel does, in elements.
struct ChannelPart {
  int channel{0};
  std::int64_t count{0};

  bool operator==(const ChannelPart&) const = default;
};

/// Deals tasks of one kind (NVLS or not), in the order in which NCCL has them, over `limit` channels.
/// Shapes: result[task] lists its parts in the order of channels; the counts sum to the task's.
/// Requires: counts and element sizes above 0, 1 <= channels <= limit.
/// Complexity: O(tasks · channels).
[[nodiscard]] std::vector<std::vector<ChannelPart>> split_work(std::span<const SplitTask> tasks,
                                                               int ranks, int limit);

}  // namespace collsim::nccl
