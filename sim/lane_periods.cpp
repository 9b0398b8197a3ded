// What LaneEngine knows of steps that repeat: how lanes, messages and transfers stand, and lanes counted on
// without doing anything. See steady_state.hpp.

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/lanes.hpp"
#include "sim/step_costs.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

std::optional<std::uint32_t> LaneEngine::prepare_periods() {
  const OperationState& operation = *operations_.front();
  std::optional<std::uint32_t> first;
  periods_.clear();
  for (std::uint32_t index = 0; index < operation.lanes.size(); ++index) {
    const LaneState& lane = operation.lanes[index];
    if (lane.steps == 0) {
      periods_.emplace_back();
      continue;
    }
    // Such costs depend on the number of a step.
    const bool uneven = lane.protocol != WireProtocol::None &&
                        is_uneven(*options_->costs, lane.protocol, lane.kernel);
    const auto period = operation.program->period(lane.rank, operation.lane_number(index));
    if (uneven || !period) {
      return std::nullopt;
    }
    periods_.push_back(*period);
    first = first.value_or(index);
  }
  return first;
}

/// By what tells them apart. False: two messages cannot be told apart.
bool LaneEngine::order_messages() {
  const auto key = [this](std::uint32_t id) {
    const Message& message = messages_[id];
    return std::tuple(message.from_lane, message.send_slot, message.stage == MessageStage::Group,
                      message.start, message.left, message.arrival);
  };
  message_order_.clear();
  for (std::uint32_t id = 0; id < messages_.capacity(); ++id) {
    if (messages_[id].in_use) {
      message_order_.push_back(id);
    }
  }
  std::ranges::sort(message_order_, {}, key);
  place_of_message_.assign(messages_.capacity(), no_index);
  for (std::uint32_t place = 0; place < message_order_.size(); ++place) {
    place_of_message_[message_order_[place]] = place;
  }
  return std::ranges::adjacent_find(message_order_, {}, key) == message_order_.end();
}

bool LaneEngine::append_state(std::uint64_t periods, const FlowNetwork& network,
                              StateRecord& record) {
  const OperationState& operation = *operations_.front();
  for (std::uint32_t index = 0; index < operation.lanes.size(); ++index) {
    const LaneState& lane = operation.lanes[index];
    const bool repeats =
        lane.steps == 0 || (lane.step >= periods_[index].first && lane.step < periods_[index].end);
    if (!repeats) {
      return false;
    }
  }
  if (!order_messages()) {
    return false;
  }
  for (std::uint32_t index = 0; index < operation.lanes.size(); ++index) {
    if (operation.lanes[index].steps != 0) {
      append_lane(operation, index, periods, record);
    }
  }
  for (const PhaseGroup& group : operation.groups) {
    std::vector<std::uint32_t> waiters;
    for (std::uint32_t waiter = group.first_waiter; waiter != no_index;
         waiter = operation.lanes[waiter].next_joiner) {
      waiters.push_back(waiter);
    }
    std::ranges::sort(waiters);
    record.add(waiters.size());
    for (const std::uint32_t waiter : waiters) {
      record.add(std::uint64_t{waiter});
    }
  }
  append_messages(operation, record);
  network.append_state(place_of_message_, record);
  return true;
}

