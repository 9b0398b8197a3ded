#include "algorithms/nccl/collnet_gather_program.hpp"

#include <algorithm>

#include "algorithms/nccl/channel_tables.hpp"
#include "algorithms/nccl/divided_up.hpp"
#include "algorithms/nccl/node_places.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

/// Pieces under way in the network.
constexpr std::uint64_t under_way = 8;
/// Of the block's 20 warps those that copy: half of them to each side.
constexpr std::uint32_t copying_threads = 288;

/// What both have: where ranks and data are, and how a rank's place is used.
class RailProgram : public Program {
 public:
  RailProgram(const Execution& execution, RankLayout layout)
      : execution_(execution),
        nodes_(static_cast<std::uint32_t>(layout.nodes)),
        places_(static_cast<std::uint32_t>(layout.ranks_per_node)),
        element_(size_of(execution.call.type)),
        chunk_(execution.work.front().chunk),
        channels_(channel_count(execution)) {}

  [[nodiscard]] const CollectiveCall& call() const override { return execution_.call; }
  [[nodiscard]] std::string_view algorithm() const override { return "collnet-direct"; }
  [[nodiscard]] std::uint32_t lane_count(Rank) const override {
    return static_cast<std::uint32_t>(execution_.work.size()) * roles;
  }
  [[nodiscard]] Lane lane(Rank, std::uint32_t lane) const override;
  [[nodiscard]] std::uint64_t step_count(Rank, std::uint32_t lane) const override {
    return loops() * steps_per_loop(place_of(lane).role);
  }
  [[nodiscard]] Bytes scratch_bytes(Rank) const override {
    return element_ * (static_cast<std::int64_t>(execution_.work.size() * under_way) * chunk_);
  }
  [[nodiscard]] bool reduces_in_network() const override { return true; }
  [[nodiscard]] std::uint32_t channels() const override { return channels_; }
  [[nodiscard]] std::uint32_t chunks() const override {
    return static_cast<std::uint32_t>(loops());
  }
  [[nodiscard]] std::uint64_t transfer_count() const override {
    const std::uint64_t each = (nodes_ - 1) + std::uint64_t{places_.others()} * nodes_;
    return loops() * execution_.work.size() * execution_.call.ranks * each;
  }

 protected:
  /// Of a channel's lanes: between the own memory and the network's, the network, from or to the
  /// others of the node, and the side of those.
  enum Role : std::uint32_t { Hand, Network, Node, Others };
  static constexpr std::uint32_t roles = 4;

