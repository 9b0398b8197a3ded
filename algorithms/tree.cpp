#include "algorithms/tree.hpp"

#include <utility>

namespace collsim {

namespace {

/// Slot i of a rank is for its i-th child; towards the parent there is one slot.
class AlongTree : public Pattern {
 public:
  AlongTree(std::unique_ptr<const Tree> tree, Place from, Place to)
      : tree_(std::move(tree)), from_(from), to_(to) {}

  [[nodiscard]] std::uint32_t ranks() const override { return tree_->ranks(); }
  [[nodiscard]] std::uint32_t blocks() const override { return 1; }
  [[nodiscard]] std::uint32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] std::uint64_t messages() const override { return ranks() - 1; }

 protected:
  [[nodiscard]] bool is_root(Rank rank) const { return rank == tree_->root(); }
  [[nodiscard]] std::uint32_t child_count(Rank rank) const { return tree_->child_count(rank); }
  [[nodiscard]] Connection child(Rank rank, std::uint32_t slot) const {
    return {tree_->child(rank, slot), 0, 0};
  }
  [[nodiscard]] Connection parent(Rank rank) const {
    return {tree_->parent(rank), 0, tree_->child_number(rank)};
  }
  [[nodiscard]] Span from(const Part& part) const { return part.blocks(from_, 0); }
  [[nodiscard]] Span to(const Part& part) const { return part.blocks(to_, 0); }
  [[nodiscard]] bool copies() const { return from_ != to_; }

 private:
  std::unique_ptr<const Tree> tree_;
  Place from_;
  Place to_;
};

/// One send a step; the first one goes with the receive.
class TreeBroadcast final : public AlongTree {
 public:
  using AlongTree::AlongTree;

  [[nodiscard]] std::uint64_t steps(Rank rank, std::uint32_t) const override {
    const std::uint32_t children = child_count(rank);
    return children == 0 ? 1 : children;
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t index,
                          const Part& part) const override {
    const bool root = is_root(rank);
    Step step;
    step.bytes = part.bytes_of(0);
    if (root) {
      step.source = from(part);
      if (index == 0 && copies()) {
        step.destination = to(part);
      }
    } else if (index == 0) {
      step.receives = {0, 1};
      step.destination = to(part);
    } else {
      step.source = to(part);
    }
    if (child_count(rank) > 0) {
      step.sends = {static_cast<std::uint32_t>(index), 1};
    }
    return step;
  }
  [[nodiscard]] std::uint32_t send_slots(Rank rank, std::uint32_t) const override {
    return child_count(rank);
  }
  [[nodiscard]] std::uint32_t receive_slots(Rank rank, std::uint32_t) const override {
    return is_root(rank) ? 0 : 1;
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t, std::uint32_t slot) const override {
    return child(rank, slot);
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t, std::uint32_t) const override {
    return parent(rank);
  }
};

class TreeReduce final : public AlongTree {
 public:
  using AlongTree::AlongTree;

  [[nodiscard]] std::uint64_t steps(Rank, std::uint32_t) const override { return 1; }
  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t,
                          const Part& part) const override {
    Step step;
    step.bytes = part.bytes_of(0);
    step.source = from(part);
    step.receives = {0, child_count(rank)};
    if (is_root(rank)) {
      step.destination = to(part);
    } else {
      step.sends = {0, 1};
    }
    return step;
  }
  [[nodiscard]] std::uint32_t send_slots(Rank rank, std::uint32_t) const override {
    return is_root(rank) ? 0 : 1;
  }
  [[nodiscard]] std::uint32_t receive_slots(Rank rank, std::uint32_t) const override {
    return child_count(rank);
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t, std::uint32_t) const override {
    return parent(rank);
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t,
                                        std::uint32_t slot) const override {
    return child(rank, slot);
  }
};

}  // namespace

std::unique_ptr<Pattern> tree_broadcast(std::unique_ptr<const Tree> tree, Place from, Place to) {
  return std::make_unique<TreeBroadcast>(std::move(tree), from, to);
}
std::unique_ptr<Pattern> tree_reduce(std::unique_ptr<const Tree> tree, Place from, Place to) {
  return std::make_unique<TreeReduce>(std::move(tree), from, to);
}

}  // namespace collsim
