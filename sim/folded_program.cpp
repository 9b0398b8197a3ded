#include "sim/folded_program.hpp"

#include <utility>

namespace collsim::detail {

FoldedProgram::FoldedProgram(std::shared_ptr<const Program> whole,
                             std::shared_ptr<const Communicator> communicator,
                             std::vector<RankClass> classes,
                             std::vector<std::uint32_t> class_of_rank)
    : whole_(std::move(whole)),
      communicator_(std::move(communicator)),
      call_(whole_->call()),
      classes_(std::move(classes)),
      class_of_rank_(std::move(class_of_rank)) {
  call_.ranks = static_cast<std::uint32_t>(classes_.size());
}

Step FoldedProgram::step(Rank rank, std::uint32_t lane, std::uint64_t index) const {
  const LaneClass& at = lane_class(rank, lane);
  Step step = whole_->step(at.rank, at.lane, index);
  if (step.after) {
    step.after->lane = of(rank).class_of_lane[step.after->lane];
  }
  return step;
}

Connection FoldedProgram::folded(const Connection& end) const {
  const Rank peer = class_of(end.peer);
  return {peer, of(peer).class_of_lane[end.lane], end.slot};
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
