#include "algorithms/nccl/nvls_lanes.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "algorithms/nccl/divided_up.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) {
  return divided_up(value, unit) * unit;
}

}  // namespace

std::vector<Rank> heads_of_all(CollectiveKind kind, std::span<const Rank> heads,
                               std::uint32_t ranks_per_node) {
  if (heads.size() != ranks_per_node) {
    throw InputError("NVLS " + std::string(name_of(kind)) +
                     " needs a channel that starts at each of the " +
                     std::to_string(ranks_per_node) + " GPUs; those of the NVLS graph start at " +
                     std::to_string(heads.size()));
  }
  return {heads.begin(), heads.end()};
}

NvlsLanes::NvlsLanes(const Execution& execution, NvlsShape shape)
    : execution_(execution),
      roles_(std::move(shape.roles)),
      heads_(static_cast<std::uint32_t>(shape.heads.size())),
      circle_(std::move(shape.heads)),
      places_in_circle_(shape.ranks_per_node, shape.ranks_per_node),
      places_(shape.ranks_per_node),
      partials_(shape.partials),
      element_(size_of(execution.call.type)),
      rounding_(std::max<std::int64_t>(1, shape.rounding / element_)) {
  COLLSIM_ENSURE(heads_ > 0 && execution.call.ranks % shape.ranks_per_node == 0,
                 "NVLS has heads, and nodes alike");
  for (std::uint32_t i = 0; i < roles_.size(); ++i) {
    positions_[static_cast<std::size_t>(roles_[i])] = i;
  }
  for (std::uint32_t number = 0; number < heads_; ++number) {
    const std::size_t head = circle_[number].index();
    COLLSIM_ENSURE(
        head < places_in_circle_.size() && places_in_circle_[head] == shape.ranks_per_node,
        "each head is a rank of the node, once");
    places_in_circle_[head] = number;
  }
  for (std::uint32_t place = 0; place < shape.ranks_per_node; ++place) {
    if (places_in_circle_[place] == shape.ranks_per_node) {
      places_in_circle_[place] = static_cast<std::uint32_t>(circle_.size());
      circle_.emplace_back(place);
    }
  }
  scratch_.push_back(0);
  for (const ChannelWork& work : execution_.work) {
    // The rounding may make the blocks of the last loop larger than those of the others.
    slots_.push_back(rounded_up(work.chunk, rounding_));
    const std::uint64_t chunks = 2 * slots_of_half * head_count() + partials_;
    scratch_.push_back(scratch_.back() +
                       static_cast<std::int64_t>(chunks) * slots_.back() * element_.count());
  }
}

std::optional<std::uint32_t> NvlsLanes::position(NvlsRole role) const {
  return positions_[static_cast<std::size_t>(role)];
}

std::uint32_t NvlsLanes::lane_of(LanePlace place) const {
  const auto width = static_cast<std::uint32_t>(roles_.size());
  return place.channel * width + position(place.role).value();
}

NvlsLanes::LanePlace NvlsLanes::place_of(std::uint32_t lane) const {
  const auto width = static_cast<std::uint32_t>(roles_.size());
  return {lane / width, roles_[lane % width]};
}

std::optional<std::uint32_t> NvlsLanes::head_number(Rank rank) const {
  const std::uint32_t place = place_in_circle(rank);
  return place < heads_ ? std::optional(place) : std::nullopt;
}

Rank NvlsLanes::other(Rank rank, std::uint32_t number) const {
  const std::uint32_t place = (place_in_circle(rank) + 1 + number) % places_.ranks_per_node();
  return places_.at(node_of(rank), circle_[place].value());
}

std::uint32_t NvlsLanes::number_of_other(Rank rank, Rank other) const {
  const std::uint32_t all = places_.ranks_per_node();
  return (place_in_circle(other) + all - place_in_circle(rank) - 1) % all;
}

std::uint32_t NvlsLanes::head_at(Rank rank, std::uint32_t turn) const {
  return (place_in_circle(rank) + 1 + turn) % heads_;
}

std::uint32_t NvlsLanes::turn_of(Rank rank, std::uint32_t head) const {
  return (head + 2 * heads_ - place_in_circle(rank) % heads_ - 1) % heads_;
}

Rank NvlsLanes::head(std::uint32_t node, std::uint32_t number) const {
  return places_.at(node, circle_[number].value());
}

