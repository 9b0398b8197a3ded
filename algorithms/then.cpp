// One pattern after another: in the same lanes, or in lanes of its own that follow chunk by chunk.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/pattern.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// What both compositions share: sizes, and that b's phases come after a's.
class Pair : public Pattern {
 public:
  Pair(std::unique_ptr<Pattern> a, std::unique_ptr<Pattern> b)
      : a_(std::move(a)), b_(std::move(b)) {
    COLLSIM_ENSURE(a_->ranks() == b_->ranks(), "then() of patterns for different numbers of ranks");
    COLLSIM_ENSURE(a_->blocks() == b_->blocks(), "then() of patterns with different blocks");
    COLLSIM_ENSURE(a_->groups() == 1, "then() after a pattern with several groups of lanes");
  }

  [[nodiscard]] std::uint32_t ranks() const override { return a_->ranks(); }
  [[nodiscard]] std::uint32_t blocks() const override { return a_->blocks(); }
  [[nodiscard]] std::uint32_t scratch_blocks() const override {
    return std::max(a_->scratch_blocks(), b_->scratch_blocks());
  }
  [[nodiscard]] std::uint64_t phases() const override { return a_->phases() + b_->phases(); }
  [[nodiscard]] std::uint64_t messages() const override { return a_->messages() + b_->messages(); }

 protected:
  [[nodiscard]] const Pattern& a() const { return *a_; }
  [[nodiscard]] const Pattern& b() const { return *b_; }

 private:
  std::unique_ptr<Pattern> a_;
  std::unique_ptr<Pattern> b_;
};

/// b in the lanes of a.
class InSequence final : public Pair {
 public:
  InSequence(std::unique_ptr<Pattern> first, std::unique_ptr<Pattern> second)
      : Pair(std::move(first), std::move(second)), fused_(ranks()) {
    COLLSIM_ENSURE(b().groups() == 1, "then() of a pattern with several groups of lanes");
    const Part part = unit_part(*this);
    for (std::uint32_t r = 0; r < ranks(); ++r) {
      fused_[r] = hands_over(Rank(r), part) ? 1 : 0;
    }
  }

  [[nodiscard]] std::uint32_t lanes(Rank rank) const override {
    return std::max(a().lanes(rank), b().lanes(rank));
  }
  [[nodiscard]] std::uint64_t steps(Rank rank, std::uint32_t lane) const override {
    return steps_of(a(), rank, lane) + steps_of(b(), rank, lane) - fused_[rank.index()];
  }

  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index,
                          const Part& part) const override {
    const std::uint64_t a_steps = steps_of(a(), rank, lane);
    const std::uint64_t fused = fused_[rank.index()];
    if (index + fused < a_steps) {
      return a().step(rank, lane, index, part);
    }
    const std::uint32_t a_sends = sends_of(a(), rank, lane);
    if (index < a_steps) {
      Step step = a().step(rank, lane, index, part);
      step.sends = b().step(rank, lane, 0, part).sends;
      step.sends.first += a_sends;
      return step;
    }
    Step step = b().step(rank, lane, index - a_steps + fused, part);
    step.phase += a().phases();
    step.sends.first += a_sends;
    step.receives.first += receives_of(a(), rank, lane);
    if (step.after) {
      step.after->index += steps_of(a(), rank, step.after->lane) - fused;
    }
    if (index == a_steps && !single_lane(rank) && !step.join) {
      step.join = 0;
    }
    return step;
  }

  [[nodiscard]] std::optional<std::uint64_t> shape(Rank rank, std::uint32_t lane) const override {
    if (lane >= a().lanes(rank) || lane >= b().lanes(rank)) {
      return std::nullopt;
    }
    const std::optional<std::uint64_t> first = a().shape(rank, lane);
    const std::optional<std::uint64_t> second = b().shape(rank, lane);
    constexpr std::uint64_t shapes = std::uint64_t{1} << 12U;
    if (!first || !second || *first >= shapes || *second >= shapes) {
      return std::nullopt;
    }
    return ((*first * shapes) + *second) * 2 + fused_[rank.index()];
  }
  [[nodiscard]] std::uint32_t send_slots(Rank rank, std::uint32_t lane) const override {
    return sends_of(a(), rank, lane) + sends_of(b(), rank, lane);
  }
  [[nodiscard]] std::uint32_t receive_slots(Rank rank, std::uint32_t lane) const override {
    return receives_of(a(), rank, lane) + receives_of(b(), rank, lane);
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override {
    const std::uint32_t a_slots = sends_of(a(), rank, lane);
    if (slot < a_slots) {
      return a().send_to(rank, lane, slot);
    }
    Connection end = b().send_to(rank, lane, slot - a_slots);
    end.slot += receives_of(a(), end.peer, end.lane);
    return end;
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    const std::uint32_t a_slots = receives_of(a(), rank, lane);
    if (slot < a_slots) {
      return a().receive_from(rank, lane, slot);
    }
    Connection end = b().receive_from(rank, lane, slot - a_slots);
    end.slot += sends_of(a(), end.peer, end.lane);
    return end;
  }

 private:
  // A rank may have fewer lanes in one of the patterns than in the other.
  static std::uint64_t steps_of(const Pattern& pattern, Rank rank, std::uint32_t lane) {
    return lane < pattern.lanes(rank) ? pattern.steps(rank, lane) : 0;
  }
  static std::uint32_t sends_of(const Pattern& pattern, Rank rank, std::uint32_t lane) {
    return lane < pattern.lanes(rank) ? pattern.send_slots(rank, lane) : 0;
  }
  static std::uint32_t receives_of(const Pattern& pattern, Rank rank, std::uint32_t lane) {
    return lane < pattern.lanes(rank) ? pattern.receive_slots(rank, lane) : 0;
  }
  [[nodiscard]] bool single_lane(Rank rank) const {
    return a().lanes(rank) <= 1 && b().lanes(rank) <= 1;
  }

  /// Whether a's last step writes just what b's first step does nothing with but send it.
  [[nodiscard]] bool hands_over(Rank rank, const Part& part) const {
    if (!single_lane(rank) || steps_of(a(), rank, 0) == 0 || steps_of(b(), rank, 0) == 0) {
      return false;
    }
    const Step last = a().step(rank, 0, a().steps(rank, 0) - 1, part);
    const Step first = b().step(rank, 0, 0, part);
    const bool only_sends = first.sends.count > 0 && first.receives.count == 0 && !first.operand &&
                            !first.destination && !first.join && !first.after;
    return only_sends && last.sends.count == 0 && last.destination &&
           last.destination == first.source;
  }

  std::vector<std::uint8_t> fused_;  // by rank: steps saved by the hand-over
};

