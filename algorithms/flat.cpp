#include "algorithms/flat.hpp"

#include "algorithms/rank_circle.hpp"

namespace collsim {

namespace {

enum class Direction : std::uint8_t { FromRoot, ToRoot };

/// One message between the root and each peer: lane l of the root is for rank root + 1 + l.
class Flat : public Pattern {
 public:
  Flat(std::uint32_t ranks, Rank root, Direction direction)
      : ranks_(ranks), root_(root), direction_(direction) {}

  [[nodiscard]] std::uint32_t ranks() const override { return ranks_; }
  [[nodiscard]] std::uint32_t lanes(Rank rank) const override {
    return rank == root_ ? ranks_ - 1 : 1;
  }
  [[nodiscard]] std::uint64_t messages() const override { return ranks_ - 1; }
  [[nodiscard]] std::uint64_t steps(Rank rank, std::uint32_t lane) const override {
    return copies_first(rank, lane) ? 2 : 1;
  }

  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index,
                          const Part& part) const override {
    if (copies_first(rank, lane) && index == 0) {
      return copy_own(part);
    }
    const bool is_root = rank == root_;
    const Span span = is_root ? at_root(part, peer(lane)) : at_peer(part, rank);
    Step step;
    step.bytes = span.total;
    if (is_root == (direction_ == Direction::FromRoot)) {
      step.source = span;
      step.sends = {0, 1};
    } else {
      step.receives = {0, 1};
      step.destination = span;
    }
    return step;
  }

  [[nodiscard]] std::uint32_t send_slots(Rank rank, std::uint32_t) const override {
    return (rank == root_) == (direction_ == Direction::FromRoot) ? 1 : 0;
  }
  [[nodiscard]] std::uint32_t receive_slots(Rank rank, std::uint32_t lane) const override {
    return 1 - send_slots(rank, lane);
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane, std::uint32_t) const override {
    return other_end(rank, lane);
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t) const override {
    return other_end(rank, lane);
  }

 protected:
  /// What the root has for a peer, or gets from it; and the same at the peer. For the root's own
  /// share these are the two ends of a local copy.
  [[nodiscard]] virtual Span at_root(const Part& part, Rank peer) const = 0;
  [[nodiscard]] virtual Span at_peer(const Part& part, Rank rank) const = 0;
  /// Whether the root's share must be copied.
  [[nodiscard]] virtual bool copies_own() const = 0;

 private:
  [[nodiscard]] bool copies_first(Rank rank, std::uint32_t lane) const {
    return rank == root_ && lane == 0 && copies_own();
  }
  [[nodiscard]] Step copy_own(const Part& part) const {
    const bool outward = direction_ == Direction::FromRoot;
    Step step;
    step.source = outward ? at_root(part, root_) : at_peer(part, root_);
    step.destination = outward ? at_peer(part, root_) : at_root(part, root_);
    step.bytes = step.source->total;
    return step;
  }
  [[nodiscard]] Rank peer(std::uint32_t lane) const { return after(root_, 1 + lane, ranks_); }
  [[nodiscard]] Connection other_end(Rank rank, std::uint32_t lane) const {
    if (rank == root_) {
      return {peer(lane), 0, 0};
    }
    return {root_, distance(root_, rank, ranks_) - 1, 0};
  }

  std::uint32_t ranks_;
  Rank root_;
  Direction direction_;
};

class FlatBroadcast final : public Flat {
 public:
  FlatBroadcast(std::uint32_t ranks, Rank root, std::uint32_t blocks, Place from, Place to)
      : Flat(ranks, root, Direction::FromRoot), blocks_(blocks), from_(from), to_(to) {}
  [[nodiscard]] std::uint32_t blocks() const override { return blocks_; }

 protected:
  [[nodiscard]] Span at_root(const Part& part, Rank) const override {
    return part.blocks(from_, 0, blocks_);
  }
  [[nodiscard]] Span at_peer(const Part& part, Rank) const override {
    return part.blocks(to_, 0, blocks_);
  }
  [[nodiscard]] bool copies_own() const override { return from_ != to_; }

 private:
  std::uint32_t blocks_;
  Place from_;
  Place to_;
};

/// Rank r's block, in one direction or the other.
class FlatBlocks final : public Flat {
 public:
  FlatBlocks(std::uint32_t ranks, Rank root, Direction direction, Place root_place,
             Place peer_place)
      : Flat(ranks, root, direction), root_place_(root_place), peer_place_(peer_place) {}
  [[nodiscard]] std::uint32_t blocks() const override { return ranks(); }
  [[nodiscard]] std::uint32_t scratch_blocks() const override {
    return root_place_.buffer == Buffer::Scratch ? ranks() : 0;
  }

