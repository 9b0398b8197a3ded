#include "algorithms/nccl/collnet_gather_program.hpp"

#include <algorithm>

#include "algorithms/nccl/channel_tables.hpp"
#include "algorithms/nccl/divided_up.hpp"
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
        ranks_per_node_(static_cast<std::uint32_t>(layout.ranks_per_node)),
        element_(size_of(execution.call.type)),
        chunk_(execution.work.front().chunk),
        channels_(channel_count(execution)) {}

  [[nodiscard]] const CollectiveCall& call() const override { return execution_.call; }
  [[nodiscard]] std::string_view algorithm() const override { return "collnet-direct"; }
  [[nodiscard]] std::uint32_t lane_count(Rank) const override {
    return static_cast<std::uint32_t>(execution_.work.size()) * roles;
  }
  [[nodiscard]] Lane lane(Rank, std::uint32_t lane) const override;
  [[nodiscard]] Bytes scratch_bytes(Rank) const override {
    return element_ * (static_cast<std::int64_t>(execution_.work.size() * under_way) * chunk_);
  }
  [[nodiscard]] bool reduces_in_network() const override { return true; }
  [[nodiscard]] std::uint32_t channels() const override { return channels_; }
  [[nodiscard]] std::uint32_t chunks() const override {
    return static_cast<std::uint32_t>(loops());
  }
  [[nodiscard]] std::uint64_t transfer_count() const override {
    const std::uint64_t each = (nodes_ - 1) + std::uint64_t{others()} * nodes_;
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
  /// Other ranks of the node.
  [[nodiscard]] std::uint32_t others() const { return ranks_per_node_ - 1; }
  [[nodiscard]] std::uint32_t node_of(Rank rank) const { return rank.value() / ranks_per_node_; }
  /// The rank with the same place in another node.
  [[nodiscard]] Rank counterpart(Rank rank, std::uint32_t node) const {
    return Rank(node * ranks_per_node_ + rank.value() % ranks_per_node_);
  }
  /// Among the counterparts of a rank, which leave out the rank itself: slot for node, node for slot.
  [[nodiscard]] std::uint32_t slot_of(Rank rank, std::uint32_t node) const {
    return node - (node < node_of(rank) ? 0 : 1);
  }
  [[nodiscard]] std::uint32_t node_at(Rank rank, std::uint32_t slot) const {
    return slot + (slot < node_of(rank) ? 0 : 1);
  }
  /// Another rank of the node: those below the rank come first.
  [[nodiscard]] Rank other(Rank rank, std::uint32_t number) const {
    const std::uint32_t first = node_of(rank) * ranks_per_node_;
    return Rank(first + number + (first + number < rank.value() ? 0 : 1));
  }
  [[nodiscard]] std::uint32_t number_of_other(Rank rank, Rank other) const {
    return other.value() % ranks_per_node_ - (other < rank ? 0 : 1);
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
    const bool all = (call().kind == CollectiveKind::AllGather) == (buffer == Buffer::Output);
    const Bytes block = all ? call().block() * owner.value() : Bytes(0);
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
  [[nodiscard]] std::int64_t piece_begin(std::uint32_t channel, std::uint64_t loop) const {
    const std::uint64_t number = loop * channels_ + execution_.work[channel].channel;
    return std::min(static_cast<std::int64_t>(number) * chunk_, execution_.call.count);
  }

  Execution execution_;
  std::uint32_t nodes_;
  std::uint32_t ranks_per_node_;
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
/// each node, to the output and to the others. Others: what they have so.
class GatherProgram final : public RailProgram {
 public:
  using RailProgram::RailProgram;

  [[nodiscard]] std::uint64_t step_count(Rank, std::uint32_t lane) const override {
    switch (place_of(lane).role) {
      case Node:
        return loops() * nodes();
      case Others:
        return loops() * nodes() * others();
      default:
        return loops();
    }
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override;
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override {
    const Place place = place_of(lane);
    if (place.role == Network) {
      const Rank to = counterpart(rank, node_at(rank, slot));
      return {to, lane_of({place.channel, Node}), slot_of(to, node_of(rank))};
    }
    const Rank to = other(rank, slot);
    return {to, lane_of({place.channel, Others}), number_of_other(to, rank)};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    const Place place = place_of(lane);
    if (place.role == Node) {
      const Rank from = counterpart(rank, node_at(rank, slot));
      return {from, lane_of({place.channel, Network}), slot_of(from, node_of(rank))};
    }
    const Rank from = other(rank, slot);
    return {from, lane_of({place.channel, Node}), number_of_other(from, rank)};
  }
};

Step GatherProgram::step(Rank rank, std::uint32_t lane, std::uint64_t index) const {
  const Place place = place_of(lane);
  const std::uint32_t channel = place.channel;
  Step step;
  switch (place.role) {
    case Hand:
      step.bytes = piece_bytes(channel, index);
      step.source = piece(Buffer::Input, rank, channel, index);
      step.destination = kept(channel, index);
      if (index >= under_way) {
        step.after = StepRef{lane_of({channel, Network}), index - under_way};
      }
      return step;
    case Network:
      step.bytes = piece_bytes(channel, index);
      step.movement = Movement::Multimem;
      step.source = kept(channel, index);
      step.sends = {0, nodes() - 1};
      step.after = StepRef{lane_of({channel, Hand}), index};
      return step;
    case Node: {
      const std::uint64_t loop = index / nodes();
      const auto node = static_cast<std::uint32_t>((node_of(rank) + index % nodes()) % nodes());
      step.bytes = piece_bytes(channel, loop);
      step.sends = {0, others()};
      step.continues = index % nodes() != 0;
      if (node != node_of(rank)) {
        step.receives = {slot_of(rank, node), 1};
        step.destination = piece(Buffer::Output, counterpart(rank, node), channel, loop);
      } else {
        step.source = piece(Buffer::Input, rank, channel, loop);
        if (call().in_place == InPlace::No) {
          step.destination = piece(Buffer::Output, rank, channel, loop);
        }
      }
      return step;
    }
    default: {
      const std::uint64_t steps = std::uint64_t{nodes()} * others();
      const std::uint64_t loop = index / steps;
      const auto number = static_cast<std::uint32_t>(index % others());
      const Rank from = other(rank, number);
      const std::uint64_t turn = index % steps / others();
      const auto node = static_cast<std::uint32_t>((node_of(rank) + turn) % nodes());
      step.bytes = piece_bytes(channel, loop);
      step.receives = {number, 1};
      step.destination = piece(Buffer::Output, counterpart(from, node), channel, loop);
      step.continues = index % steps != 0;
      return step;
    }
  }
}

/// Others: the rank's part of what belongs to the others' places, to them. Node: theirs and the own, for each
/// node, to the counterpart there. Network: what the counterparts have, reduced. Hand: to the output.
class ScatterProgram final : public RailProgram {
 public:
  using RailProgram::RailProgram;

  [[nodiscard]] std::uint64_t step_count(Rank, std::uint32_t lane) const override {
    switch (place_of(lane).role) {
      case Node:
        return loops() * nodes();
      case Others:
        return loops() * nodes() * others();
      default:
        return loops();
    }
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override;
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override {
    const Place place = place_of(lane);
    if (place.role == Node) {
      const Rank to = counterpart(rank, node_at(rank, slot));
      return {to, lane_of({place.channel, Network}), slot_of(to, node_of(rank))};
    }
    const Rank to = other(rank, slot);
    return {to, lane_of({place.channel, Node}), number_of_other(to, rank)};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    const Place place = place_of(lane);
    if (place.role == Network) {
      const Rank from = counterpart(rank, node_at(rank, slot));
      return {from, lane_of({place.channel, Node}), slot_of(from, node_of(rank))};
    }
    const Rank from = other(rank, slot);
    return {from, lane_of({place.channel, Others}), number_of_other(from, rank)};
  }

 private:
  /// Which node a rank's pieces are for, by turn: the own one last, so that others need not wait for it.
  [[nodiscard]] std::uint32_t node_of_turn(Rank rank, std::uint64_t turn) const {
    return static_cast<std::uint32_t>((node_of(rank) + 1 + turn) % nodes());
  }
};

Step ScatterProgram::step(Rank rank, std::uint32_t lane, std::uint64_t index) const {
  const Place place = place_of(lane);
  const std::uint32_t channel = place.channel;
  Step step;
  switch (place.role) {
    case Others: {
      const std::uint64_t steps = std::uint64_t{nodes()} * others();
      const std::uint64_t loop = index / steps;
      const auto number = static_cast<std::uint32_t>(index % others());
      const std::uint32_t node = node_of_turn(rank, index % steps / others());
      step.bytes = piece_bytes(channel, loop);
      step.source = piece(Buffer::Input, counterpart(other(rank, number), node), channel, loop);
      step.sends = {number, 1};
      step.continues = index % steps != 0;
      return step;
    }
    case Node: {
      const std::uint64_t loop = index / nodes();
      const std::uint32_t node = node_of_turn(rank, index % nodes());
      step.bytes = piece_bytes(channel, loop);
      step.receives = {0, others()};
      step.source = piece(Buffer::Input, counterpart(rank, node), channel, loop);
      step.continues = index % nodes() != 0;
      if (node != node_of(rank)) {
        step.sends = {slot_of(rank, node), 1};
        step.movement = Movement::Post;
      } else {
        step.destination = kept(channel, loop);
        if (loop >= under_way) {
          step.after = StepRef{lane_of({channel, Hand}), loop - under_way};
        }
      }
      return step;
    }
    case Network:
      step.bytes = piece_bytes(channel, index);
      step.movement = Movement::Multimem;
      step.receives = {0, nodes() - 1};
      step.source = kept(channel, index);
      step.destination = step.source;
      step.after = StepRef{lane_of({channel, Node}), (index + 1) * nodes() - 1};
      return step;
    default:
      step.bytes = piece_bytes(channel, index);
      step.source = kept(channel, index);
      step.destination = piece(Buffer::Output, rank, channel, index);
      step.after = StepRef{lane_of({channel, Network}), index};
      return step;
  }
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
