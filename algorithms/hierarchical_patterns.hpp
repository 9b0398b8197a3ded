#pragma once

// The phases that hierarchical algorithms are made of, each a pattern of its own; then() joins
// them. All are pure functions of the layout and keep a copy of it: O(ranks).

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/node_layout.hpp"
#include "algorithms/pattern.hpp"

namespace collsim {

/// What a ring does with its pieces.
enum class RingWork : std::uint8_t { ReduceScatter, AllGather, AllReduce };

/// A ring in each node: the piece of member j is the run of blocks of its columns.
[[nodiscard]] std::unique_ptr<Pattern> ring_in_nodes(const NodeLayout& layout, RingWork work,
                                                     Place contributions, Place results);

/// A ring between the nodes for each column, in a lane of each owner.
[[nodiscard]] std::unique_ptr<Pattern> ring_along_columns(const NodeLayout& layout, RingWork work,
                                                          Place contributions, Place results);

/// Local copies between blocks in rank order and blocks in another order in scratch.
struct Reordering {
  enum class Direction : std::uint8_t { IntoScratch, OutOfScratch };
  Direction direction = Direction::IntoScratch;
  Place place;                       ///< where blocks lie in rank order
  std::uint32_t scratch_begin = 0;   ///< where the other order begins
  std::uint32_t scratch_blocks = 0;  ///< of the whole algorithm
};
/// `order[i]` is the rank whose block is the i-th. Neighbours whose ranks lie at equal distances are
/// copied in one step.
[[nodiscard]] std::unique_ptr<Pattern> reorder_blocks(std::span<const Rank> order,
                                                      const Reordering& reordering);

/// Each rank copies its own block from the input to its place by position in scratch.
[[nodiscard]] std::unique_ptr<Pattern> copy_own_block(const NodeLayout& layout);

/// Where an all-to-all keeps blocks in scratch: by position of the receiver (`ready`); by receiver,
/// then sender (`collected`: what the members of a node hand to the owner of a column); by node of
/// the sender, then member (`received`).
struct ExchangeScratch {
  explicit ExchangeScratch(const NodeLayout& layout);
  std::uint32_t ready = 0;
  std::uint32_t collected = 0;
  std::uint32_t received = 0;
  std::uint32_t blocks = 0;
};
/// Pairwise in each node: each member gets all blocks for the receivers in its columns.
[[nodiscard]] std::unique_ptr<Pattern> exchange_in_nodes(const NodeLayout& layout);
/// Pairwise between the nodes along each column: each rank gets its blocks, node by node.
[[nodiscard]] std::unique_ptr<Pattern> exchange_along_columns(const NodeLayout& layout);

/// A binomial tree over the nodes and one in each node, down from the root or up to it. A node is
/// entered at the member with the root's number, modulo its members.
[[nodiscard]] std::unique_ptr<Pattern> broadcast_over_nodes(const NodeLayout& layout, Rank root,
                                                            Place from, Place to);
[[nodiscard]] std::unique_ptr<Pattern> reduce_over_nodes(const NodeLayout& layout, Rank root,
                                                         Place from, Place to);

}  // namespace collsim
