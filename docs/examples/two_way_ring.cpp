// All-gather on a ring that is used both ways: a block travels n/2 hops up and (n-1)/2 hops down,
// so on full-duplex links it takes half the time of a ring.

#include "algorithms/pattern.hpp"
#include "algorithms/table.hpp"

namespace collsim {

namespace {

/// Lane 0 sends up and lane 1 down, to the same lane of the neighbour, one slot each way.
class TwoWayRing final : public Pattern {
 public:
  explicit TwoWayRing(std::uint32_t ranks) : ranks_(ranks) {}

  [[nodiscard]] std::uint32_t ranks() const override { return ranks_; }
  [[nodiscard]] std::uint32_t blocks() const override { return ranks_; }
  [[nodiscard]] std::uint32_t lanes(Rank) const override { return 2; }
  [[nodiscard]] std::uint64_t steps(Rank, std::uint32_t lane) const override {
    return hops(lane) + 1;
  }
  [[nodiscard]] std::uint32_t send_slots(Rank, std::uint32_t) const override { return 1; }
  [[nodiscard]] std::uint32_t receive_slots(Rank, std::uint32_t) const override { return 1; }

  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane, std::uint32_t) const override {
    return {lane == up ? above(rank, 1) : below(rank, 1), lane, 0};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t) const override {
    return {lane == up ? below(rank, 1) : above(rank, 1), lane, 0};
  }

  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index,
                          const Part& part) const override {
    const auto hop = static_cast<std::uint32_t>(index);
    const Rank owner = lane == up ? below(rank, hop) : above(rank, hop);
    Step step;
    step.bytes = part.bytes_of(owner.value());
    if (hop == 0) {
      step.source = part.blocks(own_block(Buffer::Input), owner.value());
    } else {
      step.receives = {0, 1};
    }
    // Each block is written once; the own one by the lane that goes up.
    if (hop > 0 || lane == up) {
      step.destination = part.blocks(all_blocks(Buffer::Output), owner.value());
    }
    if (hop < hops(lane)) {
      step.sends = {0, 1};
    }
    return step;
  }

 private:
  static constexpr std::uint32_t up = 0;

  [[nodiscard]] std::uint32_t hops(std::uint32_t lane) const {
    return lane == up ? ranks_ / 2 : (ranks_ - 1) / 2;
  }
  [[nodiscard]] Rank above(Rank rank, std::uint32_t distance) const {
    return Rank((rank.value() + distance) % ranks_);
  }
  [[nodiscard]] Rank below(Rank rank, std::uint32_t distance) const {
    return Rank((rank.value() + ranks_ - distance) % ranks_);
  }

  std::uint32_t ranks_;
};

std::unique_ptr<Program> build(const ProgramRequest& request) {
  return partition("two-way-ring", request.call, std::make_unique<TwoWayRing>(request.call.ranks),
                   request.channels, request.chunks);
}

}  // namespace

Algorithm two_way_ring() {
  return {"two-way-ring",
          "a ring used in both directions: half the steps of a ring",
          {CollectiveKind::AllGather},
          no_obstacle,
          build};
}

}  // namespace collsim
