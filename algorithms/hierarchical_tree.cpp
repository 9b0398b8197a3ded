// Broadcast and reduce over two levels of binomial trees: one over the nodes, one in each node.
// A GPU that enters its node serves the other nodes first, since they have farther to go; on each
// level larger subtrees come first.

#include <algorithm>
#include <array>

#include "algorithms/hierarchical_patterns.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// Children in a binomial tree of `size` places, numbered from its root: place v has v + 2^k for 2^k
/// below v's lowest bit. Each subtree is a range of places cut off at `size`.
class BinomialChildren {
 public:
  BinomialChildren(std::uint32_t place, std::uint32_t size) {
    const std::uint64_t lowest_bit = place == 0 ? std::uint64_t{1} << 32U : place & (~place + 1U);
    for (std::uint64_t step = 1; step < lowest_bit && place + step < size; step *= 2) {
      insert(static_cast<std::uint32_t>(place + step),
             static_cast<std::uint32_t>(std::min<std::uint64_t>(step, size - place - step)));
    }
  }

  /// By falling size of their subtrees, nearest first among equals.
  [[nodiscard]] std::uint32_t operator[](std::uint32_t index) const { return place_[index]; }
  [[nodiscard]] std::uint32_t count() const { return count_; }

  static std::uint32_t parent(std::uint32_t place) { return place & (place - 1U); }
  /// The position of a child among its parent's.
  static std::uint32_t index_of(std::uint32_t place, std::uint32_t size) {
    const BinomialChildren siblings(parent(place), size);
    std::uint32_t index = 0;
    while (siblings[index] != place) {
      ++index;
    }
    return index;
  }

 private:
  void insert(std::uint32_t child, std::uint32_t subtree) {
    std::uint32_t at = count_++;
    for (; at > 0 && subtree_[at - 1] < subtree; --at) {
      place_[at] = place_[at - 1];
      subtree_[at] = subtree_[at - 1];
    }
    place_[at] = child;
    subtree_[at] = subtree;
  }

  std::array<std::uint32_t, 32> place_{};
  std::array<std::uint32_t, 32> subtree_{};
  std::uint32_t count_ = 0;
};

/// Who is above and below each rank.
class TreeOfNodes : public Pattern {
 public:
  TreeOfNodes(const NodeLayout& layout, Rank root)
      : layout_(layout), root_node_(layout.node(root)), root_local_(layout.local(root)) {}

  [[nodiscard]] std::uint32_t ranks() const override { return layout_.ranks(); }
  [[nodiscard]] std::uint32_t blocks() const override { return 1; }
  [[nodiscard]] std::uint32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] std::uint64_t messages() const override { return ranks() - 1; }

 protected:
  [[nodiscard]] bool is_root(Rank rank) const {
    return node_place(rank) == 0 && member_place(rank) == 0;
  }
  [[nodiscard]] std::uint32_t child_count(Rank rank) const {
    return nodes_below(rank).count() + members_below(rank).count();
  }
  [[nodiscard]] Rank child(Rank rank, std::uint32_t index) const {
    const BinomialChildren nodes = nodes_below(rank);
    if (index < nodes.count()) {
      return rank_at(node_at(nodes[index]), 0);
    }
    return rank_at(layout_.node(rank), members_below(rank)[index - nodes.count()]);
  }
  [[nodiscard]] Rank parent(Rank rank) const {
    const std::uint32_t member = member_place(rank);
    if (member > 0) {
      return rank_at(layout_.node(rank), BinomialChildren::parent(member));
    }
    return rank_at(node_at(BinomialChildren::parent(node_place(rank))), 0);
  }
  /// Where the rank stands among its parent's children.
  [[nodiscard]] std::uint32_t index_in_parent(Rank rank) const {
    const std::uint32_t member = member_place(rank);
    if (member == 0) {
      return BinomialChildren::index_of(node_place(rank), layout_.nodes());
    }
    return nodes_below(parent(rank)).count() +
           BinomialChildren::index_of(member, layout_.members(layout_.node(rank)));
  }

 private:
  // Places in the trees count from the root's node, and in each node from its entry.
  [[nodiscard]] std::uint32_t node_place(Rank rank) const {
    return (layout_.node(rank) + layout_.nodes() - root_node_) % layout_.nodes();
  }
  [[nodiscard]] std::uint32_t node_at(std::uint32_t place) const {
    return (place + root_node_) % layout_.nodes();
  }
  [[nodiscard]] std::uint32_t member_place(Rank rank) const {
    const std::uint32_t members = layout_.members(layout_.node(rank));
    return (layout_.local(rank) + members - root_local_ % members) % members;
  }
  [[nodiscard]] Rank rank_at(std::uint32_t node, std::uint32_t member_place) const {
    return layout_.member(node, (member_place + root_local_) % layout_.members(node));
  }
  [[nodiscard]] BinomialChildren nodes_below(Rank rank) const {
    // Only the GPU that enters a node has other nodes below it.
    if (member_place(rank) != 0) {
      return {0, 1};
    }
    return {node_place(rank), layout_.nodes()};
  }
  [[nodiscard]] BinomialChildren members_below(Rank rank) const {
    return {member_place(rank), layout_.members(layout_.node(rank))};
  }

  NodeLayout layout_;
  std::uint32_t root_node_;
  std::uint32_t root_local_;
};

