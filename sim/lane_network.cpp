// Messages between nodes of lanes with a protocol: the lane copies one to where its GPU's proxy finds
// it and goes on; the proxy works on it; then it goes over the wire, behind those of its connection.

#include <algorithm>
#include <utility>

#include "sim/lanes.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

/// A proxy's work in a second: its unit of "bytes" is a picosecond.
constexpr std::int64_t picoseconds_in_a_second = 1'000'000'000'000;

std::uint64_t wire_key(const Message& message) {
  return lane_slot(message.from_lane, message.send_slot);
}

}  // namespace

void LaneEngine::stage_message(OperationState& operation, std::uint32_t id) {
  messages_[id].stage = MessageStage::Staged;
  const LaneState& lane = operation.lanes[messages_[id].from_lane];
  queue_->push({checked_add(queue_->now(), lane.work), EventPhase::Staged, id, 0});
}

void LaneEngine::staged(std::uint32_t id) {
  const Message& message = messages_[id];
  OperationState& operation = *operations_[message.operation.index()];
  const LaneState& lane = operation.lanes[message.from_lane];
  SendEnd end;
  end.capped = lane.work;
  end.elapsed = lane.work;
  message_left(operation, id, end);
  give_to_proxy(operation, id);
  send_left(operation, id, end);
}

void LaneEngine::give_to_proxy(OperationState& operation, std::uint32_t id) {
  const LaneState& lane = operation.lanes[messages_[id].from_lane];
  const Duration work = lane.protocol == WireProtocol::None
                            ? Duration{}
                            : options_->costs->time(CostItem::NetworkMessage);
  if (work == Duration{}) {
    leave_proxy(operation, id);
    return;
  }
  messages_[id].stage = MessageStage::Proxy;
  network_->start(proxy_of(operation, messages_[id]), Bytes(work.count()), id,
                  {1, lane.multiplicity, {}});
}

/// Where the work on a message shares the proxy of its GPU, or of the one that stands for its class.
PathId LaneEngine::proxy_of(const OperationState& operation, const Message& message) {
  const DeviceId gpu = routes_.sender(message.path);
  std::uint32_t number = gpu.value();
  std::uint32_t crowd = 1;
  if (plan_ != nullptr) {
    const std::uint32_t proxy = plan_->links.proxy(gpu);
    number = plan_->links.representative(proxy);
    crowd = operation.lanes_alike(message.from_lane) / plan_->links.size(proxy);
  }
  const auto [resource, is_new] = proxies_.try_emplace(number);
  if (is_new) {
    resource->second = network_->add_resource(Bandwidth::bytes_per_second(picoseconds_in_a_second));
  }
  const auto [path, is_new_path] = proxy_paths_.try_emplace((std::uint64_t{number} << 32U) | crowd);
  if (is_new_path) {
    path->second = routes_.open_resource(resource->second, crowd);
  }
  return path->second;
}

void LaneEngine::proxy_done(const Departure& departure) {
  const Message& message = messages_[departure.tag];
  messages_.vector(departure.tag)[layout_.cost(CostItem::NetworkMessage)] +=
      departure.elapsed.count();
  leave_proxy(*operations_[message.operation.index()], departure.tag);
}

/// Onto the wire, or into the hands of what fetches it from there.
void LaneEngine::leave_proxy(OperationState& operation, std::uint32_t id) {
  Message& message = messages_[id];
  if (!message.posted) {
    queue_for_wire(operation, id);
    return;
  }
  message.left = queue_->now();
  message.arrival = message.left;
  queue_->push({message.arrival, EventPhase::Arrival, id, 0});
  release_path(message.path);
}

void LaneEngine::queue_for_wire(OperationState& operation, std::uint32_t id) {
  messages_[id].stage = MessageStage::Waiting;
  messages_[id].left = queue_->now();
  WireQueue& wire = operation.wires[wire_key(messages_[id])];
  if (wire.last == no_index) {
    wire.first = id;
  } else {
    messages_[wire.last].later = id;
  }
  wire.last = id;
  if (!wire.busy) {
    start_on_wire(operation, id);
  }
}

/// The first of its queue.
void LaneEngine::start_on_wire(OperationState& operation, std::uint32_t id) {
  Message& message = messages_[id];
  const LaneState& lane = operation.lanes[message.from_lane];
  WireQueue& wire = operation.wires[wire_key(message)];
  wire.busy = true;
  wire.first = std::exchange(message.later, no_index);
  if (wire.first == no_index) {
    wire.last = no_index;
  }
  message.stage = MessageStage::Wire;
  routes_.count(message.path, message.bytes, lane.multiplicity);
  network_->start(message.path, message.bytes, id, {1, lane.multiplicity, {}});
  count_transfers(operation, messages_[id].from_lane);
}

/// By how much a message that left the wire is later yet.
Duration LaneEngine::add_network_delay(const OperationState& operation, std::uint32_t id) {
  const LaneWork work = work_of(operation, messages_[id].from_lane);
  const NetworkDelay delay =
      network_delay(*options_->costs, work, on_wire(work.protocol, messages_[id].bytes));
  std::int64_t* const vector = messages_.vector(id);
  vector[layout_.cost(CostItem::NetworkRendezvous)] += delay.rendezvous.count();
  vector[layout_.cost(CostItem::NetworkLateness)] += delay.lateness.count();
  if (work.protocol == WireProtocol::LL) {
    vector[layout_.cost(CostItem::LLNetworkRate)] += delay.lines.count();
  }
  return delay.sum();
}

/// Messages of a connection arrive in the order in which they were sent, however little the later one has to wait
/// for: what it waits longer is the rendezvous of the one before.
void LaneEngine::keep_order(OperationState& operation, std::uint32_t id) {
  Message& message = messages_[id];
  WireQueue& wire = operation.wires[wire_key(message)];
  if (message.arrival < wire.arrival) {
    messages_.vector(id)[layout_.cost(CostItem::NetworkRendezvous)] +=
        (wire.arrival - message.arrival).count();
    message.arrival = wire.arrival;
  }
  wire.arrival = message.arrival;
}

void LaneEngine::left_wire(const Departure& departure) {
  Message& message = messages_[departure.tag];
  OperationState& operation = *operations_[message.operation.index()];
  const Duration wire_time = std::min(departure.wire, departure.elapsed);
  // It also shared the wire with those before it.
  const Duration all = queue_->now() - message.left;
  std::int64_t* const vector = messages_.vector(departure.tag);
  vector[wire_at(departure.narrowest)] += wire_time.count();
  vector[sharing_at(departure.bottleneck)] += (all - wire_time).count();
  set_out(operation, departure.tag, wire_at(departure.bottleneck));
  WireQueue& wire = operation.wires[wire_key(message)];
  release_path(message.path);
  wire.busy = false;
  if (wire.first != no_index) {
    start_on_wire(operation, wire.first);
  }
}

}  // namespace collsim::detail