  struct Place {
    std::uint32_t channel{0};
    std::uint32_t role{0};
  };
  [[nodiscard]] static Place place_of(std::uint32_t lane) { return {lane / roles, lane % roles}; }
  [[nodiscard]] static std::uint32_t lane_of(Place place) {
    return place.channel * roles + place.role;
  }

  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }
  [[nodiscard]] const NodePlaces& places() const { return places_; }
  [[nodiscard]] std::uint32_t node_of(Rank rank) const { return places_.node_of(rank); }
  /// The slot for the counterpart in a node: a rank leaves itself out.
  [[nodiscard]] std::uint32_t slot_of(Rank rank, std::uint32_t node) const {
    return places_.number_of_other_node(rank, node);
  }

  // The other ends of slots, which are lanes of `role`.
  /// Between the fabric's two sides: a counterpart.
  [[nodiscard]] Connection in_fabric(Rank rank, std::uint32_t channel, std::uint32_t slot,
                                     Role role) const {
    const Rank peer = places_.other_counterpart(rank, slot);
    return {peer, lane_of({channel, role}), slot_of(peer, node_of(rank))};
  }
  /// Between the node's two sides: another rank of it.
  [[nodiscard]] Connection in_node(Rank rank, std::uint32_t channel, std::uint32_t slot,
                                   Role role) const {
    const Rank peer = places_.other(rank, slot);
    return {peer, lane_of({channel, role}), places_.number_of_other(peer, rank)};
  }

  /// What a step of the sides Node and Others is for.
  struct Turn {
    std::uint64_t loop{0};
    std::uint32_t node{0};   ///< how manieth
    std::uint32_t other{0};  ///< of Others: which rank
    bool first{false};       ///< of its loop
  };
  [[nodiscard]] Turn turn_of(Place place, std::uint64_t index) const {
    const std::uint64_t steps = steps_per_loop(place.role);
    const std::uint64_t number = index % steps;
    const std::uint64_t ranks = steps / nodes_;
    return {index / steps, static_cast<std::uint32_t>(number / ranks),
            static_cast<std::uint32_t>(number % ranks), number == 0};
  }
  /// A step of one of these sides, of the piece of its turn.
  [[nodiscard]] Step step_of(Place place, const Turn& turn) const {
    Step step;
    step.bytes = piece_bytes(place.channel, turn.loop);
    step.continues = !turn.first;
    return step;
  }

  [[nodiscard]] std::uint64_t loops() const {
    return static_cast<std::uint64_t>(
        divided_up(execution_.call.count, static_cast<std::int64_t>(channels_) * chunk_));
  }
  [[nodiscard]] Bytes piece_bytes(std::uint32_t channel, std::uint64_t loop) const {
    return element_ * std::min(chunk_, execution_.call.count - piece_begin(channel, loop));
  }
  /// The piece of a rank's block, in a buffer of all blocks or of the own one alone.
  [[nodiscard]] Span piece(Buffer buffer, Rank owner, std::uint32_t channel,
                           std::uint64_t loop) const {
    const Bytes block = block_offset(call(), buffer, owner);
    return Span::contiguous(buffer, block + element_ * piece_begin(channel, loop),
                            piece_bytes(channel, loop));
  }
  /// Where a piece is kept for the network, or from it.
  [[nodiscard]] Span kept(std::uint32_t channel, std::uint64_t loop) const {
    const auto slot = static_cast<std::int64_t>(channel * under_way + loop % under_way);
    return Span::contiguous(Buffer::Scratch, element_ * (slot * chunk_),
                            piece_bytes(channel, loop));
  }

 private:
  [[nodiscard]] std::uint64_t steps_per_loop(std::uint32_t role) const {
    switch (role) {
      case Node:
        return nodes_;
      case Others:
        return std::uint64_t{nodes_} * places_.others();
      default:
        return 1;
    }
  }
  [[nodiscard]] std::int64_t piece_begin(std::uint32_t channel, std::uint64_t loop) const {
    const std::uint64_t number = loop * channels_ + execution_.work[channel].channel;
    return std::min(static_cast<std::int64_t>(number) * chunk_, execution_.call.count);
  }

  Execution execution_;
  std::uint32_t nodes_;
  NodePlaces places_;
  Bytes element_;
  std::int64_t chunk_;      ///< elements
  std::uint32_t channels_;  ///< joined ones counted each
};

Lane RailProgram::lane(Rank, std::uint32_t lane) const {
  const Place place = place_of(lane);
  const ChannelWork& work = execution_.work[place.channel];
  Lane result;
  result.channel = work.channel;
  result.group = lane;
  result.fifo_depth = static_cast<std::uint32_t>(under_way);
  result.protocol = WireProtocol::Simple;
  result.threads = place.role == Network ? 0 : copying_threads;
  result.multiplicity = work.multiplicity;
  return result;
}

/// Hand: the own piece to where the network takes it. Network: to the counterparts. Node: what comes from
/// each node, the own one first, to the output and to the others. Others: what they have so.
class GatherProgram final : public RailProgram {
 public:
  using RailProgram::RailProgram;

  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override;
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override {
    const Place place = place_of(lane);
    return place.role == Network ? in_fabric(rank, place.channel, slot, Node)
                                 : in_node(rank, place.channel, slot, Others);
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    const Place place = place_of(lane);
    return place.role == Node ? in_fabric(rank, place.channel, slot, Network)
                              : in_node(rank, place.channel, slot, Node);
  }
};

