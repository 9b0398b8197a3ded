#include "algorithms/nccl/collnet_lanes.hpp"

#include <algorithm>

#include "algorithms/nccl/channel_tables.hpp"
#include "algorithms/nccl/divided_up.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

/// Totals that are under way or not yet taken.
constexpr std::uint64_t under_way = 8;

}  // namespace

CollNetLanes::CollNetLanes(const Execution& execution, RankLayout layout, Roles roles,
                           std::uint32_t heads)
    : execution_(execution),
      roles_(roles),
      nodes_(static_cast<std::uint32_t>(layout.nodes)),
      places_(static_cast<std::uint32_t>(layout.ranks_per_node)),
      heads_(heads),
      element_(size_of(execution.call.type)),
      chunk_(execution.work.front().chunk),
      channels_(channel_count(execution)) {
  COLLSIM_ENSURE(execution.call.kind == CollectiveKind::AllReduce && nodes_ > 1,
                 "CollNet is for AllReduce over several nodes");
  COLLSIM_ENSURE(execution.interleaved, "CollNet's channels interleave");
}

std::uint32_t CollNetLanes::lane_count(Rank) const {
  return static_cast<std::uint32_t>(execution_.work.size()) * roles_.count;
}

CollNetLanes::Place CollNetLanes::place_of(std::uint32_t lane) const {
  return {lane / roles_.count, lane % roles_.count};
}

std::uint32_t CollNetLanes::lane_of(Place place) const {
  return place.channel * roles_.count + place.role;
}

std::uint64_t CollNetLanes::loops() const {
  const std::int64_t loop = static_cast<std::int64_t>(channels()) * heads_ * chunk_;
  return static_cast<std::uint64_t>(divided_up(execution_.call.count, loop));
}

CollNetLanes::Block CollNetLanes::block(std::uint32_t channel, std::uint64_t loop,
                                        std::uint32_t head) const {
  const std::uint64_t piece = loop * channels() + execution_.work[channel].channel;
  const std::int64_t wanted = static_cast<std::int64_t>(piece * heads_ + head) * chunk_;
  const std::int64_t begin = std::min(wanted, execution_.call.count);
  return {element_ * begin, element_ * std::min(chunk_, execution_.call.count - begin)};
}

Bytes CollNetLanes::scratch_bytes(Rank rank) const {
  const auto slots = static_cast<std::int64_t>(execution_.work.size() * 2 * under_way);
  return node_of(rank) == 0 ? element_ * (slots * chunk_) : Bytes(0);
}

Span CollNetLanes::kept(std::uint32_t channel, Side side, std::uint64_t loop, Bytes bytes) const {
  const std::uint64_t first = (channel * 2 + (side == Side::Total ? 1 : 0)) * under_way;
  const auto slot = static_cast<std::int64_t>(first + loop % under_way);
  return Span::contiguous(Buffer::Scratch, element_ * (slot * chunk_), bytes);
}

void CollNetLanes::hand_over(Step& step, Rank head, Place place, std::uint64_t loop) const {
  if (node_of(head) != 0) {
    step.sends = {0, 1};
    step.movement = Movement::Post;
    return;
  }
  step.destination = kept(place.channel, Side::Given, loop, step.bytes);
  if (loop >= under_way) {
    step.after = StepRef{lane_of({place.channel, roles_.network}), loop - under_way};
  }
}

void CollNetLanes::take_total(Step& step, Rank head, Place place, std::uint64_t loop) const {
  step.phase = loop;
  if (node_of(head) != 0) {
    step.receives = {0, 1};
    // The total contains what the head has given, so it was given.
    step.after = StepRef{lane_of({place.channel, roles_.reduce}), loop};
    return;
  }
  step.source = kept(place.channel, Side::Total, loop, step.bytes);
  step.after = StepRef{lane_of({place.channel, roles_.network}), loop};
}

Step CollNetLanes::network_step(std::uint32_t channel, std::uint64_t loop, Bytes bytes) const {
  Step step;
  step.bytes = bytes;
  step.movement = Movement::Multimem;
  step.receives = {0, nodes_ - 1};
  step.sends = {0, nodes_ - 1};
  step.source = kept(channel, Side::Given, loop, bytes);
  step.destination = kept(channel, Side::Total, loop, bytes);
  step.after = StepRef{lane_of({channel, roles_.reduce}), loop};
  if (loop >= under_way) {
    step.phase = loop - under_way + 1;
    step.join = lane_of({channel, roles_.broadcast});
  }
  return step;
}

Lane CollNetLanes::network_lane(std::uint32_t channel) const {
  Lane lane;
  lane.channel = execution_.work[channel].channel;
  lane.group = lane_of({channel, roles_.network});
  lane.fifo_depth = static_cast<std::uint32_t>(under_way);
  lane.protocol = WireProtocol::Simple;
  lane.multiplicity = execution_.work[channel].multiplicity;
  return lane;
}

Connection CollNetLanes::network_send(Rank rank, Place place, std::uint32_t slot) const {
  if (place.role == roles_.network) {
    return {counterpart(rank, slot + 1), lane_of({place.channel, roles_.broadcast}), 0};
  }
  return {counterpart(rank, 0), lane_of({place.channel, roles_.network}), node_of(rank) - 1};
}

Connection CollNetLanes::network_receive(Rank rank, Place place, std::uint32_t slot) const {
  if (place.role == roles_.network) {
    return {counterpart(rank, slot + 1), lane_of({place.channel, roles_.reduce}), 0};
  }
  return {counterpart(rank, 0), lane_of({place.channel, roles_.network}), node_of(rank) - 1};
}

}  // namespace collsim::nccl
