// Steps that read and write through switches (Movement::Multimem): one transfer over a tree of links
// stands for all their messages. Between the GPUs of a node it is the switch that joins them (NVLink
// SHARP); between nodes, those of the fabric (SHARP): what all send goes up the tree of the routes to the
// lane's rank, and the result down again.

#include <algorithm>

#include "sim/lanes.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

PathId LaneEngine::path_through_switch(OperationState& operation, std::uint32_t index) {
  const LaneState& lane = operation.lanes[index];
  const GroupPath::Peers peers{lane.receives, lane.sends, lane.reads_own, lane.writes_own};
  GroupPaths& known = operation.group_paths[index];
  for (const GroupPath& group : known.paths) {
    if (group.peers == peers) {
      return group.path;
    }
  }
  const PathId path = open_through_switch(operation, index);
  if (known.paths.size() < GroupPaths::most) {
    known.paths.push_back({peers, path});
    return path;
  }
  routes_.release(known.paths[known.oldest].path);
  known.paths[known.oldest] = {peers, path};
  known.oldest = (known.oldest + 1) % GroupPaths::most;
  return path;
}

bool LaneEngine::goes_through_fabric(const OperationState& operation, std::uint32_t index) const {
  const LaneState& lane = operation.lanes[index];
  if (lane.receives.count == 0) {
    return false;
  }
  const Connection from =
      operation.program->receive_from(lane.rank, operation.lane_number(index), lane.receives.first);
  const Graph& graph = cluster_->graph();
  return graph.device(operation.gpu(from.peer)).node != graph.device(operation.gpu(lane.rank)).node;
}

PathId LaneEngine::open_through_fabric(const OperationState& operation, std::uint32_t index) {
  const LaneState& lane = operation.lanes[index];
  const DeviceId root = operation.gpu(lane.rank);
  std::vector<Route> to_root;
  for (std::uint32_t slot = 0; slot < lane.receives.count; ++slot) {
    const Connection from = operation.program->receive_from(lane.rank, operation.lane_number(index),
                                                            lane.receives.first + slot);
    const std::vector<DeviceId> stops = stops_to(operation, from, lane.rank);
    const DeviceId gpu = operation.gpu(from.peer);
    to_root.push_back(stops.empty()
                          ? cluster_->router().route(gpu, root, lane.channel)
                          : cluster_->router().route_through(gpu, root, stops, lane.channel));
  }
  return routes_.open_reduction(to_root);
}

PathId LaneEngine::open_through_switch(const OperationState& operation, std::uint32_t index) {
  if (goes_through_fabric(operation, index)) {
    return open_through_fabric(operation, index);
  }
  const LaneState& lane = operation.lanes[index];
  const std::uint32_t number = operation.lane_number(index);
  std::vector<DeviceId> read_from;
  std::vector<DeviceId> write_to;
  for (std::uint32_t slot = 0; slot < lane.receives.count; ++slot) {
    const Connection from =
        operation.program->receive_from(lane.rank, number, lane.receives.first + slot);
    read_from.push_back(operation.gpu(from.peer));
  }
  for (std::uint32_t slot = 0; slot < lane.sends.count; ++slot) {
    const Connection to = operation.program->send_to(lane.rank, number, lane.sends.first + slot);
    write_to.push_back(operation.gpu(to.peer));
  }
  if (lane.reads_own && !read_from.empty()) {
    read_from.push_back(operation.gpu(lane.rank));
  }
  if (lane.writes_own && !write_to.empty()) {
    write_to.push_back(operation.gpu(lane.rank));
  }
  return routes_.open_multimem(operation.gpu(lane.rank), read_from, write_to);
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
  routes_.count(path, lane.bytes, lane.multiplicity);
  network_->start(path, lane.bytes, group, terms_of(lane));
  count_transfer();
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
