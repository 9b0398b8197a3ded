// The binomial tree: in every round, who has the data passes them on, so that log2 n rounds reach
// everyone. One lane; a rank serves its children one after the other, the largest subtree first.
//
//   broadcast, reduce   the whole buffer down, or up, the tree
//   scatter, gather     what belongs to a subtree, down or up; a subtree is a range of numbers from
//                       the root, so a rank that is not the root itself keeps it in scratch
//   all_reduce          reduce to rank 0, then broadcast, chunk by chunk
//
// Source: Thakur, Rabenseifner and Gropp 2005, "Optimization of Collective Communication Operations
// in MPICH", §4; Chan et al. 2007, "Collective communication: theory, practice, and experience"
// (minimum spanning tree algorithms).

#include <utility>

#include "algorithms/binomial_tree.hpp"
#include "algorithms/rank_circle.hpp"
#include "algorithms/table.hpp"
#include "algorithms/tree.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// Numbers counted from the root.
class Rotation {
 public:
  Rotation(std::uint32_t ranks, Rank root) : ranks_(ranks), root_(root) {}
  [[nodiscard]] std::uint32_t number(Rank rank) const { return distance(root_, rank, ranks_); }
  [[nodiscard]] Rank rank(std::uint32_t number) const { return after(root_, number, ranks_); }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] Rank root() const { return root_; }

 private:
  std::uint32_t ranks_;
  Rank root_;
};

class RankedBinomialTree final : public Tree {
 public:
  RankedBinomialTree(std::uint32_t ranks, Rank root) : rotation_(ranks, root), tree_(ranks) {}

  [[nodiscard]] std::uint32_t ranks() const override { return rotation_.ranks(); }
  [[nodiscard]] Rank root() const override { return rotation_.root(); }
  [[nodiscard]] Rank parent(Rank rank) const override {
    return rotation_.rank(BinomialTree::parent(rotation_.number(rank)));
  }
  [[nodiscard]] std::uint32_t child_count(Rank rank) const override {
    return tree_.child_count(rotation_.number(rank));
  }
  [[nodiscard]] Rank child(Rank rank, std::uint32_t index) const override {
    return rotation_.rank(tree_.child(rotation_.number(rank), index));
  }
  [[nodiscard]] std::uint32_t child_number(Rank rank) const override {
    return tree_.child_number(rotation_.number(rank));
  }

 private:
  Rotation rotation_;
  BinomialTree tree_;
};

/// Blocks along the tree. `everyone` is where the root has them all, `own` where each rank has its
/// own. Between them, blocks lie in scratch by number; a root with number = rank needs none.
class BlocksAlongTree : public Pattern {
 public:
  BlocksAlongTree(std::uint32_t ranks, Rank root, Place everyone, Place own)
      : rotation_(ranks, root), tree_(ranks), everyone_(everyone), own_(own) {}

  [[nodiscard]] std::uint32_t ranks() const override { return rotation_.ranks(); }
  [[nodiscard]] std::uint32_t blocks() const override { return rotation_.ranks(); }
  [[nodiscard]] std::uint32_t scratch_blocks() const override { return rotation_.ranks(); }
  [[nodiscard]] std::uint32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] std::uint64_t messages() const override { return ranks() - 1; }
  /// A root that is not rank 0 turns the order of the blocks with two copies.
  [[nodiscard]] std::uint64_t steps(Rank rank, std::uint32_t) const override {
    const std::uint32_t children = tree_.child_count(rotation_.number(rank));
    if (rank == rotation_.root()) {
      return rotation_count() + 1 + children;
    }
    return children == 0 ? 1 : 2 + children;
  }

 protected:
  [[nodiscard]] const Rotation& rotation() const { return rotation_; }
  [[nodiscard]] const BinomialTree& tree() const { return tree_; }
  [[nodiscard]] std::uint32_t rotation_count() const { return rotated() ? 2 : 0; }
  [[nodiscard]] Span own(const Part& part, Rank rank) const {
    return part.blocks(own_, rank.value());
  }
  /// The blocks of the subtree of `v` at the rank with this number.
  [[nodiscard]] Span range(const Part& part, std::uint32_t at_number, std::uint32_t v,
                           std::uint32_t count) const {
    const bool at_everyone = at_number == 0 && !rotated();
    return part.blocks(at_everyone ? everyone_ : all_blocks(Buffer::Scratch), v, count);
  }
  struct Turn {
    Span by_rank;
    Span by_number;
  };
  /// The two ranges that turning consists of: ranks from the root on, and those before it.
  [[nodiscard]] Turn turn(const Part& part, std::uint64_t index) const {
    const std::uint32_t root = rotation_.root().value();
    const Place scratch = all_blocks(Buffer::Scratch);
    const std::uint32_t rest = ranks() - root;
    if (index == 0) {
      return {part.blocks(everyone_, root, rest), part.blocks(scratch, 0, rest)};
    }
    return {part.blocks(everyone_, 0, root), part.blocks(scratch, rest, root)};
  }
  [[nodiscard]] Connection child(Rank rank, std::uint32_t slot) const {
    return {rotation_.rank(tree_.child(rotation_.number(rank), slot)), 0, 0};
  }
  [[nodiscard]] Connection parent(Rank rank) const {
    const std::uint32_t v = rotation_.number(rank);
    return {rotation_.rank(BinomialTree::parent(v)), 0, tree_.child_number(v)};
  }

 private:
  [[nodiscard]] bool rotated() const { return rotation_.root() != Rank(0); }

  Rotation rotation_;
  BinomialTree tree_;
  Place everyone_;
  Place own_;
};