std::int64_t NvlsLanes::loop_elements(std::uint32_t channel) const {
  const std::int64_t chunk = execution_.work[channel].chunk;
  return execution_.call.blocked() ? chunk : chunk * head_count();
}

std::uint64_t NvlsLanes::loops(std::uint32_t channel) const {
  if (execution_.interleaved) {
    // At least the channel itself.
    const auto all = std::max<std::int64_t>(channels(), 1);
    return static_cast<std::uint64_t>(
        divided_up(execution_.work[channel].count, all * loop_elements(channel)));
  }
  return static_cast<std::uint64_t>(
      divided_up(execution_.work[channel].count, loop_elements(channel)));
}

std::uint64_t NvlsLanes::whole_loops(std::uint32_t channel) const {
  const std::int64_t pieces = execution_.work[channel].count / loop_elements(channel);
  if (!execution_.interleaved) {
    return static_cast<std::uint64_t>(pieces);
  }
  // Pieces number `channel`, `channel` + all, ….
  const auto all = std::max<std::int64_t>(channels(), 1);
  const std::int64_t from_own = pieces - std::int64_t{execution_.work[channel].channel};
  return from_own <= 0 ? 0 : static_cast<std::uint64_t>(divided_up(from_own, all));
}

NvlsLanes::Block NvlsLanes::own_block(std::uint32_t channel, std::uint64_t loop) const {
  const ChannelWork& work = execution_.work[channel];
  const std::int64_t begin = static_cast<std::int64_t>(loop) * work.chunk;
  return {element_ * (work.first + begin), element_ * std::min(work.chunk, work.count - begin)};
}

NvlsLanes::Block NvlsLanes::block(std::uint32_t channel, std::uint64_t loop,
                                  std::uint32_t head) const {
  if (execution_.call.blocked()) {
    Block block = own_block(channel, loop);
    block.offset += execution_.call.block() * circle_[head].value();
    return block;
  }
  if (execution_.interleaved) {
    return interleaved_block(channel, loop, head);
  }
  const ChannelWork& work = execution_.work[channel];
  const std::int64_t begin = static_cast<std::int64_t>(loop) * loop_elements(channel);
  const std::int64_t left = work.count - begin;
  const std::int64_t chunk =
      left < loop_elements(channel)
          ? rounded_up(divided_up<std::int64_t>(left, head_count()), rounding_)
          : work.chunk;
  // Of a short last loop the last heads may have nothing.
  const std::int64_t skipped = std::min(head * chunk, left);
  return {element_ * (work.first + begin + skipped), element_ * std::min(chunk, left - skipped)};
}

/// Channels take pieces of the whole in turn; of the last ones blocks may be short, or empty.
NvlsLanes::Block NvlsLanes::interleaved_block(std::uint32_t channel, std::uint64_t loop,
                                              std::uint32_t head) const {
  const ChannelWork& work = execution_.work[channel];
  const std::uint64_t piece = loop * channels() + work.channel;
  const auto wanted = static_cast<std::int64_t>(piece * head_count() + head) * work.chunk;
  const std::int64_t begin = std::min(wanted, work.count);
  return {element_ * begin, element_ * std::min(work.chunk, work.count - begin)};
}

Span NvlsLanes::staging(std::uint32_t channel, std::uint32_t head, Half half, std::uint64_t loop,
                        Bytes bytes) const {
  const std::uint64_t buffer = 2 * std::uint64_t{head} + (half == Half::Broadcast ? 1 : 0);
  const auto slot = static_cast<std::int64_t>(buffer * slots_of_half + loop % slots_of_half);
  return Span::contiguous(Buffer::Scratch,
                          Bytes(scratch_[channel]) + element_ * (slot * slots_[channel]), bytes);
}

Span NvlsLanes::partial(std::uint32_t channel, std::uint32_t number, Bytes bytes) const {
  const auto slot = static_cast<std::int64_t>(2 * slots_of_half * head_count() + number);
  return Span::contiguous(Buffer::Scratch,
                          Bytes(scratch_[channel]) + element_ * (slot * slots_[channel]), bytes);
}

Bytes NvlsLanes::scratch_bytes(Rank) const { return Bytes(scratch_.back()); }

