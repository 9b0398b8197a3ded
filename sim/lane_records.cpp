// What LaneEngine tells observers, and what it keeps for the critical path. Neither changes a run.

#include "sim/lanes.hpp"

namespace collsim::detail {

namespace {

/// Whether its current step may: it sends, or costs something.
bool takes_time(const LaneState& lane) {
  return lane.sends.count != 0 || lane.protocol != WireProtocol::None;
}

Step current_step(const OperationState& operation, std::uint32_t index) {
  const LaneState& lane = operation.lanes[index];
  return operation.program->step(lane.rank, operation.lane_number(index), lane.step);
}

}  // namespace

void LaneEngine::record_step(const OperationState& operation, std::uint32_t index) const {
  const LaneState& lane = operation.lanes[index];
  StepRecord record;
  record.operation = operation.id;
  record.rank = lane.rank;
  record.gpu = operation.gpu(lane.rank);
  record.lane = operation.lane_number(index);
  record.channel = operation.program->lane(lane.rank, record.lane).channel;
  record.index = lane.step;
  record.primitive = current_step(operation, index).primitive();
  record.bytes = lane.bytes;
  record.reached = lane.reached;
  record.ready = takes_time(lane) ? lane.started : lane.clock;
  record.end = queue_->now();
  options_->observer->on_step(record);
}

void LaneEngine::record_transfer(const OperationState& operation, const Message& message) {
  const LaneState& sender = operation.lanes[message.from_lane];
  const LaneState& receiver = operation.lanes[message.to_lane];
  TransferRecord record;
  record.operation = operation.id;
  record.from = sender.rank;
  record.to = receiver.rank;
  record.from_gpu = operation.gpu(sender.rank);
  record.to_gpu = operation.gpu(receiver.rank);
  record.from_lane = operation.lane_number(message.from_lane);
  record.to_lane = operation.lane_number(message.to_lane);
  record.channel = operation.program->lane(sender.rank, record.from_lane).channel;
  record.bytes = message.bytes;
  const Route route = routes_.route(message.path);
  record.route = &route;
  record.start = message.start;
  record.left = message.left;
  record.arrived = message.arrival;
  record.received = queue_->now();
  options_->observer->on_transfer(record);
  routes_.release(message.path);
}

CriticalStep LaneEngine::stretch_of(const OperationState& operation, std::uint32_t index) const {
  const LaneState& lane = operation.lanes[index];
  CriticalStep step;
  step.operation = operation.id;
  step.rank = lane.rank;
  step.lane = operation.lane_number(index);
  step.index = lane.step;
  step.primitive = current_step(operation, index).primitive();
  step.bytes = lane.bytes;
  step.from = operation.histories[index].from;
  step.start = takes_time(lane) ? lane.started : lane.clock;
  step.left = queue_->now();
  return step;
}

/// A message has left: the stretch that its arrival will follow on.
void LaneEngine::remember_sent(OperationState& operation, Message& message, bool left_last) {
  LaneHistory& history = operation.histories[message.from_lane];
  message.stretch = critical_paths_->add(stretch_of(operation, message.from_lane), history.stretch);
  if (left_last) {
    critical_paths_->assign(history.sent, message.stretch);
  }
}

/// A step is complete. Steps that took no time and waited for nobody else leave no stretch.
void LaneEngine::remember_step(OperationState& operation, std::uint32_t index) {
  LaneHistory& history = operation.histories[index];
  const LaneState& lane = operation.lanes[index];
  const bool took_time = takes_time(lane) && queue_->now() > lane.started;
  if (took_time || history.waited) {
    if (history.sent != no_index) {
      critical_paths_->assign(history.stretch, history.sent);
    } else {
      const std::uint32_t stretch =
          critical_paths_->add(stretch_of(operation, index), history.stretch);
      critical_paths_->assign(history.stretch, stretch);
      critical_paths_->release(stretch);
    }
  }
  critical_paths_->assign(history.sent, no_index);
  history.from.reset();
  history.waited = false;
}

}  // namespace collsim::detail
