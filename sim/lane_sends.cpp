// The sending half of LaneEngine: where a slot leads, credit, and what happens when bytes have left.

#include <algorithm>
#include <string>
#include <utility>

#include "sim/lanes.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

/// Transfers between two calls of RunOptions::progress.
constexpr std::uint64_t progress_interval = 1U << 16U;

std::uint64_t fifo_key(std::uint32_t lane, std::uint32_t slot) {
  return (static_cast<std::uint64_t>(lane) << 32U) | slot;
}

std::string end_of(Rank rank, std::uint32_t lane, std::uint32_t slot) {
  return "rank " + std::to_string(rank.value()) + " lane " + std::to_string(lane) + " slot " +
         std::to_string(slot);
}

}  // namespace

bool LaneEngine::has_credit(const OperationState& operation, std::uint32_t index) const {
  const LaneState& lane = operation.lanes[index];
  if (lane.fifo_depth == no_index) {
    return true;
  }
  for (std::uint32_t slot = 0; slot < lane.sends.count; ++slot) {
    const auto used = operation.fifo_used.find(fifo_key(index, lane.sends.first + slot));
    if (used != operation.fifo_used.end() && used->second >= lane.fifo_depth) {
      return false;
    }
  }
  return lane.fifo_depth != 0;
}

void LaneEngine::return_credit(OperationState& operation, const Message& message) {
  LaneState& sender = operation.lanes[message.from_lane];
  if (sender.fifo_depth == no_index) {
    return;
  }
  const auto used = operation.fifo_used.find(fifo_key(message.from_lane, message.send_slot));
  if (--used->second == 0) {
    operation.fifo_used.erase(used);
  }
  if (sender.stage == LaneStage::Credit) {
    runnable_.push_back({operation.id, message.from_lane});
  }
}

void LaneEngine::start_sends(OperationState& operation, std::uint32_t index) {
  LaneState& lane = operation.lanes[index];
  const Time now = queue_->now();
  vector_of(operation, index)[layout_.credit_wait()] += (now - lane.clock).count();
  lane.clock = now;
  lane.started = now;
  lane.stage = LaneStage::Sending;
  lane.sending = lane.sends.count;
  lane.last_slot = no_index;
  for (std::uint32_t number = 0; number < lane.sends.count; ++number) {
    const std::uint32_t slot = lane.sends.first + number;
    const SendTarget target = target_of(operation, index, slot);
    const std::uint32_t id = messages_.take();
    Message& message = messages_[id];
    message.operation = operation.id;
    message.from_lane = index;
    message.to_lane = target.lane;
    message.send_slot = slot;
    message.receive_slot = target.receive_slot;
    message.path = target.path;
    message.bytes = lane.bytes;
    message.start = now;
    if (lane.fifo_depth != no_index) {
      ++operation.fifo_used[fifo_key(index, slot)];
    }
    ++operation.messages;
    routes_.retain(target.path);
    routes_.count(target.path, lane.bytes);
    network_->start(target.path, lane.bytes, id);
    count_transfer();
  }
}

void LaneEngine::count_transfer() {
  ++transfers_;
  if (options_->progress && transfers_ % progress_interval == 0 &&
      !options_->progress(transfers_)) {
    throw SimulationError("interrupted");
  }
}

void LaneEngine::departed(const Departure& departure) {
  Message& message = messages_[departure.tag];
  OperationState& operation = *operations_[message.operation.index()];
  const std::uint32_t index = message.from_lane;
  LaneState& lane = operation.lanes[index];
  const Time now = queue_->now();
  const Duration wire = std::min(departure.wire, departure.elapsed);
  const LevelId wire_level = routes_.level_of(departure.narrowest);
  const LevelId sharing_level = routes_.level_of(departure.bottleneck);

  message.left = now;
  message.arrival = checked_add(now, routes_.latency(message.path));
  std::int64_t* const vector = messages_.vector(departure.tag);
  std::copy_n(vector_of(operation, index), width_, vector);
  vector[layout_.wire(wire_level)] += wire.count();
  vector[layout_.sharing(sharing_level)] += (departure.elapsed - wire).count();
  const auto latencies = routes_.latency_by_level(message.path);
  for (std::size_t level = 0; level < latencies.size(); ++level) {
    vector[layout_.latency(LevelId(level))] += latencies[level].count();
  }
  queue_->push({message.arrival, EventPhase::Arrival, departure.tag, 0});

  const bool left_last =
      lane.last_slot == no_index || now > lane.last_left || message.send_slot < lane.last_slot;
  if (left_last) {
    lane.last_left = now;
    lane.last_slot = message.send_slot;
    lane.wire = wire;
    lane.elapsed = departure.elapsed;
    lane.wire_level = wire_level;
    lane.sharing_level = sharing_level;
  }
  if (options_->critical_path) {
    remember_sent(operation, message, left_last);
  }
  if (options_->observer == nullptr) {
    routes_.release(message.path);
  }
  if (--lane.sending != 0) {
    return;
  }
  finish_sends(operation, index);
  complete_step(operation, index);
  advance(operation, index);
  drain();
}

