#include "algorithms/ring.hpp"

#include <optional>
#include <utility>

#include "algorithms/rank_circle.hpp"
#include "algorithms/table.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// Everyone in a ring, one lane and one slot each way.
class Ring : public Pattern {
 public:
  explicit Ring(std::uint32_t ranks) : ranks_(ranks) {}

  [[nodiscard]] std::uint32_t ranks() const override { return ranks_; }
  [[nodiscard]] std::uint32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] std::uint32_t send_slots(Rank, std::uint32_t) const override { return 1; }
  [[nodiscard]] std::uint32_t receive_slots(Rank, std::uint32_t) const override { return 1; }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t, std::uint32_t) const override {
    return {after(rank, 1, ranks_), 0, 0};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t, std::uint32_t) const override {
    return {before(rank, 1, ranks_), 0, 0};
  }

 protected:
  static constexpr SlotRange slot{0, 1};

 private:
  std::uint32_t ranks_;
};

/// Every rank handles every block once, in n steps.
class RingOfBlocks : public Ring {
 public:
  RingOfBlocks(std::uint32_t ranks, Place from, Place to) : Ring(ranks), from_(from), to_(to) {}

  [[nodiscard]] std::uint32_t blocks() const override { return ranks(); }
  [[nodiscard]] std::uint64_t steps(Rank, std::uint32_t) const override { return ranks(); }
  [[nodiscard]] std::optional<std::uint64_t> shape(Rank, std::uint32_t) const override { return 0; }
  [[nodiscard]] std::uint64_t messages() const override {
    return std::uint64_t{ranks()} * (ranks() - 1);
  }

 protected:
  [[nodiscard]] Place from() const { return from_; }
  [[nodiscard]] Place to() const { return to_; }

 private:
  Place from_;
  Place to_;
};

class RingReduceScatter final : public RingOfBlocks {
 public:
  using RingOfBlocks::RingOfBlocks;

  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t index,
                          const Part& part) const override {
    const auto k = static_cast<std::uint32_t>(index);
    const std::uint32_t block = before(rank, k + 1, ranks()).value();
    Step step;
    step.bytes = part.bytes_of(block);
    step.source = part.blocks(from(), block);
    if (k > 0) {
      step.receives = slot;
    }
    if (k + 1 < ranks()) {
      step.sends = slot;
    } else {
      step.destination = part.blocks(to(), block);
    }
    return step;
  }
};

class RingAllGather final : public RingOfBlocks {
 public:
  using RingOfBlocks::RingOfBlocks;

  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t index,
                          const Part& part) const override {
    const auto k = static_cast<std::uint32_t>(index);
    const std::uint32_t block = before(rank, k, ranks()).value();
    Step step;
    step.bytes = part.bytes_of(block);
    if (k == 0) {
      step.source = part.blocks(from(), block);
    } else {
      step.receives = slot;
    }
    if (from() != to() || k > 0) {
      step.destination = part.blocks(to(), block);
    }
    if (k + 1 < ranks()) {
      step.sends = slot;
    }
    return step;
  }
};

/// The whole part goes along the ring, which is cut open at the root.
class Chain : public Ring {
 public:
  Chain(std::uint32_t ranks, Rank root, Place from, Place to)
      : Ring(ranks), root_(root), from_(from), to_(to) {}

  [[nodiscard]] std::uint32_t blocks() const override { return 1; }
  [[nodiscard]] std::uint64_t steps(Rank, std::uint32_t) const override { return 1; }
  [[nodiscard]] std::uint64_t messages() const override { return ranks() - 1; }

 protected:
  /// Ranks from the root on: the root has 0.
  [[nodiscard]] std::uint32_t distance(Rank rank) const {
    return collsim::distance(root_, rank, ranks());
  }
  [[nodiscard]] Span input(const Part& part) const { return part.blocks(from_, 0); }
  [[nodiscard]] Span output(const Part& part) const { return part.blocks(to_, 0); }

 private:
  Rank root_;
  Place from_;
  Place to_;
};

class RingBroadcast final : public Chain {
 public:
  using Chain::Chain;

  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t,
                          const Part& part) const override {
    const std::uint32_t place = distance(rank);
    Step step;
    step.bytes = part.bytes_of(0);
    if (place == 0) {
      step.source = input(part);
    } else {
      step.receives = slot;
    }
    step.destination = output(part);
    if (place + 1 < ranks()) {
      step.sends = slot;
    }
    return step;
  }
};

class RingReduce final : public Chain {
 public:
  using Chain::Chain;

  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t,
                          const Part& part) const override {
    const std::uint32_t place = distance(rank);
    Step step;
    step.bytes = part.bytes_of(0);
    step.source = input(part);
    if (place != 1) {
      step.receives = slot;
    }
    if (place == 0) {
      step.destination = output(part);
    } else {
      step.sends = slot;
    }
    return step;
  }
};

std::unique_ptr<Program> build(const ProgramRequest& request) {
  const CollectiveCall& call = request.call;
  const Place input = all_blocks(Buffer::Input);
  const Place output = all_blocks(Buffer::Output);
  std::unique_ptr<Pattern> pattern;
  switch (call.kind) {
    case CollectiveKind::AllReduce:
      pattern = then(ring_reduce_scatter(call.ranks, input, output),
                     ring_all_gather(call.ranks, output, output));
      break;
    case CollectiveKind::AllGather:
      pattern = ring_all_gather(call.ranks, own_block(Buffer::Input), output);
      break;
    case CollectiveKind::ReduceScatter:
      pattern = ring_reduce_scatter(call.ranks, input, own_block(Buffer::Output));
      break;
    case CollectiveKind::Broadcast:
      pattern = ring_broadcast(call.ranks, call.root, input, output);
      break;
    case CollectiveKind::Reduce:
      pattern = ring_reduce(call.ranks, call.root, input, output);
      break;
    default:
      COLLSIM_ENSURE(false, "ring does not implement this collective");
  }
  return partition("ring", call, std::move(pattern), request.channels, request.chunks);
}

}  // namespace

std::unique_ptr<Pattern> ring_reduce_scatter(std::uint32_t ranks, Place from, Place to) {
  return std::make_unique<RingReduceScatter>(ranks, from, to);
}
std::unique_ptr<Pattern> ring_all_gather(std::uint32_t ranks, Place from, Place to) {
  return std::make_unique<RingAllGather>(ranks, from, to);
}
std::unique_ptr<Pattern> ring_broadcast(std::uint32_t ranks, Rank root, Place from, Place to) {
  return std::make_unique<RingBroadcast>(ranks, root, from, to);
}
std::unique_ptr<Pattern> ring_reduce(std::uint32_t ranks, Rank root, Place from, Place to) {
  return std::make_unique<RingReduce>(ranks, root, from, to);
}

Algorithm ring() {
  using enum CollectiveKind;
  return {"ring",
          "neighbours in a ring: the bandwidth optimum, with a latency that grows with the ranks",
          {AllReduce, AllGather, ReduceScatter, Broadcast, Reduce},
          no_obstacle,
          build};
}

}  // namespace collsim
