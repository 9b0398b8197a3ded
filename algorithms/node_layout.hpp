#pragma once

// Which ranks share a node, and how hierarchical algorithms divide work among them.
//
// Nodes are numbered by their first rank, the ranks of a node in rank order (its *members*). With K
// members in the largest node there are K *columns*; in a node of g members, member j owns the
// columns c with floor(c·g/K) = j: a run of them, one each where the node is as large as the
// largest. Between nodes, data move along columns: from owner to owner.
//
// Each column consists of one *piece* a node. Two ways to lay out data in blocks:
//   shared:   K·N blocks, piece of node i in column c = block c·N + i (all_reduce);
//   per rank: a block a rank, which is its node's piece in the first column the rank owns; the
//             other pieces are empty. In this order of columns, then nodes, the blocks are numbered
//             by *position* (all_gather, …).
// Either way what a member's columns hold is one range of blocks. With equal nodes and ranks placed
// node by node, column c is rail c.

#include <cstdint>
#include <span>
#include <vector>

#include "topology/ids.hpp"

namespace collsim {

/// Blocks [first, first + count).
struct BlockRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  constexpr bool operator==(const BlockRange&) const = default;
};

class NodeLayout {
 public:
  enum class Pieces : std::uint8_t { Shared, PerRank };

  /// Requires: at least one rank.
  NodeLayout(std::span<const NodeId> node_of_rank, Pieces pieces);

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(place_.size()); }
  [[nodiscard]] std::uint32_t nodes() const {
    return static_cast<std::uint32_t>(node_begin_.size() - 1);
  }
  [[nodiscard]] std::uint32_t columns() const { return columns_; }
  [[nodiscard]] std::uint32_t blocks() const {
    return pieces_ == Pieces::Shared ? columns_ * nodes() : ranks();
  }

  [[nodiscard]] std::uint32_t node(Rank rank) const { return place_[rank.index()].node; }
  /// The rank's number among the members of its node.
  [[nodiscard]] std::uint32_t local(Rank rank) const { return place_[rank.index()].local; }
  [[nodiscard]] std::uint32_t members(std::uint32_t node) const {
    return node_begin_[node + 1] - node_begin_[node];
  }
  [[nodiscard]] Rank member(std::uint32_t node, std::uint32_t local) const {
    return by_node_[node_begin_[node] + local];
  }
  /// All ranks node by node, and where a node begins among them.
  [[nodiscard]] std::span<const Rank> by_node() const { return by_node_; }
  [[nodiscard]] std::uint32_t node_begin(std::uint32_t node) const { return node_begin_[node]; }

  /// The member of a node that owns a column.
  [[nodiscard]] Rank owner(std::uint32_t node, std::uint32_t column) const;
  [[nodiscard]] std::uint32_t first_column(Rank rank) const {
    return first_column(node(rank), local(rank));
  }
  [[nodiscard]] std::uint32_t columns_of(Rank rank) const;

  /// The blocks of all columns that a member of a node owns.
  [[nodiscard]] BlockRange run(std::uint32_t node, std::uint32_t local) const;
  /// The piece of a node in a column: one block, or none.
  [[nodiscard]] BlockRange piece(std::uint32_t column, std::uint32_t node) const;
  /// All ranks in the order of their blocks. Requires: per_rank.
  [[nodiscard]] std::span<const Rank> by_position() const { return by_position_; }

 private:
  struct PlaceInNode {
    std::uint32_t node = 0;
    std::uint32_t local = 0;
  };

  /// The smallest column c with floor(c·g/K) = local.
  [[nodiscard]] std::uint32_t first_column(std::uint32_t node, std::uint32_t local) const;
  void number_nodes(std::span<const NodeId> node_of_rank);
  void number_positions();

  Pieces pieces_;
  std::uint32_t columns_ = 0;
  std::vector<PlaceInNode> place_;         ///< by rank
  std::vector<std::uint32_t> node_begin_;  ///< by node, and the end
  std::vector<Rank> by_node_;
  // Of pieces a rank:
  std::vector<Rank> by_position_;
  std::vector<std::uint32_t> position_;      ///< by rank
  std::vector<std::uint32_t> column_begin_;  ///< by column, and the end: positions
};

}  // namespace collsim
