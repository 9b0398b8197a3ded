#pragma once
// How channels share what the ranks of a rail (one a node) have together, a block each: node by node, cut into
// windows of a chunk, which channels take in turn. All channels do as many loops as the longest; what is left
// over is empty, of the last node.
//
// Deviates: in NCCL a window goes on into the next block; here it ends with its own.
// Source: NCCL 2.28.9, src/device/all_gather.h, reduce_scatter.h.

#include <algorithm>
#include <cstdint>

#include "algorithms/nccl/divided_up.hpp"

namespace collsim::nccl {

class RailWindows {
 public:
  struct Window {
    std::uint32_t node{0};  ///< whose block
    std::int64_t first{0};  ///< in the block
    std::int64_t count{0};
  };

  /// `count` of a block, and `chunk`, in elements. Requires: none of the arguments is 0.
  RailWindows(std::int64_t count, std::int64_t chunk, std::uint32_t nodes, std::uint32_t channels)
      : count_(count),
        chunk_(chunk),
        nodes_(nodes),
        channels_(channels),
        of_block_(static_cast<std::uint64_t>(divided_up(count, chunk))) {}

  [[nodiscard]] std::uint64_t loops() const {
    return divided_up<std::uint64_t>(nodes_ * of_block_, channels_);
  }

  [[nodiscard]] Window at(std::uint32_t channel, std::uint64_t loop) const {
    const std::uint64_t number = loop * channels_ + channel;
    if (number >= nodes_ * of_block_) {
      return {nodes_ - 1, count_, 0};
    }
    const std::int64_t first = static_cast<std::int64_t>(number % of_block_) * chunk_;
    return {static_cast<std::uint32_t>(number / of_block_), first,
            std::min(chunk_, count_ - first)};
  }

  /// The first loop in which a channel has a window of this node or a later one; behind the last node,
  /// how many loops there are.
  [[nodiscard]] std::uint64_t first_loop(std::uint32_t channel, std::uint32_t node) const {
    const std::uint64_t before = node * of_block_;
    if (node == nodes_) {
      return loops();
    }
    return before <= channel ? 0 : divided_up<std::uint64_t>(before - channel, channels_);
  }

  /// Channels with equal kinds have windows of the same nodes and sizes, loop by loop.
  [[nodiscard]] std::uint32_t kind_of(std::uint32_t channel) const {
    // Neighbours differ where, in some loop, a block or its whole windows end between them.
    const std::uint64_t before_end = count_ % chunk_ != 0 ? 1 : 0;
    std::uint32_t between = 0;
    for (std::uint64_t node = 1; node <= nodes_; ++node) {
      const std::uint64_t block = node * of_block_;
      for (std::uint64_t end = block - before_end; end <= block; ++end) {
        const std::uint64_t first_behind = end % channels_;
        between += first_behind > 0 && first_behind <= channel ? 1 : 0;
      }
    }
    return between;
  }

 private:
  std::int64_t count_;
  std::int64_t chunk_;
  std::uint32_t nodes_;
  std::uint32_t channels_;
  std::uint64_t of_block_;
};

}  // namespace collsim::nccl
