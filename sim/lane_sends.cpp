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
    if (operation.fifo_used.used(index, lane.sends.first + slot) >= lane.fifo_depth) {
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
  operation.fifo_used.remove(message.from_lane, message.send_slot);
  if (sender.stage != LaneStage::Credit) {
    return;
  }
  // People see that it waited; a fit needs to know for what: the receiver's way to this moment.
  const Time now = queue_->now();
  if (options_->attribute == AttributeTo::Limits && now > sender.clock &&
      has_credit(operation, message.from_lane)) {
    sender.clock = now;
    follow(operation, message.from_lane, vector_of(operation, message.to_lane));
  }
  runnable_.push_back({operation.id, message.from_lane});
}

void LaneEngine::start_sends(OperationState& operation, std::uint32_t index) {
  LaneState& lane = operation.lanes[index];
  lane.stage = LaneStage::Sending;
  lane.sending = lane.sends.count;
  lane.last_slot = no_index;
  const TransferTerms terms = terms_of(lane);
  for (std::uint32_t number = 0; number < lane.sends.count; ++number) {
    const std::uint32_t id = new_message(operation, index, lane.sends.first + number);
    const PathId path = messages_[id].path;
    if (lane.protocol != WireProtocol::None && routes_.kind(path) == PathKind::Network) {
      stage_message(operation, id);
      continue;
    }
    routes_.count(path, lane.bytes, lane.multiplicity);
    network_->start(path, lane.bytes, id, terms);
    count_transfers(operation, index);
  }
}

std::uint32_t LaneEngine::new_message(OperationState& operation, std::uint32_t index,
                                      std::uint32_t slot) {
  const LaneState& lane = operation.lanes[index];
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
  message.start = queue_->now();
  if (lane.fifo_depth != no_index) {
    operation.fifo_used.add(index, slot);
  }
  ++operation.messages;
  routes_.retain(target.path);
  return id;
}

/// The lane has started one, and those that it stands for the same.
void LaneEngine::count_transfers(const OperationState& operation, std::uint32_t index) {
  const std::uint64_t before = transfers_ / progress_interval;
  transfers_ += operation.lanes_alike(index);
  if (options_->progress && transfers_ / progress_interval != before &&
      !options_->progress(transfers_)) {
    throw SimulationError("interrupted");
  }
}

void LaneEngine::departed(const Departure& departure) {
  switch (messages_[departure.tag].stage) {
    case MessageStage::Direct:
      left_directly(departure);
      break;
    case MessageStage::Group:
      left_through_switch(departure);
      break;
    case MessageStage::Proxy:
      proxy_done(departure);
      break;
    case MessageStage::Wire:
      left_wire(departure);
      break;
    case MessageStage::Staged:
    case MessageStage::Waiting:
      COLLSIM_ENSURE(false, "a message left that no network moved");
  }
}

/// Where the time of bytes goes whose full rate a link sets, or the memory of a host.
std::uint32_t LaneEngine::wire_at(LinkId link) const {
  const std::optional<LevelId> level = routes_.level_of(link);
  return static_cast<std::uint32_t>(level ? layout_.wire(*level)
                                          : layout_.cost(CostItem::HostRate));
}

/// The same for what others on the link cost.
std::uint32_t LaneEngine::sharing_at(LinkId link) const {
  const std::optional<LevelId> level = routes_.level_of(link);
  return static_cast<std::uint32_t>(level ? layout_.sharing(*level)
                                          : layout_.cost(CostItem::HostRate));
}

SendEnd LaneEngine::send_end(const Departure& departure) const {
  SendEnd end;
  end.elapsed = departure.elapsed;
  end.wire = std::min(departure.wire, departure.elapsed);
  end.capped = std::clamp(departure.capped, end.wire, end.elapsed);
  end.wire_at = wire_at(departure.narrowest);
  end.sharing_at = sharing_at(departure.bottleneck);
  if (options_->attribute == AttributeTo::Limits) {
    // Rates change in between: threads decided unless links made it clearly slower.
    constexpr std::int64_t clearly = 64;
    const bool by_threads =
        end.capped > end.wire && end.elapsed <= end.capped + end.capped / clearly;
    end.wire = by_threads ? Duration{} : end.elapsed;
    end.capped = end.elapsed;
    end.wire_at = wire_at(departure.bottleneck);
  }
  return end;
}

void LaneEngine::left_directly(const Departure& departure) {
  OperationState& operation = *operations_[messages_[departure.tag].operation.index()];
  const SendEnd end = send_end(departure);
  message_left(operation, departure.tag, end);
  set_out(operation, departure.tag, end.wire_at);
  send_left(operation, departure.tag, end);
}

/// A message needs its path no longer, unless an observer is still to be told of it.
void LaneEngine::release_path(PathId path) {
  if (options_->observer == nullptr) {
    routes_.release(path);
  }
}

/// Its vector: the lane's until it was sent, and how it left.
void LaneEngine::message_left(OperationState& operation, std::uint32_t id, const SendEnd& end) {
  const std::uint32_t index = messages_[id].from_lane;
  std::int64_t* const vector = messages_.vector(id);
  std::copy_n(vector_of(operation, index), width_, vector);
  add_send(vector, operation.lanes[index], end);
}

