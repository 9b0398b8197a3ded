// What the steps of lanes with a protocol cost: LaneEngine between "all is there" and "its bytes
// move".

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/lanes.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

LaneWork LaneEngine::work_of(const OperationState& operation, std::uint32_t index) const {
  const LaneState& lane = operation.lanes[index];
  return {lane.protocol,      lane.kernel,
          lane.threads,       lane.channel,
          operation.channels, operation.proxies,
          operation.narrow,   operation.ranks[lane.rank.index()].memory};
}

/// A step has all it waited for. Leaves the stage at Credit where it takes no time.
void LaneEngine::begin_step(OperationState& operation, std::uint32_t index) {
  LaneState& lane = operation.lanes[index];
  const Time now = queue_->now();
  if (lane.sends.count != 0) {
    vector_of(operation, index)[layout_.credit_wait()] += (now - lane.clock).count();
    lane.clock = now;
    lane.started = now;
  }
  if (lane.protocol != WireProtocol::None) {
    begin_costly_step(operation, index);
  } else if (lane.movement != Movement::Route) {
    move_bytes(operation, index);
  } else if (lane.sends.count != 0) {
    start_sends(operation, index);
  }
}

void LaneEngine::begin_costly_step(OperationState& operation, std::uint32_t index) {
  LaneState& lane = operation.lanes[index];
  lane.started = queue_->now();
  if (lane.primitive == Primitive::Nothing) {
    return;
  }
  lane.clock = queue_->now();
  const StepCost cost = step_cost(
      *options_->costs, work_of(operation, index),
      {lane.primitive, lane.movement, lane.continues, lane.receives.count, lane.to_scratch,
       lane.own_reads, lane.writes_own ? 1U : 0U, lane.step, lane.bytes});
  lane.held_item = cost.held.item;
  lane.work_item = cost.work.item;
  lane.work = lane.steps_at_once * cost.work.time;
  if (cost.held.time == Duration{}) {
    move_bytes(operation, index);
    return;
  }
  lane.stage = LaneStage::Held;
  queue_->push(
      {checked_add(queue_->now(), cost.held.time), EventPhase::Work, index, operation.id.value()});
}

/// The bytes of a step start to move. Leaves the stage at Credit where they need no time.
void LaneEngine::move_bytes(OperationState& operation, std::uint32_t index) {
  LaneState& lane = operation.lanes[index];
  if (lane.movement == Movement::Multimem) {
    start_through_switch(operation, index);
    return;
  }
  if (lane.movement == Movement::Route && lane.sends.count != 0) {
    start_sends(operation, index);
    return;
  }
  if (lane.work == Duration{}) {
    lane.stage = LaneStage::Credit;
    post_messages(operation, index);
    return;
  }
  lane.stage = LaneStage::Copying;
  queue_->push(
      {checked_add(queue_->now(), lane.work), EventPhase::Work, index, operation.id.value()});
}

void LaneEngine::worked(OperationId id, std::uint32_t index) {
  OperationState& operation = *operations_[id.index()];
  LaneState& lane = operation.lanes[index];
  const Time now = queue_->now();
  const bool held = lane.stage == LaneStage::Held;
  vector_of(operation, index)[layout_.cost(held ? lane.held_item : lane.work_item)] +=
      (now - lane.clock).count();
  lane.clock = now;
  if (held) {
    move_bytes(operation, index);
    if (lane.stage != LaneStage::Credit) {
      return;
    }
  } else {
    lane.stage = LaneStage::Credit;
    post_messages(operation, index);
  }
  go_on(operation, index);
}

/// Flags only: the data stay where the peer reads them, or the switches of the fabric, which a proxy tells.
void LaneEngine::post_messages(OperationState& operation, std::uint32_t index) {
  LaneState& lane = operation.lanes[index];
  if (lane.movement != Movement::Post) {
    return;
  }
  for (std::uint32_t number = lane.sends.count; number-- > 0;) {
    const std::uint32_t id = new_message(operation, index, lane.sends.first + number);
    messages_[id].later = std::exchange(lane.first_posted, id);
  }
  if (lane.posts_later) {
    return;
  }
  std::uint32_t next = std::exchange(lane.first_posted, no_index);
  while (next != no_index) {
    const std::uint32_t id = next;
    next = std::exchange(messages_[id].later, no_index);
    post(operation, id);
  }
}

void LaneEngine::post(OperationState& operation, std::uint32_t id) {
  messages_[id].start = queue_->now();
  std::copy_n(vector_of(operation, messages_[id].from_lane), width_, messages_.vector(id));
  if (options_->critical_path) {
    remember_sent(operation, messages_[id], false);
  }
  if (routes_.kind(messages_[id].path) == PathKind::Network) {
    messages_[id].posted = true;
    give_to_proxy(operation, id);
    return;
  }
  set_out(operation, id, static_cast<std::uint32_t>(layout_.wire(LevelId(0))));
  release_path(messages_[id].path);
}

/// The step is over.
void LaneEngine::go_on(OperationState& operation, std::uint32_t index) {
  complete_step(operation, index);
  advance(operation, index);
  drain();
}

TransferTerms LaneEngine::terms_of(const LaneState& lane) const {
  TransferTerms terms;
  terms.multiplicity = lane.multiplicity;
  if (lane.protocol != WireProtocol::None && lane.work > Duration{}) {
    // Rounded up, so that the bytes alone take `work`, which is rounded up itself, and not more.
    const auto work = static_cast<U128>(lane.work.count());
    const U128 units = (to_fine(lane.bytes) + work - 1) / work;
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    terms.cap = Bandwidth::from_units(
        units > static_cast<U128>(most) ? most : static_cast<std::int64_t>(units));
  }
  return terms;
}

HandOff LaneEngine::hand_off_of(const OperationState& operation, const Message& message) const {
  const LaneState& lane = operation.lanes[message.from_lane];
  const CostPart part = message_cost(*options_->costs, work_of(operation, message.from_lane),
                                     routes_.kind(message.path));
  Duration hidden{};
  if (lane.protocol == WireProtocol::LL && message.stage == MessageStage::Direct) {
    // Each line has flags of its own: the first ones are seen while the last ones leave.
    const Duration flowed = queue_->now() - message.start;
    hidden = std::clamp(flowed - lane.work, Duration{}, part.time);
  }
  return {part.item, part.time - hidden, hidden};
}

}  // namespace collsim::detail
