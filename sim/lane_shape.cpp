#include "sim/lane_shape.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "sim/refinement.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

/// The place of a thing in a list of those met, where it is put if it is new.
template <class Thing>
std::size_t place_in(std::vector<Thing>& met, const Thing& thing) {
  const auto found = std::ranges::find(met, thing);
  const auto place = static_cast<std::size_t>(found - met.begin());
  if (found == met.end()) {
    met.push_back(thing);
  }
  return place;
}

/// Steps of a lane, one by one.
class Walk {
 public:
  Walk(const Program& program, Rank rank, bool costly)
      : lanes_(program.lane_count(rank)), rank_(rank), costly_(costly) {}

  void add(const Step& step) {
    hash_.add(static_cast<std::uint64_t>(step.bytes.count()))
        .add(packed(step.receives))
        .add(packed(step.sends))
        .add(step.phase)
        .add(static_cast<std::uint64_t>(step.movement));
    for (std::uint32_t slot = 0; slot < step.sends.count; ++slot) {
      add_slot(step.sends.first + slot);
    }
    hash_.add(step.join ? 1 + place_in(shape_.joined, *step.join) : 0);
    hash_.add(step.after ? 1 + awaited_place(*step.after) : 0);
    hash_.add(step.after ? step.after->index : 0);
    if (step.movement == Movement::Multimem) {
      const SwitchPeers peers{step.receives, step.sends,
                              step.source.has_value() || step.operand.has_value(),
                              step.destination.has_value()};
      hash_.add(place_in(shape_.switches, peers));
    }
    if (costly_) {
      const bool to_scratch = step.destination && step.destination->buffer == Buffer::Scratch;
      hash_.add(static_cast<std::uint64_t>(step.primitive()))
          .add((step.continues ? 1U : 0U) + (to_scratch ? 2U : 0U) + (step.posts_later ? 4U : 0U) +
               (step.source ? 8U : 0U) + (step.operand ? 16U : 0U) + (step.destination ? 32U : 0U));
    }
  }

  LaneShape finish(std::uint64_t steps) {
    shape_.hash = hash_.add(steps).value();
    return std::move(shape_);
  }

 private:
  static std::uint64_t packed(SlotRange range) {
    return (std::uint64_t{range.first} << 32U) | range.count;
  }

  // Slots are mostly used in ascending order, each of them again and again.
  void add_slot(std::uint32_t slot) {
    if (slot >= used_.size()) {
      used_.resize(std::size_t{slot} + 1);
    }
    if (!used_[slot]) {
      used_[slot] = true;
      shape_.send_slots.push_back(slot);
    }
  }

  std::uint64_t awaited_place(const StepRef& after) {
    if (after.lane >= lanes_) {
      throw SimulationError("rank " + std::to_string(rank_.value()) + " waits for lane " +
                            std::to_string(after.lane) + ", which it does not have");
    }
    return place_in(shape_.awaited, after.lane);
  }

  std::uint32_t lanes_;
  Rank rank_;
  bool costly_;
  SequenceHash hash_;
  LaneShape shape_;
  std::vector<bool> used_;  ///< send slots
};

}  // namespace

WalkedSteps::WalkedSteps(const Program& program, Rank rank, std::uint32_t lane)
    : steps_(program.step_count(rank, lane)), begin_(steps_), end_(steps_) {
  const StepPeriod period = program.period(rank, lane).value_or(StepPeriod{});
  if (period.length != 0) {
    begin_ = period.first + period.length;
    end_ = std::max(period.end, begin_);
  }
}

std::optional<LaneShape> shape_of(const Program& program, Rank rank, std::uint32_t lane, bool costs,
                                  StepBudget& budget) {
  constexpr std::uint64_t told = 1;
  constexpr std::uint64_t walked = 2;
  if (const auto schedule = program.schedule(rank, lane)) {
    LaneShape shape;
    shape.hash = SequenceHash().add(told).add(schedule->shape).value();
    shape.send_slots.resize(schedule->send_slots);
    std::iota(shape.send_slots.begin(), shape.send_slots.end(), 0U);
    return shape;
  }
  const std::uint64_t steps = program.step_count(rank, lane);
  WalkedSteps walked_steps(program, rank, lane);
  const std::uint64_t to_walk = steps - walked_steps.left_out();
  if (to_walk > budget.left) {
    return std::nullopt;
  }
  budget.left -= to_walk;
  const bool costly = costs && program.lane(rank, lane).protocol != WireProtocol::None;
  Walk walk(program, rank, costly);
  for (; !walked_steps.done(); walked_steps.next()) {
    walk.add(program.step(rank, lane, walked_steps.index()));
  }
  const StepPeriod period = program.period(rank, lane).value_or(StepPeriod{});
  LaneShape shape = walk.finish(steps);
  shape.hash = SequenceHash()
                   .add(walked)
                   .add(period.first)
                   .add(period.length)
                   .add(period.end)
                   .add(period.phases)
                   .add(shape.hash)
                   .value();
  return shape;
}

}  // namespace collsim::detail