std::uint32_t NvlsLanes::channels() const {
  std::uint32_t count = 0;
  for (const ChannelWork& work : execution_.work) {
    count += work.multiplicity;
  }
  return count;
}

std::uint32_t NvlsLanes::lane_count(Rank) const {
  return static_cast<std::uint32_t>(execution_.work.size() * roles_.size());
}

std::uint32_t NvlsLanes::group_of(LanePlace place) const {
  switch (place.role) {
    case NvlsRole::Gather:
      return gather_group(place.channel);
    case NvlsRole::Broadcast:
      return broadcast_group(place.channel);
    default:
      return groups_of_channel * place.channel;
  }
}

Lane NvlsLanes::lane(Rank rank, std::uint32_t number) const {
  const LanePlace place = place_of(number);
  const ChannelWork& work = execution_.work[place.channel];
  Lane lane;
  lane.channel = work.channel;
  lane.group = group_of(place);
  lane.fifo_depth = static_cast<std::uint32_t>(slots_of_half);
  lane.protocol = WireProtocol::Simple;
  lane.kernel = place.role == NvlsRole::Network ? Kernel::Collective : Kernel::Multicast;
  lane.threads = threads(rank, place);
  lane.multiplicity = work.multiplicity;
  return lane;
}

std::uint64_t NvlsLanes::step_count(Rank rank, std::uint32_t lane) const {
  const LanePlace place = place_of(lane);
  if (place.role == NvlsRole::Scatter || place.role == NvlsRole::Gather) {
    return loops(place.channel) * head_count();
  }
  if (!head_number(rank)) {
    return 0;
  }
  const LoopRange range = loops_of(rank, place);
  return (range.end - range.begin) * steps_per_loop(rank, place);
}

std::optional<StepPeriod> NvlsLanes::period(Rank rank, std::uint32_t lane) const {
  const LanePlace place = place_of(lane);
  const std::uint64_t all = std::max<std::uint64_t>(loops(place.channel), 1);
  const std::uint64_t whole = whole_loops(place.channel);
  const std::uint64_t steps = step_count(rank, lane) / all;
  if (whole <= settling_loops() + 1 || steps == 0) {
    return std::nullopt;
  }
  StepPeriod period{settling_loops() * steps, steps, whole * steps, 0};
  period.phases =
      step(rank, lane, period.first + steps).phase - step(rank, lane, period.first).phase;
  return period;
}

Step NvlsLanes::step(Rank rank, std::uint32_t lane, std::uint64_t index) const {
  const LanePlace place = place_of(lane);
  switch (place.role) {
    case NvlsRole::Scatter:
      return scatter(rank, place.channel, index);
    case NvlsRole::Gather:
      return gather(rank, place.channel, index);
    case NvlsRole::Reduce:
    case NvlsRole::Broadcast:
    case NvlsRole::Network:
    case NvlsRole::Hand:
      break;
  }
  const std::uint64_t steps = steps_per_loop(rank, place);
  const std::uint64_t loop = loops_of(rank, place).begin + index / steps;
  const std::uint32_t head = head_number(rank).value();
  const Task task{rank, place.channel, loop, head, block(place.channel, loop, head).bytes};
  Step step = head_step(task, place.role, index % steps);
  step.bytes = task.bytes;
  step.continues = index % steps > 0;
  return step;
}

Step NvlsLanes::read_node(const Task& task) const {
  Step step;
  step.movement = Movement::Multimem;
  step.receives = {0, others()};
  step.source = staging(task.channel, task.head, Half::Reduce, task.loop, task.bytes);
  step.after = own_scatter_step(task.channel, task.loop);
  return step;
}

void NvlsLanes::write_node(Step& step, const Task& task) const {
  step.movement = Movement::Multimem;
  step.sends = {0, others()};
  step.destination = staging(task.channel, task.head, Half::Broadcast, task.loop, task.bytes);
  wait_for_slot(step, task.channel, task.loop);
}

