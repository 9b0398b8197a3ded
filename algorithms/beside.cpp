// Two patterns side by side, each on half of the data.

#include <algorithm>
#include <utility>

#include "algorithms/pattern.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// Lanes, groups and steps of a come first, then those of b.
class Beside final : public Pattern {
 public:
  Beside(std::unique_ptr<Pattern> a, std::unique_ptr<Pattern> b)
      : a_(std::move(a)), b_(std::move(b)) {
    COLLSIM_ENSURE(a_->ranks() == b_->ranks(), "beside() of patterns for different ranks");
    COLLSIM_ENSURE(a_->blocks() == b_->blocks(), "beside() of patterns with different blocks");
  }

  [[nodiscard]] std::uint32_t ranks() const override { return a_->ranks(); }
  [[nodiscard]] std::uint32_t blocks() const override { return a_->blocks(); }
  [[nodiscard]] std::uint32_t scratch_blocks() const override {
    return std::max(a_->scratch_blocks(), b_->scratch_blocks());
  }
  [[nodiscard]] std::uint64_t phases() const override {
    return std::max(a_->phases(), b_->phases());
  }
  [[nodiscard]] std::uint64_t messages() const override { return a_->messages() + b_->messages(); }
  [[nodiscard]] std::uint32_t groups() const override { return a_->groups() + b_->groups(); }
  [[nodiscard]] std::uint32_t lanes(Rank rank) const override {
    return a_->lanes(rank) + b_->lanes(rank);
  }
  [[nodiscard]] std::uint32_t group(Rank rank, std::uint32_t lane) const override {
    const std::uint32_t a_lanes = a_->lanes(rank);
    return lane < a_lanes ? a_->group(rank, lane) : a_->groups() + b_->group(rank, lane - a_lanes);
  }
  [[nodiscard]] std::uint64_t steps(Rank rank, std::uint32_t lane) const override {
    const std::uint32_t a_lanes = a_->lanes(rank);
    return lane < a_lanes ? a_->steps(rank, lane) : b_->steps(rank, lane - a_lanes);
  }

  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index,
                          const Part& part) const override {
    const std::uint32_t a_lanes = a_->lanes(rank);
    if (lane < a_lanes) {
      return a_->step(rank, lane, index, part.slice(0, 2));
    }
    Step step = b_->step(rank, lane - a_lanes, index, part.slice(1, 2));
    if (step.join) {
      *step.join += a_->groups();
    }
    if (step.after) {
      step.after->lane += a_lanes;
    }
    return step;
  }

  [[nodiscard]] std::uint32_t send_slots(Rank rank, std::uint32_t lane) const override {
    const std::uint32_t a_lanes = a_->lanes(rank);
    return lane < a_lanes ? a_->send_slots(rank, lane) : b_->send_slots(rank, lane - a_lanes);
  }
  [[nodiscard]] std::uint32_t receive_slots(Rank rank, std::uint32_t lane) const override {
    const std::uint32_t a_lanes = a_->lanes(rank);
    return lane < a_lanes ? a_->receive_slots(rank, lane) : b_->receive_slots(rank, lane - a_lanes);
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override {
    const std::uint32_t a_lanes = a_->lanes(rank);
    if (lane < a_lanes) {
      return a_->send_to(rank, lane, slot);
    }
    Connection end = b_->send_to(rank, lane - a_lanes, slot);
    end.lane += a_->lanes(end.peer);
    return end;
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    const std::uint32_t a_lanes = a_->lanes(rank);
    if (lane < a_lanes) {
      return a_->receive_from(rank, lane, slot);
    }
    Connection end = b_->receive_from(rank, lane - a_lanes, slot);
    end.lane += a_->lanes(end.peer);
    return end;
  }

 private:
  std::unique_ptr<Pattern> a_;
  std::unique_ptr<Pattern> b_;
};

}  // namespace

std::unique_ptr<Pattern> beside(std::unique_ptr<Pattern> a, std::unique_ptr<Pattern> b) {
  return std::make_unique<Beside>(std::move(a), std::move(b));
}

}  // namespace collsim