Step GatherProgram::step(Rank rank, std::uint32_t lane, std::uint64_t index) const {
  const Place place = place_of(lane);
  const std::uint32_t channel = place.channel;
  if (place.role == Hand || place.role == Network) {
    Step step;
    step.bytes = piece_bytes(channel, index);
    if (place.role == Network) {
      step.movement = Movement::Multimem;
      step.source = kept(channel, index);
      step.sends = {0, nodes() - 1};
      step.after = StepRef{lane_of({channel, Hand}), index};
      return step;
    }
    step.source = piece(Buffer::Input, rank, channel, index);
    step.destination = kept(channel, index);
    if (index >= under_way) {
      step.after = StepRef{lane_of({channel, Network}), index - under_way};
    }
    return step;
  }
  const Turn turn = turn_of(place, index);
  const std::uint32_t node = (node_of(rank) + turn.node) % nodes();
  Step step = step_of(place, turn);
  if (place.role == Others) {
    const Rank owner = places().counterpart(places().other(rank, turn.other), node);
    step.receives = {turn.other, 1};
    step.destination = piece(Buffer::Output, owner, channel, turn.loop);
    return step;
  }
  step.sends = {0, places().others()};
  if (node != node_of(rank)) {
    step.receives = {slot_of(rank, node), 1};
    step.destination = piece(Buffer::Output, places().counterpart(rank, node), channel, turn.loop);
    return step;
  }
  step.source = piece(Buffer::Input, rank, channel, turn.loop);
  if (call().in_place == InPlace::No) {
    step.destination = piece(Buffer::Output, rank, channel, turn.loop);
  }
  return step;
}

/// Others: the rank's part of what belongs to the others' places, to them. Node: theirs and the own, for each
/// node, the own one last, to the counterpart there. Network: what the counterparts have, reduced. Hand: to
/// the output.
class ScatterProgram final : public RailProgram {
 public:
  using RailProgram::RailProgram;

  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override;
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override {
    const Place place = place_of(lane);
    return place.role == Node ? in_fabric(rank, place.channel, slot, Network)
                              : in_node(rank, place.channel, slot, Node);
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    const Place place = place_of(lane);
    return place.role == Network ? in_fabric(rank, place.channel, slot, Node)
                                 : in_node(rank, place.channel, slot, Others);
  }
};

Step ScatterProgram::step(Rank rank, std::uint32_t lane, std::uint64_t index) const {
  const Place place = place_of(lane);
  const std::uint32_t channel = place.channel;
  if (place.role == Hand || place.role == Network) {
    Step step;
    step.bytes = piece_bytes(channel, index);
    step.source = kept(channel, index);
    if (place.role == Network) {
      step.movement = Movement::Multimem;
      step.receives = {0, nodes() - 1};
      step.destination = step.source;
      step.after = StepRef{lane_of({channel, Node}), (index + 1) * nodes() - 1};
      return step;
    }
    step.destination = piece(Buffer::Output, rank, channel, index);
    step.after = StepRef{lane_of({channel, Network}), index};
    return step;
  }
  const Turn turn = turn_of(place, index);
  const std::uint32_t node = (node_of(rank) + 1 + turn.node) % nodes();
  Step step = step_of(place, turn);
  if (place.role == Others) {
    const Rank owner = places().counterpart(places().other(rank, turn.other), node);
    step.source = piece(Buffer::Input, owner, channel, turn.loop);
    step.sends = {turn.other, 1};
    return step;
  }
  step.receives = {0, places().others()};
  step.source = piece(Buffer::Input, places().counterpart(rank, node), channel, turn.loop);
  if (node != node_of(rank)) {
    step.sends = {slot_of(rank, node), 1};
    step.movement = Movement::Post;
    return step;
  }
  step.destination = kept(channel, turn.loop);
  if (turn.loop >= under_way) {
    step.after = StepRef{lane_of({channel, Hand}), turn.loop - under_way};
  }
  return step;
}

}  // namespace

std::unique_ptr<Program> build_collnet_gather_program(const Execution& execution,
                                                      RankLayout layout) {
  const CollectiveKind kind = execution.call.kind;
  COLLSIM_ENSURE(layout.nodes > 1 && execution.interleaved &&
                     (kind == CollectiveKind::AllGather || kind == CollectiveKind::ReduceScatter),
                 "CollNetDirect's all-gather or reduce-scatter over several nodes");
  if (kind == CollectiveKind::AllGather) {
    return std::make_unique<GatherProgram>(execution, layout);
  }
  return std::make_unique<ScatterProgram>(execution, layout);
}

}  // namespace collsim::nccl