Step NvlsLanes::scatter(Rank rank, std::uint32_t channel, std::uint64_t index) const {
  const std::uint64_t loop = index / head_count();
  const auto turn = static_cast<std::uint32_t>(index % head_count());
  const std::uint32_t number = head_at(rank, turn);
  const Block data = block(channel, loop, number);
  Step step;
  step.bytes = data.bytes;
  step.source = Span::contiguous(Buffer::Input, data.offset, data.bytes);
  step.destination = staging(channel, number, Half::Reduce, loop, data.bytes);
  step.movement = Movement::Post;
  step.continues = turn > 0;
  step.posts_later = turn + 1 < head_count();
  if (head_number(rank) != number) {
    step.sends = {turn, 1};
  } else if (loop >= slots_of_half) {
    const LanePlace reader{channel, NvlsRole::Reduce};
    step.after = {lane_of(reader), (loop - slots_of_half) * steps_per_loop(rank, reader) +
                                       reading_step(rank, channel)};
  }
  return step;
}

Step NvlsLanes::gather(Rank rank, std::uint32_t channel, std::uint64_t index) const {
  const std::uint64_t loop = index / head_count();
  const auto turn = static_cast<std::uint32_t>(index % head_count());
  const std::uint32_t number = head_at(rank, turn);
  const Block data = block(channel, loop, number);
  Step step;
  step.bytes = data.bytes;
  step.destination = Span::contiguous(Buffer::Output, data.offset, data.bytes);
  step.phase = loop;
  step.continues = turn > 0;
  if (head_number(rank) == number) {
    const LanePlace writing{channel, writer(rank, channel)};
    step.source = staging(channel, number, Half::Broadcast, loop, data.bytes);
    step.after = {lane_of(writing), (loop + 1) * steps_per_loop(rank, writing) - 1};
    return step;
  }
  step.receives = {turn, 1};
  if (turn == 0 && has(NvlsRole::Scatter) && execution_.call.in_place == InPlace::Yes) {
    // What has come contains the rank's own blocks, so they were read.
    step.after = StepRef{lane_of({channel, NvlsRole::Scatter}), (loop + 1) * head_count() - 1};
  }
  return step;
}

StepRef NvlsLanes::own_scatter_step(std::uint32_t channel, std::uint64_t loop) const {
  return {lane_of({channel, NvlsRole::Scatter}), (loop + 1) * head_count() - 1};
}

std::uint64_t NvlsLanes::slot_phase(std::uint64_t loop) {
  return loop < slots_of_half ? 0 : loop - slots_of_half + 1;
}

void NvlsLanes::wait_for_slot(Step& step, std::uint32_t channel, std::uint64_t loop) const {
  step.phase = slot_phase(loop);
  if (loop >= slots_of_half) {
    step.join = gather_group(channel);
  }
}

Connection NvlsLanes::send_to(Rank rank, std::uint32_t lane, std::uint32_t slot) const {
  const LanePlace place = place_of(lane);
  if (place.role == NvlsRole::Scatter) {
    const Rank to = head(node_of(rank), head_at(rank, slot));
    return {to, lane_of({place.channel, NvlsRole::Reduce}), number_of_other(to, rank)};
  }
  if (place.role != NvlsRole::Network && slot < others()) {
    const Rank to = other(rank, slot);
    return {to, lane_of({place.channel, NvlsRole::Gather}), turn_of(to, head_number(rank).value())};
  }
  return send_away(rank, place, slot);
}

Connection NvlsLanes::receive_from(Rank rank, std::uint32_t lane, std::uint32_t slot) const {
  const LanePlace place = place_of(lane);
  if (place.role == NvlsRole::Gather) {
    const Rank from = head(node_of(rank), head_at(rank, slot));
    return {from, lane_of({place.channel, writer(from, place.channel)}),
            number_of_other(from, rank)};
  }
  if (place.role == NvlsRole::Reduce && slot < others()) {
    const Rank from = other(rank, slot);
    return {from, lane_of({place.channel, NvlsRole::Scatter}),
            turn_of(from, head_number(rank).value())};
  }
  return receive_from_away(rank, place, slot);
}

std::uint64_t NvlsLanes::transfer_count() const {
  const std::uint64_t nodes = execution_.call.ranks / places_.ranks_per_node();
  const std::uint64_t ways = (has(NvlsRole::Scatter) ? 1U : 0U) + (has(NvlsRole::Gather) ? 1U : 0U);
  std::uint64_t count = 0;
  for (std::uint32_t channel = 0; channel < execution_.work.size(); ++channel) {
    const std::uint64_t within = ways * nodes * head_count() * others();
    count += loops(channel) * (within + messages_away(channel));
  }
  return count;
}

}  // namespace collsim::nccl
