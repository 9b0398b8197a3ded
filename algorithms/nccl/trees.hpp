#pragma once
// The trees of the execution channels: a chain inside each node, in the order of the search
// channel, and a double binary tree between the nodes.
//
// A node is joined to its parent at the first rank of its chain. Where its children are joined is
// the pattern's: both at the first rank (TREE), the first child at the second rank and the second
// at the first (BALANCED_TREE), or both at the second (SPLIT_TREE).
// Source: NCCL 2.28.9, src/graph/connect.cc, trees.cc; the double tree is that of Sanders, Speck and
// Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan" (2009).

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/nccl/rings.hpp"

namespace collsim::nccl {

/// A node's place in one of the two trees over nodes.
struct NodeTree {
  std::optional<int> up{};
  std::optional<int> first_down{};
  std::optional<int> second_down{};
  bool first_child{true};  ///< of its parent

  bool operator==(const NodeTree&) const = default;
};

/// Tree 0 or 1 of the double binary tree over `nodes` nodes, at `node`. Complexity: O(log nodes).
[[nodiscard]] NodeTree double_tree(int nodes, int node, int tree);

/// A rank's place in the tree of a channel.
struct TreeLinks {
  std::optional<Rank> up{};
  std::vector<Rank> down{};  ///< at most three: in the node, then the first and second child node

  bool operator==(const TreeLinks&) const = default;
};

/// The trees of `channels`. Shapes: result[channel][rank].
/// Throws: InputError where a channel of the graph does not visit each GPU of the node once.
/// Complexity: O(channels × ranks).
[[nodiscard]] std::vector<std::vector<TreeLinks>> build_trees(
    const Graph& tree, RankLayout layout, std::span<const ExecutionChannel> channels);

/// The same for one rank only. Shapes: result[channel].
[[nodiscard]] std::vector<TreeLinks> tree_links(const Graph& tree, RankLayout layout,
                                                std::span<const ExecutionChannel> channels,
                                                Rank rank);

}  // namespace collsim::nccl