void LaneEngine::add_send(std::int64_t* vector, const LaneState& lane, const SendEnd& end) const {
  vector[end.wire_at] += end.wire.count();
  if (end.capped > end.wire) {
    vector[layout_.cost(lane.work_item)] += (end.capped - end.wire).count();
  }
  vector[end.sharing_at] += (end.elapsed - end.capped).count();
}

/// A message's bytes have left, now: it arrives after the wire's latency and its hand-off.
void LaneEngine::set_out(OperationState& operation, std::uint32_t id, std::uint32_t slowest) {
  Message& message = messages_[id];
  message.left = queue_->now();
  message.arrival = checked_add(message.left, routes_.latency(message.path));
  std::int64_t* const vector = messages_.vector(id);
  const auto latencies = routes_.latency_by_level(message.path);
  for (std::size_t level = 0; level < latencies.size(); ++level) {
    vector[layout_.latency(LevelId(level))] += latencies[level].count();
  }
  if (operation.lanes[message.from_lane].protocol != WireProtocol::None) {
    const HandOff hand_off = hand_off_of(operation, message);
    message.arrival = checked_add(message.arrival, hand_off.shown);
    vector[layout_.cost(hand_off.item)] += hand_off.shown.count();
    if (message.stage == MessageStage::Wire) {
      message.arrival = checked_add(message.arrival, add_network_delay(operation, id));
      keep_order(operation, id);
    } else if (routes_.kind(message.path) == PathKind::Network) {
      // Not by a proxy: it is what the fabric's switches have reduced.
      const Duration reduction = options_->costs->time(CostItem::NetworkReduction);
      message.arrival = checked_add(message.arrival, reduction);
      vector[layout_.cost(CostItem::NetworkReduction)] += reduction.count();
    }
    if (options_->attribute == AttributeTo::Limits && hand_off.shown > Duration{}) {
      vector[layout_.cost(hand_off.item)] += hand_off.hidden.count();
      vector[slowest] -= hand_off.hidden.count();
    }
  }
  queue_->push({message.arrival, EventPhase::Arrival, id, 0});
}

/// The lane is rid of one of its step's messages.
void LaneEngine::send_left(OperationState& operation, std::uint32_t id, const SendEnd& end) {
  Message& message = messages_[id];
  const std::uint32_t index = message.from_lane;
  LaneState& lane = operation.lanes[index];
  const Time now = queue_->now();
  const bool left_last =
      lane.last_slot == no_index || now > lane.last_left || message.send_slot < lane.last_slot;
  if (left_last) {
    lane.last_left = now;
    lane.last_slot = message.send_slot;
    lane.last_end = end;
  }
  if (options_->critical_path) {
    remember_sent(operation, message, left_last);
  }
  if (message.stage == MessageStage::Direct) {
    release_path(message.path);
  }
  if (--lane.sending != 0) {
    return;
  }
  finish_sends(operation, index);
  go_on(operation, index);
}

void LaneEngine::finish_sends(OperationState& operation, std::uint32_t index) {
  LaneState& lane = operation.lanes[index];
  add_send(vector_of(operation, index), lane, lane.last_end);
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
  // A lane that stands for others may stand for its peer as well.
  const bool is_itself = to.peer == rank && operation.folded == nullptr;
  if (to.peer.value() >= ranks || is_itself || to.lane >= operation.lane_count(to.peer)) {
    throw SimulationError(end_of(rank, number, slot) + " sends to " +
                          end_of(to.peer, to.lane, to.slot) +
                          (is_itself ? ", which is itself" : ", which does not exist"));
  }
  const Connection back = program.receive_from(to.peer, to.lane, to.slot);
  if (back != Connection{rank, number, slot}) {
    throw SimulationError(end_of(rank, number, slot) + " sends to " +
                          end_of(to.peer, to.lane, to.slot) + ", which receives from " +
                          end_of(back.peer, back.lane, back.slot));
  }
  SendTarget target;
  target.slot = slot;
  target.path = routes_.open(
      connection_route(lane_on_gpus(operation, index), slot, operation.lanes[index].protocol),
      operation.lanes_alike(index));
  target.lane = operation.ranks[to.peer.index()].first_lane + to.lane;
  target.receive_slot = to.slot;
  return target;
}

/// The lane itself, or the one of the whole program that stands for its class.
LaneOnGpus LaneEngine::lane_on_gpus(const OperationState& operation, std::uint32_t index) const {
  const Rank rank = operation.lanes[index].rank;
  const std::uint32_t number = operation.lane_number(index);
  if (operation.folded == nullptr) {
    return {cluster_, operation.program, operation.communicator, rank, number, &legs_};
  }
  const LaneClass& alike = operation.folded->lane_class(rank, number);
  return {cluster_,
          &operation.folded->whole(),
          &operation.folded->communicator(),
          alike.rank,
          alike.lane,
          &legs_};
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