 protected:
  [[nodiscard]] Span at_root(const Part& part, Rank peer) const override {
    return part.blocks(root_place_, peer.value());
  }
  [[nodiscard]] Span at_peer(const Part& part, Rank rank) const override {
    return part.blocks(peer_place_, rank.value());
  }
  [[nodiscard]] bool copies_own() const override { return root_place_ != peer_place_; }

 private:
  Place root_place_;
  Place peer_place_;
};

/// All n blocks of every rank, n·n in the root's scratch, by sender, then receiver.
class FlatMatrix final : public Flat {
 public:
  FlatMatrix(std::uint32_t ranks, Rank root, Direction direction)
      : Flat(ranks, root, direction), gathers_(direction == Direction::ToRoot) {}
  [[nodiscard]] std::uint32_t blocks() const override { return ranks(); }
  [[nodiscard]] std::uint32_t scratch_blocks() const override { return ranks() * ranks(); }

 protected:
  [[nodiscard]] Span at_root(const Part& part, Rank peer) const override {
    const Place scratch = all_blocks(Buffer::Scratch);
    if (gathers_) {
      return part.blocks(scratch, peer.value() * ranks(), ranks());
    }
    return part.strided_blocks(scratch, peer.value(), 1, ranks(), scratch_blocks());
  }
  [[nodiscard]] Span at_peer(const Part& part, Rank) const override {
    return part.blocks(all_blocks(gathers_ ? Buffer::Input : Buffer::Output), 0, ranks());
  }
  [[nodiscard]] bool copies_own() const override { return true; }

 private:
  bool gathers_;
};

/// Everyone sends all to the root, which receives from all of them in one step: slot s is for rank
/// root + 1 + s.
class FlatReduce final : public Pattern {
 public:
  FlatReduce(std::uint32_t ranks, Rank root, std::uint32_t blocks, Place from, Place to)
      : ranks_(ranks), root_(root), blocks_(blocks), from_(from), to_(to) {}

  [[nodiscard]] std::uint32_t ranks() const override { return ranks_; }
  [[nodiscard]] std::uint32_t blocks() const override { return blocks_; }
  [[nodiscard]] std::uint32_t scratch_blocks() const override {
    return to_.buffer == Buffer::Scratch ? blocks_ : 0;
  }
  [[nodiscard]] std::uint32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] std::uint64_t steps(Rank, std::uint32_t) const override { return 1; }
  [[nodiscard]] std::uint64_t messages() const override { return ranks_ - 1; }

  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t,
                          const Part& part) const override {
    Step step;
    step.bytes = part.bytes_of(0, blocks_);
    step.source = part.blocks(from_, 0, blocks_);
    if (rank == root_) {
      step.receives = {0, ranks_ - 1};
      step.destination = part.blocks(to_, 0, blocks_);
    } else {
      step.sends = {0, 1};
    }
    return step;
  }

  [[nodiscard]] std::uint32_t send_slots(Rank rank, std::uint32_t) const override {
    return rank == root_ ? 0 : 1;
  }
  [[nodiscard]] std::uint32_t receive_slots(Rank rank, std::uint32_t) const override {
    return rank == root_ ? ranks_ - 1 : 0;
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t, std::uint32_t) const override {
    return {root_, 0, distance(root_, rank, ranks_) - 1};
  }
  [[nodiscard]] Connection receive_from(Rank, std::uint32_t, std::uint32_t slot) const override {
    return {after(root_, 1 + slot, ranks_), 0, 0};
  }

 private:
  std::uint32_t ranks_;
  Rank root_;
  std::uint32_t blocks_;
  Place from_;
  Place to_;
};

}  // namespace

std::unique_ptr<Pattern> flat_broadcast(std::uint32_t ranks, Rank root, std::uint32_t blocks,
                                        Place from, Place to) {
  return std::make_unique<FlatBroadcast>(ranks, root, blocks, from, to);
}
std::unique_ptr<Pattern> flat_reduce(std::uint32_t ranks, Rank root, std::uint32_t blocks,
                                     Place from, Place to) {
  return std::make_unique<FlatReduce>(ranks, root, blocks, from, to);
}
std::unique_ptr<Pattern> flat_scatter(std::uint32_t ranks, Rank root, Place from, Place to) {
  return std::make_unique<FlatBlocks>(ranks, root, Direction::FromRoot, from, to);
}
std::unique_ptr<Pattern> flat_gather(std::uint32_t ranks, Rank root, Place from, Place to) {
  return std::make_unique<FlatBlocks>(ranks, root, Direction::ToRoot, to, from);
}
std::unique_ptr<Pattern> flat_gather_inputs(std::uint32_t ranks, Rank root) {
  return std::make_unique<FlatMatrix>(ranks, root, Direction::ToRoot);
}
std::unique_ptr<Pattern> flat_scatter_outputs(std::uint32_t ranks, Rank root) {
  return std::make_unique<FlatMatrix>(ranks, root, Direction::FromRoot);
}

}  // namespace collsim