Step copy(const Span& source, const Span& destination) {
  Step step;
  step.bytes = source.total;
  step.source = source;
  step.destination = destination;
  return step;
}

class TreeScatter final : public BlocksAlongTree {
 public:
  using BlocksAlongTree::BlocksAlongTree;

  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t index,
                          const Part& part) const override {
    const std::uint32_t v = rotation().number(rank);
    const bool root = v == 0;
    const bool leaf = !root && tree().child_count(v) == 0;
    if (root && index < rotation_count()) {
      const Turn turned = turn(part, index);
      return copy(turned.by_rank, turned.by_number);
    }
    Step step;
    if (!root && index == 0) {
      step.receives = {0, 1};
      step.destination = leaf ? own(part, rank) : range(part, v, v, tree().subtree(v));
      step.bytes = step.destination->total;
      return step;
    }
    const std::uint64_t after_arrival = index - (root ? rotation_count() : 1);
    if (after_arrival == 0) {
      return copy(range(part, v, v, 1), own(part, rank));
    }
    const auto slot = static_cast<std::uint32_t>(after_arrival - 1);
    const std::uint32_t child = tree().child(v, slot);
    step.source = range(part, v, child, tree().subtree(child));
    step.bytes = step.source->total;
    step.sends = {slot, 1};
    return step;
  }
  [[nodiscard]] std::uint32_t send_slots(Rank rank, std::uint32_t) const override {
    return tree().child_count(rotation().number(rank));
  }
  [[nodiscard]] std::uint32_t receive_slots(Rank rank, std::uint32_t) const override {
    return rank == rotation().root() ? 0 : 1;
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t, std::uint32_t slot) const override {
    return child(rank, slot);
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t, std::uint32_t) const override {
    return parent(rank);
  }
};

class TreeGather final : public BlocksAlongTree {
 public:
  using BlocksAlongTree::BlocksAlongTree;

  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t index,
                          const Part& part) const override {
    const std::uint32_t v = rotation().number(rank);
    const std::uint32_t children = tree().child_count(v);
    const bool leaf = v != 0 && children == 0;
    Step step;
    if (leaf) {
      step.source = own(part, rank);
      step.bytes = step.source->total;
      step.sends = {0, 1};
      return step;
    }
    if (index == 0) {
      return copy(own(part, rank), range(part, v, v, 1));
    }
    if (index <= children) {
      const auto slot = static_cast<std::uint32_t>(index - 1);
      const std::uint32_t child = tree().child(v, slot);
      step.receives = {slot, 1};
      step.destination = range(part, v, child, tree().subtree(child));
      step.bytes = step.destination->total;
      return step;
    }
    if (v == 0) {
      const Turn turned = turn(part, index - 1 - children);
      return copy(turned.by_number, turned.by_rank);
    }
    step.source = range(part, v, v, tree().subtree(v));
    step.bytes = step.source->total;
    step.sends = {0, 1};
    return step;
  }
  [[nodiscard]] std::uint32_t send_slots(Rank rank, std::uint32_t) const override {
    return rank == rotation().root() ? 0 : 1;
  }
  [[nodiscard]] std::uint32_t receive_slots(Rank rank, std::uint32_t) const override {
    return tree().child_count(rotation().number(rank));
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t, std::uint32_t) const override {
    return parent(rank);
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t,
                                        std::uint32_t slot) const override {
    return child(rank, slot);
  }
};

std::unique_ptr<Pattern> pattern_for(const CollectiveCall& call) {
  const std::uint32_t n = call.ranks;
  const Place input = all_blocks(Buffer::Input);
  const Place output = all_blocks(Buffer::Output);
  const auto tree_from = [&](Rank root) { return std::make_unique<RankedBinomialTree>(n, root); };
  switch (call.kind) {
    case CollectiveKind::Broadcast:
      return tree_broadcast(tree_from(call.root), input, output);
    case CollectiveKind::Reduce:
      return tree_reduce(tree_from(call.root), input, output);
    case CollectiveKind::Scatter:
      return std::make_unique<TreeScatter>(n, call.root, input, own_block(Buffer::Output));
    case CollectiveKind::Gather:
      return std::make_unique<TreeGather>(n, call.root, output, own_block(Buffer::Input));
    case CollectiveKind::AllReduce:
      return then(tree_reduce(tree_from(Rank(0)), input, output),
                  tree_broadcast(tree_from(Rank(0)), output, output), Composition::Pipelined);
    default:
      COLLSIM_ENSURE(false, "tree does not implement this collective");
  }
}

std::unique_ptr<Program> build(const ProgramRequest& request) {
  return partition("tree", request.call, pattern_for(request.call), request.channels,
                   request.chunks);
}

}  // namespace

Algorithm tree() {
  using enum CollectiveKind;
  return {"tree",
          "a binomial tree: log2 n messages deep, for small sizes",
          {AllReduce, Broadcast, Reduce, Scatter, Gather},
          no_obstacle,
          build};
}

}  // namespace collsim
