// Pairwise exchange: n - 1 rounds, in round k every rank sends to rank + k and receives from
// rank - k, so that each link carries one message at a time.
//
//   all_to_all      block p to rank p
//   reduce_scatter  block p to rank p, which adds it to what it has
//
// Source: Thakur, Rabenseifner and Gropp 2005, "Optimization of Collective Communication Operations
// in MPICH", §4.3 and §4.4 (pairwise exchange).

#include <optional>
#include <utility>

#include "algorithms/pattern.hpp"
#include "algorithms/rank_circle.hpp"
#include "algorithms/table.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// One lane; slot k - 1 each way is for round k.
class Pairwise : public Pattern {
 public:
  explicit Pairwise(std::uint32_t ranks) : ranks_(ranks) {}

  [[nodiscard]] std::uint32_t ranks() const override { return ranks_; }
  [[nodiscard]] std::uint32_t blocks() const override { return ranks_; }
  [[nodiscard]] std::uint32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] std::optional<std::uint64_t> shape(Rank, std::uint32_t) const override { return 0; }
  [[nodiscard]] std::uint64_t messages() const override {
    return std::uint64_t{ranks_} * (ranks_ - 1);
  }
  [[nodiscard]] std::uint32_t send_slots(Rank, std::uint32_t) const override { return ranks_ - 1; }
  [[nodiscard]] std::uint32_t receive_slots(Rank, std::uint32_t) const override {
    return ranks_ - 1;
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t, std::uint32_t slot) const override {
    return {receiver(rank, slot), 0, slot};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t,
                                        std::uint32_t slot) const override {
    return {sender(rank, slot), 0, slot};
  }

 protected:
  [[nodiscard]] Rank receiver(Rank rank, std::uint32_t slot) const {
    return after(rank, 1 + slot, ranks_);
  }
  [[nodiscard]] Rank sender(Rank rank, std::uint32_t slot) const {
    return before(rank, 1 + slot, ranks_);
  }
  /// The first half of a round.
  [[nodiscard]] Step send(Rank rank, std::uint32_t slot, const Part& part) const {
    const std::uint32_t block = receiver(rank, slot).value();
    Step step;
    step.bytes = part.bytes_of(block);
    step.source = part.blocks(all_blocks(Buffer::Input), block);
    step.sends = {slot, 1};
    return step;
  }

 private:
  std::uint32_t ranks_;
};

class PairwiseAllToAll final : public Pairwise {
 public:
  using Pairwise::Pairwise;

  [[nodiscard]] std::uint64_t steps(Rank, std::uint32_t) const override {
    return 2 * std::uint64_t{ranks()} - 1;
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t index,
                          const Part& part) const override {
    const Place output = all_blocks(Buffer::Output);
    Step step;
    if (index == 0) {
      step.source = part.blocks(all_blocks(Buffer::Input), rank.value());
      step.destination = part.blocks(output, rank.value());
    } else {
      const auto slot = static_cast<std::uint32_t>((index - 1) / 2);
      if (index % 2 == 1) {
        return send(rank, slot, part);
      }
      step.receives = {slot, 1};
      step.destination = part.blocks(output, sender(rank, slot).value());
    }
    step.bytes = step.destination->total;
    return step;
  }
};

class PairwiseReduceScatter final : public Pairwise {
 public:
  using Pairwise::Pairwise;

  [[nodiscard]] std::uint64_t steps(Rank, std::uint32_t) const override {
    return 2 * (std::uint64_t{ranks()} - 1);
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t index,
                          const Part& part) const override {
    const auto slot = static_cast<std::uint32_t>(index / 2);
    if (index % 2 == 0) {
      return send(rank, slot, part);
    }
    const Span sum = part.blocks(own_block(Buffer::Output), rank.value());
    Step step;
    step.receives = {slot, 1};
    step.source = slot == 0 ? part.blocks(all_blocks(Buffer::Input), rank.value()) : sum;
    step.destination = sum;
    step.bytes = sum.total;
    return step;
  }
};

std::unique_ptr<Program> build(const ProgramRequest& request) {
  const CollectiveCall& call = request.call;
  std::unique_ptr<Pattern> pattern;
  if (call.kind == CollectiveKind::AllToAll) {
    pattern = std::make_unique<PairwiseAllToAll>(call.ranks);
  } else {
    COLLSIM_ENSURE(call.kind == CollectiveKind::ReduceScatter,
                   "pairwise does not implement this collective");
    pattern = std::make_unique<PairwiseReduceScatter>(call.ranks);
  }
  return partition("pairwise", call, std::move(pattern), request.channels, request.chunks);
}

}  // namespace

Algorithm pairwise() {
  using enum CollectiveKind;
  return {"pairwise",
          "one partner after another, each at full speed: for large all-to-alls",
          {AllToAll, ReduceScatter},
          no_obstacle,
          build};
}

}  // namespace collsim
