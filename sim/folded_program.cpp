#include "sim/folded_program.hpp"

#include <utility>

namespace collsim::detail {

namespace {

/// The slot that stands for one: of those that are alike the first.
std::uint32_t one_of(SlotRange alike, std::uint32_t slot) {
  return slot - alike.first < alike.count ? alike.first : slot;
}

/// Whether slots of a step are those that are alike, or the first of them.
bool begins_with(SlotRange alike, SlotRange slots) {
  return alike.count != 0 && slots.count != 0 && slots.first == alike.first;
}

}  // namespace

void RankFolding::add(Rank its_class, std::vector<std::uint32_t> order) {
  ranks_.push_back({its_class.value(), &*orders_.insert(std::move(order)).first});
}

FoldedProgram::FoldedProgram(std::shared_ptr<const Program> whole,
                             std::shared_ptr<const Communicator> communicator,
                             std::vector<RankClass> classes, RankFolding folding)
    : whole_(std::move(whole)),
      communicator_(std::move(communicator)),
      call_(whole_->call()),
      classes_(std::move(classes)),
      folding_(std::move(folding)) {
  call_.ranks = static_cast<std::uint32_t>(classes_.size());
}

Step FoldedProgram::step(Rank rank, std::uint32_t lane, std::uint64_t index) const {
  const LaneClass& at = lane_class(rank, lane);
  Step step = whole_->step(at.rank, at.lane, index);
  if (step.after) {
    step.after->lane = folding_.class_of_lane(at.rank, step.after->lane);
  }
  if (step.join && *step.join < of(rank).group_of_group.size()) {
    step.join = of(rank).group_of_group[*step.join];
  }
  return step;
}

std::uint16_t FoldedProgram::fold_slots(Rank rank, std::uint32_t lane, std::uint64_t index,
                                        Step& step) const {
  const LaneClass& at = lane_class(rank, lane);
  const bool sends = begins_with(at.sends_alike, step.sends);
  const bool receives = begins_with(at.receives_alike, step.receives);
  std::uint16_t steps = 1;
  if (sends && step.sends.count == 1) {
    steps = static_cast<std::uint16_t>(at.sends_alike.count);
    // The primitive ends with the last of them, or behind it.
    step.posts_later = whole_->step(at.rank, at.lane, index + steps - 1).posts_later;
  } else if (receives && step.receives.count == 1) {
    steps = static_cast<std::uint16_t>(at.receives_alike.count);
  }
  step.sends.count = sends ? 1 : step.sends.count;
  step.receives.count = receives ? 1 : step.receives.count;
  return steps;
}

void FoldedProgram::unfold_slots(Rank rank, std::uint32_t lane, SwitchPeers& peers) const {
  const LaneClass& at = lane_class(rank, lane);
  if (begins_with(at.sends_alike, peers.sends)) {
    peers.sends = at.sends_alike;
  }
  if (begins_with(at.receives_alike, peers.receives)) {
    peers.receives = at.receives_alike;
  }
}

Connection FoldedProgram::folded(const Connection& end) const {
  return {class_of(end.peer), folding_.class_of_lane(end.peer, end.lane), end.slot};
}

Connection FoldedProgram::send_to(Rank rank, std::uint32_t lane, std::uint32_t slot) const {
  const LaneClass& at = lane_class(rank, lane);
  const Connection to = folded(whole_->send_to(at.rank, at.lane, slot));
  return {to.peer, to.lane, one_of(lane_class(to.peer, to.lane).receives_alike, to.slot)};
}

Connection FoldedProgram::receive_from(Rank rank, std::uint32_t lane, std::uint32_t slot) const {
  const LaneClass& at = lane_class(rank, lane);
  const Connection from = folded(whole_->receive_from(at.rank, at.lane, slot));
  return {from.peer, from.lane, one_of(lane_class(from.peer, from.lane).sends_alike, from.slot)};
}

}  // namespace collsim::detail
