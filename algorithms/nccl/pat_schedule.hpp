#pragma once

// PAT, parallel aggregated trees: who exchanges which blocks when, the same for every rank.
//
// A rank names a block by its *distance*: how many ranks further on its owner is, modulo the ranks.
// The block at distance s > 0 belongs to dimension d, the lowest bit of s. AllGather: it comes from
// the rank at distance 2^d, for which it is at distance s - 2^d. ReduceScatter: what there is of its
// sum goes to that rank. So each rank exchanges n - 1 blocks, half of them with its neighbours, and
// one with the farthest.
//
// One exchange moves up to A blocks, A the aggregation, a power of two. With 2^L >= n and
// delta = 2^L / A, AllGather does L - log2(delta) exchanges in which the ranks whose distance is a
// multiple of delta double what they have, then one for each 0 < s < delta, of the blocks
// s, s + delta, s + 2 delta, …: along binomial trees, depth first, the largest subtree first.
// ReduceScatter does the reverse with s falling.
//
// Deviates: of a ReduceScatter whose exchanges are several messages NCCL mixes near and far blocks
// in a message; here a message has blocks in order. Source: NCCL 2.28.9, src/include/collectives.h;
// Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale" (2025).

#include <cstdint>
#include <optional>
#include <vector>

namespace collsim::nccl {

/// How many blocks an exchange has, and how many of them fit a slot of the buffer and so travel as
/// one message.
struct PatAggregation {
  std::uint32_t blocks{1};
  std::uint32_t message{1};

  bool operator==(const PatAggregation&) const = default;
};

/// Of `block` and `slot` bytes or elements. Requires: at least 2 ranks.
[[nodiscard]] PatAggregation pat_aggregation(std::uint32_t ranks, std::int64_t block,
                                             std::int64_t slot);

/// Distances first, first + stride, …
struct PatBlocks {
  std::uint32_t first{0};
  std::uint32_t stride{1};
  std::uint32_t count{0};

  bool operator==(const PatBlocks&) const = default;
};

/// One step on a message of blocks. What a rank keeps is its output of AllGather, and of
/// ReduceScatter the sums that are not complete.
struct PatOperation {
  enum class Place : std::uint8_t { None, Input, Kept, Output };

  PatBlocks blocks{};
  std::optional<std::uint32_t> receive{};  ///< from a dimension
  std::optional<std::uint32_t> send{};     ///< to a dimension
  Place source{Place::None};
  Place destination{Place::None};
  bool continues{false};  ///< as Step::continues

  bool operator==(const PatOperation&) const = default;
};

/// The operations of a rank for one chunk of every block. Requires: at least 2 ranks.
/// Complexity: O(ranks · messages of an exchange).
[[nodiscard]] std::vector<PatOperation> pat_all_gather(std::uint32_t ranks,
                                                       PatAggregation aggregation);
[[nodiscard]] std::vector<PatOperation> pat_reduce_scatter(std::uint32_t ranks,
                                                           PatAggregation aggregation);

}  // namespace collsim::nccl
