// Bruck's algorithms: ceil(log2 n) rounds for any number of ranks, with blocks kept in scratch by
// their distance from the rank.
//
//   all_gather  round j: the first min(2^j, n - 2^j) blocks to rank - 2^j; as many more come from
//               rank + 2^j. At first a rank has its own block at place 0, in the end block
//               rank + i at place i.
//   all_to_all  place i starts with the block for rank + i. Round j: every place with bit j set to
//               rank + 2^j. In the end place i has what came from rank - i.
//
// Source: Bruck, Ho, Kipnis, Upfal and Weathersby 1997, "Efficient algorithms for all-to-all
// communications in multiport message-passing systems".

#include <algorithm>
#include <bit>
#include <utility>

#include "algorithms/pattern.hpp"
#include "algorithms/rank_circle.hpp"
#include "algorithms/table.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr Place input = all_blocks(Buffer::Input);
constexpr Place output = all_blocks(Buffer::Output);
constexpr Place scratch = all_blocks(Buffer::Scratch);

Step copy(const Span& source, const Span& destination) {
  Step step;
  step.bytes = source.total;
  step.source = source;
  step.destination = destination;
  return step;
}

/// One lane; slot j each way is for round j.
class Bruck : public Pattern {
 public:
  explicit Bruck(std::uint32_t ranks) : ranks_(ranks) {}

  [[nodiscard]] std::uint32_t ranks() const override { return ranks_; }
  [[nodiscard]] std::uint32_t blocks() const override { return ranks_; }
  [[nodiscard]] std::uint32_t scratch_blocks() const override { return ranks_; }
  [[nodiscard]] std::uint32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] std::uint64_t messages() const override { return std::uint64_t{ranks_} * rounds(); }
  [[nodiscard]] std::uint32_t send_slots(Rank, std::uint32_t) const override { return rounds(); }
  [[nodiscard]] std::uint32_t receive_slots(Rank, std::uint32_t) const override { return rounds(); }

 protected:
  /// ceil(log2 n)
  [[nodiscard]] std::uint32_t rounds() const {
    return static_cast<std::uint32_t>(std::bit_width(ranks_ - 1));
  }
  /// A send and a receive in each round.
  [[nodiscard]] std::uint64_t exchange_steps() const { return 2 * std::uint64_t{rounds()}; }
  /// Blocks in order of ranks and by distance: from the rank on, and those before it (none for
  /// rank 0).
  struct Turn {
    std::uint32_t first;
    std::uint32_t place;
    std::uint32_t count;
  };
  [[nodiscard]] Turn turn(Rank rank, std::uint64_t index) const {
    const std::uint32_t rest = ranks_ - rank.value();
    return index == 0 ? Turn{rank.value(), 0, rest} : Turn{0, rest, rank.value()};
  }
  static std::uint64_t turns(Rank rank) { return rank == Rank(0) ? 1 : 2; }

 private:
  std::uint32_t ranks_;
};

class BruckAllGather final : public Bruck {
 public:
  using Bruck::Bruck;

  [[nodiscard]] std::uint64_t steps(Rank rank, std::uint32_t) const override {
    return 1 + exchange_steps() + turns(rank);
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t index,
                          const Part& part) const override {
    if (index == 0) {
      return copy(part.blocks(own_block(Buffer::Input), rank.value()), part.blocks(scratch, 0));
    }
    if (index > exchange_steps()) {
      const Turn at = turn(rank, index - 1 - exchange_steps());
      return copy(part.blocks(scratch, at.place, at.count),
                  part.blocks(output, at.first, at.count));
    }
    const auto round = static_cast<std::uint32_t>((index - 1) / 2);
    const std::uint32_t have = 1U << round;
    const std::uint32_t count = std::min(have, ranks() - have);
    Step step;
    step.bytes = part.bytes_of(0, count);
    if (index % 2 == 1) {
      step.source = part.blocks(scratch, 0, count);
      step.sends = {round, 1};
    } else {
      step.receives = {round, 1};
      step.destination = part.blocks(scratch, have, count);
    }
    return step;
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t, std::uint32_t slot) const override {
    return {before(rank, 1U << slot, ranks()), 0, slot};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t,
                                        std::uint32_t slot) const override {
    return {after(rank, 1U << slot, ranks()), 0, slot};
  }
};

class BruckAllToAll final : public Bruck {
 public:
  using Bruck::Bruck;

  [[nodiscard]] std::uint64_t steps(Rank rank, std::uint32_t) const override {
    return turns(rank) + exchange_steps() + ranks();
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t index,
                          const Part& part) const override {
    if (index < turns(rank)) {
      const Turn at = turn(rank, index);
      return copy(part.blocks(input, at.first, at.count), part.blocks(scratch, at.place, at.count));
    }
    index -= turns(rank);
    if (index >= exchange_steps()) {
      // The places are in falling order of senders, which no span can express: block by block.
      const auto place = static_cast<std::uint32_t>(index - exchange_steps());
      return copy(part.blocks(scratch, place),
                  part.blocks(output, before(rank, place, ranks()).value()));
    }
    const auto round = static_cast<std::uint32_t>(index / 2);
    const std::uint32_t bit = 1U << round;
    const Span moving = part.strided_blocks(scratch, bit, bit, 2 * bit, ranks());
    Step step;
    step.bytes = moving.total;
    if (index % 2 == 0) {
      step.source = moving;
      step.sends = {round, 1};
    } else {
      step.receives = {round, 1};
      step.destination = moving;
    }
    return step;
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t, std::uint32_t slot) const override {
    return {after(rank, 1U << slot, ranks()), 0, slot};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t,
                                        std::uint32_t slot) const override {
    return {before(rank, 1U << slot, ranks()), 0, slot};
  }
};

std::unique_ptr<Program> build(const ProgramRequest& request) {
  const CollectiveCall& call = request.call;
  std::unique_ptr<Pattern> pattern;
  if (call.kind == CollectiveKind::AllGather) {
    pattern = std::make_unique<BruckAllGather>(call.ranks);
  } else {
    COLLSIM_ENSURE(call.kind == CollectiveKind::AllToAll,
                   "bruck does not implement this collective");
    pattern = std::make_unique<BruckAllToAll>(call.ranks);
  }
  return partition("bruck", call, std::move(pattern), request.channels, request.chunks);
}

}  // namespace

Algorithm bruck() {
  using enum CollectiveKind;
  return {"bruck",
          "log2 n rounds for any number of ranks: all-to-all and all-gather of small blocks",
          {AllGather, AllToAll},
          no_obstacle,
          build};
}

}  // namespace collsim