constexpr Place input{Buffer::input};
constexpr Place output{Buffer::output};

/// Step 0 gets the data, step i sends them to the i-th child.
class BroadcastOverNodes final : public TreeOfNodes {
 public:
  using TreeOfNodes::TreeOfNodes;

  [[nodiscard]] std::uint64_t steps(Rank rank, std::uint32_t /*lane*/) const override {
    return 1 + std::uint64_t{child_count(rank)};
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t /*lane*/, std::uint64_t index,
                          const Part& part) const override {
    Step step;
    step.bytes = part.bytes_of(0);
    if (index > 0) {
      step.source = part.blocks(output, 0);
      step.sends = SlotRange{static_cast<std::uint32_t>(index - 1), 1};
      return step;
    }
    if (is_root(rank)) {
      step.source = part.blocks(input, 0);
    } else {
      step.receives = SlotRange{0, 1};
    }
    step.destination = part.blocks(output, 0);
    return step;
  }
  [[nodiscard]] std::uint32_t send_slots(Rank rank, std::uint32_t /*lane*/) const override {
    return child_count(rank);
  }
  [[nodiscard]] std::uint32_t receive_slots(Rank rank, std::uint32_t /*lane*/) const override {
    return is_root(rank) ? 0 : 1;
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t /*lane*/,
                                   std::uint32_t slot) const override {
    return {child(rank, slot), 0, 0};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t /*lane*/,
                                        std::uint32_t /*slot*/) const override {
    return {parent(rank), 0, index_in_parent(rank)};
  }
};

/// One step: everything from the children and one's own, to the parent or, at the root, the output.
class ReduceOverNodes final : public TreeOfNodes {
 public:
  using TreeOfNodes::TreeOfNodes;

  [[nodiscard]] std::uint64_t steps(Rank /*rank*/, std::uint32_t /*lane*/) const override {
    return 1;
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t /*lane*/, std::uint64_t /*index*/,
                          const Part& part) const override {
    Step step;
    step.bytes = part.bytes_of(0);
    step.receives = SlotRange{0, child_count(rank)};
    step.source = part.blocks(input, 0);
    if (is_root(rank)) {
      step.destination = part.blocks(output, 0);
    } else {
      step.sends = SlotRange{0, 1};
    }
    return step;
  }
  [[nodiscard]] std::uint32_t send_slots(Rank rank, std::uint32_t /*lane*/) const override {
    return is_root(rank) ? 0 : 1;
  }
  [[nodiscard]] std::uint32_t receive_slots(Rank rank, std::uint32_t /*lane*/) const override {
    return child_count(rank);
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t /*lane*/,
                                   std::uint32_t /*slot*/) const override {
    return {parent(rank), 0, index_in_parent(rank)};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t /*lane*/,
                                        std::uint32_t slot) const override {
    return {child(rank, slot), 0, 0};
  }
};

}  // namespace

std::unique_ptr<Pattern> broadcast_over_nodes(const NodeLayout& layout, Rank root) {
  return std::make_unique<BroadcastOverNodes>(layout, root);
}

std::unique_ptr<Pattern> reduce_over_nodes(const NodeLayout& layout, Rank root) {
  return std::make_unique<ReduceOverNodes>(layout, root);
}

}  // namespace collsim
