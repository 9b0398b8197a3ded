// Two binary trees, each for half of the data. A rank is interior in at most one of them, so that
// it sends and receives about as much as everyone else: with many chunks, the full bandwidth at
// logarithmic latency.
//
// The n - 1 ranks other than the root form both trees; the root sends to (receives from) the top of
// each. In the first tree they stand at places 1 … m, m = n - 1, in order from the root on; a
// place's lowest bit is its height, so odd places are leaves. In the second tree they stand in
// mirrored order where m is even, else shifted by one place: who was at an even place is now at an
// odd one. all_reduce is reduce, then broadcast, along the same trees, chunk by chunk.
//
// Source: Sanders, Speck and Träff 2009, "Two-tree algorithms for full bandwidth broadcast,
// reduction and scan".

#include <bit>
#include <utility>

#include "algorithms/rank_circle.hpp"
#include "algorithms/table.hpp"
#include "algorithms/tree.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// The in-order binary tree over places 1 … size.
class InOrderTree {
 public:
  explicit InOrderTree(std::uint32_t size) : size_(size) {}

  [[nodiscard]] std::uint32_t top() const { return std::bit_floor(size_); }

  /// Requires: not the top.
  [[nodiscard]] std::uint32_t parent(std::uint32_t place) const {
    const std::uint32_t bit = lowest_bit(place);
    const std::uint32_t above = (place ^ bit) | (bit << 1U);
    return above > size_ ? place ^ bit : above;
  }
  /// Left of an even place there is a full subtree, and right of it what is left of the places.
  [[nodiscard]] std::uint32_t child_count(std::uint32_t place) const {
    if (place % 2 == 1) {
      return 0;
    }
    return place < size_ ? 2 : 1;
  }
  [[nodiscard]] std::uint32_t child(std::uint32_t place, std::uint32_t index) const {
    std::uint32_t step = lowest_bit(place) >> 1U;
    if (index == 0) {
      return place - step;
    }
    while (place + step > size_) {
      step >>= 1U;
    }
    return place + step;
  }

 private:
  static std::uint32_t lowest_bit(std::uint32_t place) { return place & (~place + 1); }

  std::uint32_t size_;
};

class BinaryTree final : public Tree {
 public:
  enum class Which : std::uint8_t { First, Second };
  BinaryTree(std::uint32_t ranks, Rank root, Which which)
      : ranks_(ranks), root_(root), which_(which), places_(ranks - 1) {}

  [[nodiscard]] std::uint32_t ranks() const override { return ranks_; }
  [[nodiscard]] Rank root() const override { return root_; }
  [[nodiscard]] Rank parent(Rank rank) const override {
    const std::uint32_t place = place_of(rank);
    return place == places_.top() ? root_ : rank_at(places_.parent(place));
  }
  [[nodiscard]] std::uint32_t child_count(Rank rank) const override {
    return rank == root_ ? 1 : places_.child_count(place_of(rank));
  }
  [[nodiscard]] Rank child(Rank rank, std::uint32_t index) const override {
    return rank_at(rank == root_ ? places_.top() : places_.child(place_of(rank), index));
  }
  [[nodiscard]] std::uint32_t child_number(Rank rank) const override {
    const std::uint32_t place = place_of(rank);
    if (place == places_.top()) {
      return 0;
    }
    return place < places_.parent(place) ? 0 : 1;
  }

 private:
  [[nodiscard]] std::uint32_t place_of(Rank rank) const {
    const std::uint32_t m = ranks_ - 1;
    const std::uint32_t first = distance(root_, rank, ranks_);
    if (which_ == Which::First) {
      return first;
    }
    if (m % 2 == 0) {
      return m + 1 - first;
    }
    return first == 1 ? m : first - 1;
  }
  [[nodiscard]] Rank rank_at(std::uint32_t place) const {
    const std::uint32_t m = ranks_ - 1;
    std::uint32_t first = place;
    if (which_ == Which::Second) {
      first = m % 2 == 0 ? m + 1 - place : place % m + 1;
    }
    return after(root_, first, ranks_);
  }

  std::uint32_t ranks_;
  Rank root_;
  Which which_;
  InOrderTree places_;
};

std::unique_ptr<Pattern> along(const CollectiveCall& call, BinaryTree::Which which) {
  const Place input = all_blocks(Buffer::Input);
  const Place output = all_blocks(Buffer::Output);
  const Rank root = has_root(call.kind) ? call.root : Rank(0);
  const auto tree = [&] { return std::make_unique<BinaryTree>(call.ranks, root, which); };
  switch (call.kind) {
    case CollectiveKind::Broadcast:
      return tree_broadcast(tree(), input, output);
    case CollectiveKind::Reduce:
      return tree_reduce(tree(), input, output);
    case CollectiveKind::AllReduce:
      return then(tree_reduce(tree(), input, output), tree_broadcast(tree(), output, output),
                  Composition::Pipelined);
    default:
      COLLSIM_ENSURE(false, "double-tree does not implement this collective");
  }
}

std::unique_ptr<Program> build(const ProgramRequest& request) {
  auto pattern = beside(along(request.call, BinaryTree::Which::First),
                        along(request.call, BinaryTree::Which::Second));
  return partition("double-tree", request.call, std::move(pattern), request.channels,
                   request.chunks);
}

}  // namespace

Algorithm double_tree() {
  using enum CollectiveKind;
  return {"double-tree",
          "two binary trees with half the data each: full bandwidth at logarithmic latency",
          {AllReduce, Broadcast, Reduce},
          no_obstacle,
          build};
}

}  // namespace collsim