void LaneEngine::finish_sends(OperationState& operation, std::uint32_t index) {
  LaneState& lane = operation.lanes[index];
  std::int64_t* const vector = vector_of(operation, index);
  vector[layout_.wire(lane.wire_level)] += lane.wire.count();
  vector[layout_.sharing(lane.sharing_level)] += (lane.elapsed - lane.wire).count();
  lane.clock = queue_->now();
}

/// Lanes that use one slot keep it in place; the others share a block, where slots that are far
/// apart replace each other.
SendTarget& LaneEngine::target_place(LaneState& lane, std::uint32_t slot) {
  if (lane.target.slot == slot || lane.target.slot == no_index) {
    return lane.target;
  }
  if (lane.more_targets == no_index) {
    if (free_blocks_.empty()) {
      lane.more_targets = static_cast<std::uint32_t>(target_blocks_.size());
      target_blocks_.emplace_back();
    } else {
      lane.more_targets = free_blocks_.back();
      free_blocks_.pop_back();
    }
  }
  return target_blocks_[lane.more_targets][slot % block_size];
}

const SendTarget& LaneEngine::target_of(OperationState& operation, std::uint32_t index,
                                        std::uint32_t slot) {
  SendTarget& place = target_place(operation.lanes[index], slot);
  if (place.slot != slot) {
    const SendTarget target = connect(operation, index, slot);
    if (place.slot != no_index) {
      routes_.release(place.path);
    }
    place = target;
  }
  return place;
}

SendTarget LaneEngine::connect(const OperationState& operation, std::uint32_t index,
                               std::uint32_t slot) {
  const Rank rank = operation.lanes[index].rank;
  const std::uint32_t number = operation.lane_number(index);
  const Program& program = *operation.program;
  const Connection to = program.send_to(rank, number, slot);
  const auto ranks = static_cast<std::uint32_t>(operation.communicator->size());
  if (to.peer.value() >= ranks || to.peer == rank || to.lane >= operation.lane_count(to.peer)) {
    throw SimulationError(end_of(rank, number, slot) + " sends to " +
                          end_of(to.peer, to.lane, to.slot) +
                          (to.peer == rank ? ", which is itself" : ", which does not exist"));
  }
  const Connection back = program.receive_from(to.peer, to.lane, to.slot);
  if (back != Connection{rank, number, slot}) {
    throw SimulationError(end_of(rank, number, slot) + " sends to " +
                          end_of(to.peer, to.lane, to.slot) + ", which receives from " +
                          end_of(back.peer, back.lane, back.slot));
  }
  SendTarget target;
  target.slot = slot;
  target.path =
      routes_.open(operation.gpu(rank), operation.gpu(to.peer), program.lane(rank, number).channel);
  target.lane = operation.ranks[to.peer.index()].first_lane + to.lane;
  target.receive_slot = to.slot;
  return target;
}

void LaneEngine::forget_targets(LaneState& lane) {
  if (lane.target.slot != no_index) {
    routes_.release(lane.target.path);
  }
  lane.target = SendTarget{};
  if (lane.more_targets == no_index) {
    return;
  }
  for (SendTarget& target : target_blocks_[lane.more_targets]) {
    if (target.slot != no_index) {
      routes_.release(target.path);
    }
    target = SendTarget{};
  }
  free_blocks_.push_back(std::exchange(lane.more_targets, no_index));
}

}  // namespace collsim::detail
