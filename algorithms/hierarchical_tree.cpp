// Broadcast and reduce over two levels of binomial trees: one over the nodes, one in each node.
// A GPU that enters its node serves the other nodes first, since they have farther to go; on each
// level larger subtrees come first.

#include <utility>

#include "algorithms/binomial_tree.hpp"
#include "algorithms/hierarchical_patterns.hpp"
#include "algorithms/tree.hpp"

namespace collsim {

namespace {

/// Numbers in the tree of nodes count from the root's node, those in the tree of a node's members
/// from the member that enters it.
class TreeOfNodes final : public Tree {
 public:
  TreeOfNodes(NodeLayout layout, Rank root)
      : layout_(std::move(layout)),
        root_(root),
        root_node_(layout_.node(root)),
        root_local_(layout_.local(root)),
        nodes_(layout_.nodes()) {}

  [[nodiscard]] std::uint32_t ranks() const override { return layout_.ranks(); }
  [[nodiscard]] Rank root() const override { return root_; }
  [[nodiscard]] Rank parent(Rank rank) const override {
    const std::uint32_t member = member_number(rank);
    if (member == 0) {
      return rank_at(node_at(BinomialTree::parent(node_number(rank))), 0);
    }
    return rank_at(layout_.node(rank), BinomialTree::parent(member));
  }
  [[nodiscard]] std::uint32_t child_count(Rank rank) const override {
    return nodes_below(rank) + members(rank).child_count(member_number(rank));
  }
  [[nodiscard]] Rank child(Rank rank, std::uint32_t index) const override {
    const std::uint32_t nodes = nodes_below(rank);
    if (index < nodes) {
      return rank_at(node_at(nodes_.child(node_number(rank), index)), 0);
    }
    return rank_at(layout_.node(rank), members(rank).child(member_number(rank), index - nodes));
  }
  [[nodiscard]] std::uint32_t child_number(Rank rank) const override {
    const std::uint32_t member = member_number(rank);
    if (member == 0) {
      return nodes_.child_number(node_number(rank));
    }
    return nodes_below(parent(rank)) + members(rank).child_number(member);
  }

 private:
  [[nodiscard]] std::uint32_t node_number(Rank rank) const {
    return (layout_.node(rank) + layout_.nodes() - root_node_) % layout_.nodes();
  }
  [[nodiscard]] std::uint32_t node_at(std::uint32_t number) const {
    return (number + root_node_) % layout_.nodes();
  }
  [[nodiscard]] std::uint32_t member_number(Rank rank) const {
    const std::uint32_t members = layout_.members(layout_.node(rank));
    return (layout_.local(rank) + members - root_local_ % members) % members;
  }
  [[nodiscard]] Rank rank_at(std::uint32_t node, std::uint32_t member_number) const {
    return layout_.member(node, (member_number + root_local_) % layout_.members(node));
  }
  [[nodiscard]] BinomialTree members(Rank rank) const {
    return BinomialTree(layout_.members(layout_.node(rank)));
  }
  /// Only the GPU that enters a node has other nodes below it.
  [[nodiscard]] std::uint32_t nodes_below(Rank rank) const {
    return member_number(rank) == 0 ? nodes_.child_count(node_number(rank)) : 0;
  }

  NodeLayout layout_;
  Rank root_;
  std::uint32_t root_node_;
  std::uint32_t root_local_;
  BinomialTree nodes_;
};

}  // namespace

std::unique_ptr<Pattern> broadcast_over_nodes(const NodeLayout& layout, Rank root, Place from,
                                              Place to) {
  return tree_broadcast(std::make_unique<TreeOfNodes>(layout, root), from, to);
}

std::unique_ptr<Pattern> reduce_over_nodes(const NodeLayout& layout, Rank root, Place from,
                                           Place to) {
  return tree_reduce(std::make_unique<TreeOfNodes>(layout, root), from, to);
}

}  // namespace collsim
