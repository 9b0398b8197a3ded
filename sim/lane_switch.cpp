// Steps that read and write through switches (Movement::Multimem): one transfer over a tree of links
// stands for all their messages.

#include <algorithm>

#include "sim/lanes.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

PathId LaneEngine::path_through_switch(OperationState& operation, std::uint32_t index) {
  const LaneState& lane = operation.lanes[index];
  SwitchPeers peers{lane.receives, lane.sends, lane.own_reads != 0, lane.writes_own};
  if (operation.folded != nullptr) {
    operation.folded->unfold_slots(lane.rank, operation.lane_number(index), peers);
  }
  GroupPaths& known = operation.group_paths[index];
  for (const GroupPath& group : known.paths) {
    if (group.peers == peers) {
      return group.path;
    }
  }
  const PathId path = routes_.open_switch(switch_route(lane_on_gpus(operation, index), peers),
                                          operation.lanes_alike(index));
  if (known.paths.size() < GroupPaths::most) {
    known.paths.push_back({peers, path});
    return path;
  }
  routes_.release(known.paths[known.oldest].path);
  known.paths[known.oldest] = {peers, path};
  known.oldest = (known.oldest + 1) % GroupPaths::most;
  return path;
}

void LaneEngine::start_through_switch(OperationState& operation, std::uint32_t index) {
  LaneState& lane = operation.lanes[index];
  lane.stage = LaneStage::Sending;
  lane.sending = 1;
  lane.last_slot = no_index;
  const PathId path = path_through_switch(operation, index);
  const std::uint32_t group = messages_.take();
  messages_[group].stage = MessageStage::Group;
  messages_[group].operation = operation.id;
  messages_[group].from_lane = index;
  messages_[group].path = path;
  for (std::uint32_t number = lane.sends.count; number-- > 0;) {
    const std::uint32_t id = new_message(operation, index, lane.sends.first + number);
    messages_[id].later = std::exchange(messages_[group].later, id);
  }
  routes_.retain(path);
  const Bytes bytes = on_wire(lane.protocol, lane.bytes);
  routes_.count(path, bytes, lane.multiplicity);
  network_->start(path, bytes, group, terms_of(lane));
  count_transfers(operation, index);
}

void LaneEngine::left_through_switch(const Departure& departure) {
  const Message group = messages_[departure.tag];
  OperationState& operation = *operations_[group.operation.index()];
  const std::uint32_t index = group.from_lane;
  LaneState& lane = operation.lanes[index];
  const SendEnd end = send_end(departure);
  lane.last_left = queue_->now();
  std::uint32_t next = group.later;
  while (next != no_index) {
    const std::uint32_t id = next;
    next = std::exchange(messages_[id].later, no_index);
    message_left(operation, id, end);
    set_out(operation, id, end.wire_at);
    if (options_->critical_path) {
      remember_sent(operation, messages_[id], messages_[id].send_slot == lane.sends.first);
    }
    release_path(messages_[id].path);
  }
  routes_.release(group.path);
  messages_.give_back(departure.tag);
  add_send(vector_of(operation, index), lane, end);
  lane.clock = queue_->now();
  lane.sending = 0;
  go_on(operation, index);
}

}  // namespace collsim::detail