void LaneEngine::append_lane(const OperationState& operation, std::uint32_t index,
                             std::uint64_t periods, StateRecord& record) const {
  const LaneState& lane = operation.lanes[index];
  const StepPeriod& period = periods_[index];
  record.add(lane.step - periods * period.length)
      .add(lane.phase - periods * period.phases)
      .add(static_cast<std::uint64_t>(lane.stage))
      .add(std::uint64_t{lane.unmet})
      .add((std::uint64_t{lane.missing} << 32U) | lane.sending)
      .add((std::uint64_t{lane.last_slot} << 32U) | lane.waited_lane)
      .add(lane.reached)
      .add(lane.clock)
      .add(lane.started)
      .add(lane.last_left)
      .add(lane.work)
      .add(lane.last_end.wire)
      .add(lane.last_end.capped)
      .add(lane.last_end.elapsed)
      .add((std::uint64_t{lane.last_end.wire_at} << 32U) | lane.last_end.sharing_at)
      .add((static_cast<std::uint64_t>(lane.held_item) << 32U) |
           static_cast<std::uint64_t>(lane.work_item));
  std::vector<std::pair<std::uint32_t, std::uint64_t>> waiters;
  for (std::uint32_t waiter = lane.first_dependent; waiter != no_index;
       waiter = operation.lanes[waiter].next_dependent) {
    waiters.emplace_back(waiter, operation.lanes[waiter].after_index - periods * period.length);
  }
  std::ranges::sort(waiters);
  record.add(waiters.size());
  for (const auto& [waiter, step] : waiters) {
    record.add(std::uint64_t{waiter}).add(step);
  }
}

void LaneEngine::append_messages(const OperationState& operation, StateRecord& record) const {
  record.add(message_order_.size());
  for (const std::uint32_t id : message_order_) {
    const Message& message = messages_[id];
    record.add((std::uint64_t{message.from_lane} << 32U) | message.to_lane)
        .add((std::uint64_t{message.send_slot} << 32U) | message.receive_slot)
        .add((static_cast<std::uint64_t>(message.stage) << 1U) | (message.posted ? 1U : 0U))
        .add(static_cast<std::uint64_t>(message.bytes.count()))
        .add(message.start)
        .add(message.left)
        .add(message.arrival);
  }
  std::vector<std::uint64_t> keys;
  for (const auto& [key, wire] : operation.wires) {
    if (wire.busy || wire.arrival > record.now()) {
      keys.push_back(key);
    }
  }
  std::ranges::sort(keys);
  record.add(keys.size());
  for (const std::uint64_t key : keys) {
    const WireQueue& wire = operation.wires.at(key);
    record.add(key)
        .add(std::uint64_t{wire.busy ? 1U : 0U})
        .add(std::max(wire.arrival, record.now()));
  }
}

std::vector<std::int64_t> LaneEngine::rows() {
  std::vector<std::int64_t> rows = operations_.front()->vectors;
  for (const std::uint32_t id : message_order_) {
    rows.insert(rows.end(), messages_.vector(id), messages_.vector(id) + width_);
  }
  return rows;
}

void LaneEngine::mark_origins() {
  OperationState& operation = *operations_.front();
  std::int64_t number = 0;
  for (std::uint32_t lane = 0; lane < operation.lanes.size(); ++lane) {
    vector_of(operation, lane)[width_ - 1] = number++;
  }
  for (const std::uint32_t id : message_order_) {
    messages_.vector(id)[width_ - 1] = number++;
  }
}

std::uint64_t LaneEngine::periods_left() const {
  const OperationState& operation = *operations_.front();
  std::uint64_t left = ~std::uint64_t{0};
  for (std::uint32_t index = 0; index < operation.lanes.size(); ++index) {
    const LaneState& lane = operation.lanes[index];
    if (lane.steps != 0) {
      left = std::min(left, (periods_[index].end - 1 - lane.step) / periods_[index].length);
    }
  }
  return left;
}

void LaneEngine::skip(std::uint64_t periods) {
  OperationState& operation = *operations_.front();
  for (PhaseGroup& group : operation.groups) {
    group.clear();
  }
  for (std::uint32_t index = 0; index < operation.lanes.size(); ++index) {
    LaneState& lane = operation.lanes[index];
    if (lane.steps == 0) {
      continue;
    }
    const StepPeriod& period = periods_[index];
    lane.step += periods * period.length;
    lane.phase += periods * period.phases;
    operation.groups[operation.ranks[lane.rank.index()].first_group + lane.group].enter(lane.phase);
    for (std::uint32_t waiter = lane.first_dependent; waiter != no_index;
         waiter = operation.lanes[waiter].next_dependent) {
      operation.lanes[waiter].after_index += periods * period.length;
    }
  }
}

}  // namespace collsim::detail
