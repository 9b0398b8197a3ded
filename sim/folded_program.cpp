#include "sim/folded_program.hpp"

#include <utility>

namespace collsim::detail {

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
  return step;
}

Connection FoldedProgram::folded(const Connection& end) const {
  return {class_of(end.peer), folding_.class_of_lane(end.peer, end.lane), end.slot};
}

Connection FoldedProgram::send_to(Rank rank, std::uint32_t lane, std::uint32_t slot) const {
  const LaneClass& at = lane_class(rank, lane);
  return folded(whole_->send_to(at.rank, at.lane, slot));
}

Connection FoldedProgram::receive_from(Rank rank, std::uint32_t lane, std::uint32_t slot) const {
  const LaneClass& at = lane_class(rank, lane);
  return folded(whole_->receive_from(at.rank, at.lane, slot));
}

}  // namespace collsim::detail