/// b in lanes after those of a.
class Pipelined final : public Pair {
 public:
  using Pair::Pair;

  [[nodiscard]] std::uint32_t lanes(Rank rank) const override {
    return a().lanes(rank) + b().lanes(rank);
  }
  [[nodiscard]] std::uint32_t groups() const override { return 1 + b().groups(); }
  [[nodiscard]] std::uint32_t group(Rank rank, std::uint32_t lane) const override {
    const std::uint32_t a_lanes = a().lanes(rank);
    return lane < a_lanes ? 0 : 1 + b().group(rank, lane - a_lanes);
  }
  [[nodiscard]] std::uint64_t steps(Rank rank, std::uint32_t lane) const override {
    const std::uint32_t a_lanes = a().lanes(rank);
    return lane < a_lanes ? a().steps(rank, lane) : b().steps(rank, lane - a_lanes);
  }

  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index,
                          const Part& part) const override {
    const std::uint32_t a_lanes = a().lanes(rank);
    if (lane < a_lanes) {
      return a().step(rank, lane, index, part);
    }
    Step step = b().step(rank, lane - a_lanes, index, part);
    step.phase += a().phases();
    if (step.join) {
      *step.join += 1;
    }
    if (step.after) {
      step.after->lane += a_lanes;
    }
    if (index == 0) {
      COLLSIM_DCHECK(!step.join, "a pipelined pattern starts with a join of its own");
      step.join = 0;
    }
    return step;
  }

  [[nodiscard]] std::uint32_t send_slots(Rank rank, std::uint32_t lane) const override {
    const std::uint32_t a_lanes = a().lanes(rank);
    return lane < a_lanes ? a().send_slots(rank, lane) : b().send_slots(rank, lane - a_lanes);
  }
  [[nodiscard]] std::uint32_t receive_slots(Rank rank, std::uint32_t lane) const override {
    const std::uint32_t a_lanes = a().lanes(rank);
    return lane < a_lanes ? a().receive_slots(rank, lane) : b().receive_slots(rank, lane - a_lanes);
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override {
    const std::uint32_t a_lanes = a().lanes(rank);
    if (lane < a_lanes) {
      return a().send_to(rank, lane, slot);
    }
    Connection end = b().send_to(rank, lane - a_lanes, slot);
    end.lane += a().lanes(end.peer);
    return end;
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    const std::uint32_t a_lanes = a().lanes(rank);
    if (lane < a_lanes) {
      return a().receive_from(rank, lane, slot);
    }
    Connection end = b().receive_from(rank, lane - a_lanes, slot);
    end.lane += a().lanes(end.peer);
    return end;
  }
};

}  // namespace

std::unique_ptr<Pattern> then(std::unique_ptr<Pattern> a, std::unique_ptr<Pattern> b,
                              Composition composition) {
  if (composition == Composition::Pipelined) {
    return std::make_unique<Pipelined>(std::move(a), std::move(b));
  }
  return std::make_unique<InSequence>(std::move(a), std::move(b));
}

}  // namespace collsim
