#include "algorithms/nccl/collnet_program.hpp"

#include <optional>
#include <utility>

#include "algorithms/nccl/collnet_lanes.hpp"
#include "algorithms/nccl/slices.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr std::uint32_t warp = 32;

/// Of a block: the rest reduces.
struct DirectThreads {
  std::uint32_t scatter{0};
  std::uint32_t gather{0};
  std::uint32_t broadcast{0};
};

enum class Standing : std::uint8_t {
  Head,      ///< sends to other heads, and others send to it
  OnlyHead,  ///< of its node
  NoHead,
};

/// The threads that copy: a warp of scatter and one of broadcast only synchronise.
constexpr DirectThreads direct_threads(Standing standing) {
  constexpr std::uint32_t copying = 96;
  switch (standing) {
    case Standing::Head:
      return {copying, copying, copying};
    case Standing::OnlyHead:
      return {0, 0, 2 * copying};
    case Standing::NoHead:
      break;
  }
  return {3 * copying, 2 * copying, 0};
}

Lane lane_with(const Execution& execution, std::uint32_t channel, std::uint32_t group,
               std::uint32_t threads) {
  Lane lane;
  lane.channel = execution.work[channel].channel;
  lane.group = group;
  lane.fifo_depth = static_cast<std::uint32_t>(execution.fifo);
  lane.protocol = WireProtocol::Simple;
  lane.threads = threads;
  lane.multiplicity = execution.work[channel].multiplicity;
  return lane;
}

class DirectProgram final : public CollNetLanes {
 public:
  DirectProgram(const Execution& execution, RankLayout layout, std::vector<Rank> heads)
      : CollNetLanes(execution, layout, {role_count, Reduce, Broadcast, Network},
                     static_cast<std::uint32_t>(heads.size())),
        heads_of_node_(std::move(heads)),
        head_numbers_(ranks_per_node()) {
    for (std::uint32_t number = 0; number < heads_of_node_.size(); ++number) {
      head_numbers_.at(heads_of_node_[number].index()) = number;
    }
  }

  [[nodiscard]] std::string_view algorithm() const override { return "collnet-direct"; }
  [[nodiscard]] Lane lane(Rank rank, std::uint32_t lane) const override;
  [[nodiscard]] std::uint64_t step_count(Rank rank, std::uint32_t lane) const override;
  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override;
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override;
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override;
  [[nodiscard]] std::uint64_t transfer_count() const override {
    const std::uint64_t inside = 2 * std::uint64_t{nodes()} * (ranks_per_node() - 1);
    const std::uint64_t outside = 2 * std::uint64_t{nodes() - 1};
    return loops() * execution().work.size() * heads() * (inside + outside);
  }

 private:
  enum Role : std::uint32_t { Scatter, Gather, Reduce, Broadcast, Network };
  static constexpr std::uint32_t role_count = 5;

  [[nodiscard]] std::optional<std::uint32_t> head_number(Rank rank) const {
    return head_numbers_[place_in_node(rank)];
  }
  [[nodiscard]] Rank head(std::uint32_t node, std::uint32_t number) const {
    return places().at(node, heads_of_node_[number].value());
  }
  /// Heads that the rank exchanges with: the others.
  [[nodiscard]] std::uint32_t other_heads(Rank rank) const {
    return heads() - (head_number(rank) ? 1 : 0);
  }
  [[nodiscard]] Standing standing(Rank rank) const {
    if (!head_number(rank)) {
      return Standing::NoHead;
    }
    return heads() > 1 ? Standing::Head : Standing::OnlyHead;
  }
  /// The `turn`-th of them: a head begins behind itself, others at their own place.
  [[nodiscard]] std::uint32_t head_at(Rank rank, std::uint32_t turn) const {
    const std::optional<std::uint32_t> own = head_number(rank);
    return ((own ? *own + 1 : place_in_node(rank)) + turn) % heads();
  }
  std::vector<Rank> heads_of_node_;
  std::vector<std::optional<std::uint32_t>> head_numbers_;  ///< by place in the node
};

Lane DirectProgram::lane(Rank rank, std::uint32_t lane) const {
  const Place place = place_of(lane);
  if (place.role == Network) {
    return network_lane(place.channel);
  }
  const DirectThreads copying = direct_threads(standing(rank));
  constexpr std::uint32_t synchronising = 2 * warp;
  std::uint32_t threads = static_cast<std::uint32_t>(execution().threads) - copying.scatter -
                          copying.gather - copying.broadcast - synchronising;
  switch (place.role) {
    case Scatter:
      threads = copying.scatter;
      break;
    case Gather:
      threads = copying.gather;
      break;
    case Broadcast:
      threads = copying.broadcast;
      break;
    default:
      break;
  }
  return lane_with(execution(), place.channel, lane, threads);
}

std::uint64_t DirectProgram::step_count(Rank rank, std::uint32_t lane) const {
  switch (place_of(lane).role) {
    case Scatter:
    case Gather:
      return loops() * other_heads(rank);
    case Network:
      return head_number(rank) && node_of(rank) == 0 ? loops() : 0;
    default:
      return head_number(rank) ? loops() : 0;
  }
}

Step DirectProgram::step(Rank rank, std::uint32_t lane, std::uint64_t index) const {
  const Place place = place_of(lane);
  const bool copies = place.role == Scatter || place.role == Gather;
  const std::uint64_t turns = copies ? other_heads(rank) : 1;
  const std::uint64_t loop = index / turns;
  const std::uint32_t number =
      copies ? head_at(rank, static_cast<std::uint32_t>(index % turns)) : head_number(rank).value();
  const Block data = block(place.channel, loop, number);
  if (place.role == Network) {
    return network_step(place.channel, loop, data.bytes);
  }
  const std::uint32_t others = places().others();
  Step step;
  step.bytes = data.bytes;
  step.continues = index % turns != 0;
  switch (place.role) {
    case Scatter:
      step.source = Span::contiguous(Buffer::Input, data.offset, data.bytes);
      step.sends = {number, 1};
      break;
    case Gather:
      step.receives = {number, 1};
      // The total contains the rank's own block, so it was sent.
      step.after = StepRef{lane_of({place.channel, Scatter}), index};
      step.destination = Span::contiguous(Buffer::Output, data.offset, data.bytes);
      break;
    case Reduce:
      step.receives = {1, others};
      step.source = Span::contiguous(Buffer::Input, data.offset, data.bytes);
      hand_over(step, rank, place, loop);
      break;
    default:
      step.sends = {1, others};
      step.destination = Span::contiguous(Buffer::Output, data.offset, data.bytes);
      take_total(step, rank, place, loop);
      break;
  }
  return step;
}

Connection DirectProgram::send_to(Rank rank, std::uint32_t lane, std::uint32_t slot) const {
  const Place place = place_of(lane);
  switch (place.role) {
    case Scatter: {
      const Rank to = head(node_of(rank), slot);
      return {to, lane_of({place.channel, Reduce}), 1 + places().number_of_other(to, rank)};
    }
    case Broadcast:
      return {places().other(rank, slot - 1), lane_of({place.channel, Gather}),
              head_number(rank).value()};
    default:
      return network_send(rank, place, slot);
  }
}

Connection DirectProgram::receive_from(Rank rank, std::uint32_t lane, std::uint32_t slot) const {
  const Place place = place_of(lane);
  if (place.role == Gather) {
    const Rank from = head(node_of(rank), slot);
    return {from, lane_of({place.channel, Broadcast}), 1 + places().number_of_other(from, rank)};
  }
  if (place.role == Reduce && slot > 0) {
    return {places().other(rank, slot - 1), lane_of({place.channel, Scatter}),
            head_number(rank).value()};
  }
  return network_receive(rank, place, slot);
}

class ChainProgram final : public CollNetLanes {
 public:
  ChainProgram(const Execution& execution, RankLayout layout,
               const std::vector<std::vector<Rank>>& chains)
      : CollNetLanes(execution, layout, {role_count, Up, Down, Network}, 1), chains_(chains) {
    for (const std::vector<Rank>& chain : chains_) {
      std::vector<std::uint32_t>& places = places_.emplace_back(chain.size());
      COLLSIM_ENSURE(chain.size() == ranks_per_node(), "a chain has every rank of a node");
      for (std::uint32_t place = 0; place < chain.size(); ++place) {
        places.at(chain[place].index()) = place;
      }
    }
  }

  [[nodiscard]] std::string_view algorithm() const override { return "collnet-chain"; }
  [[nodiscard]] Lane lane(Rank, std::uint32_t lane) const override {
    const Place place = place_of(lane);
    if (place.role == Network) {
      return network_lane(place.channel);
    }
    const int threads = moving_threads(Protocol::Simple, execution().threads / 2);
    return lane_with(execution(), place.channel, lane, static_cast<std::uint32_t>(threads));
  }
  [[nodiscard]] std::uint64_t step_count(Rank rank, std::uint32_t lane) const override {
    const Place place = place_of(lane);
    const bool runs =
        place.role != Network || (node_of(rank) == 0 && place_in_chain(rank, place.channel) == 0);
    return runs ? loops() : 0;
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override;
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override;
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override;
  [[nodiscard]] std::uint64_t transfer_count() const override {
    const std::uint64_t inside = 2 * std::uint64_t{nodes()} * (ranks_per_node() - 1);
    return loops() * execution().work.size() * (inside + 2 * std::uint64_t{nodes() - 1});
  }

 private:
  enum Role : std::uint32_t { Up, Down, Network };
  static constexpr std::uint32_t role_count = 3;

  [[nodiscard]] std::uint32_t place_in_chain(Rank rank, std::uint32_t channel) const {
    return places_.at(channel)[place_in_node(rank)];
  }
  [[nodiscard]] Rank at(Rank rank, std::uint32_t channel, std::uint32_t place) const {
    return places().at(node_of(rank), chains_.at(channel)[place].value());
  }
  /// The other end of a slot, where it is in the chain: slot 1 leads down, slot 0 up, which the head does not.
  [[nodiscard]] std::optional<Connection> in_chain(Rank rank, std::uint32_t lane,
                                                   std::uint32_t slot) const;

  std::vector<std::vector<Rank>> chains_;
  std::vector<std::vector<std::uint32_t>> places_;  ///< [channel][place in the node]
};

Step ChainProgram::step(Rank rank, std::uint32_t lane, std::uint64_t index) const {
  const Place place = place_of(lane);
  const Block data = block(place.channel, index, 0);
  if (place.role == Network) {
    return network_step(place.channel, index, data.bytes);
  }
  const std::uint32_t at = place_in_chain(rank, place.channel);
  const std::uint32_t below = at + 1 < ranks_per_node() ? 1 : 0;
  Step step;
  step.bytes = data.bytes;
  if (place.role == Up) {
    step.receives = {1, below};
    step.source = Span::contiguous(Buffer::Input, data.offset, data.bytes);
    if (at == 0) {
      hand_over(step, rank, place, index);
    } else {
      step.sends = {0, 1};
    }
    return step;
  }
  step.sends = {1, below};
  step.destination = Span::contiguous(Buffer::Output, data.offset, data.bytes);
  if (at == 0) {
    take_total(step, rank, place, index);
  } else {
    step.receives = {0, 1};
    // The total contains what the rank has sent up, so it was sent.
    step.after = StepRef{lane_of({place.channel, Up}), index};
  }
  return step;
}

std::optional<Connection> ChainProgram::in_chain(Rank rank, std::uint32_t lane,
                                                 std::uint32_t slot) const {
  const Place place = place_of(lane);
  if (place.role == Network) {
    return std::nullopt;
  }
  const std::uint32_t own = place_in_chain(rank, place.channel);
  if (slot == 1) {
    return Connection{at(rank, place.channel, own + 1), lane, 0};
  }
  return own == 0 ? std::nullopt
                  : std::optional(Connection{at(rank, place.channel, own - 1), lane, 1});
}

Connection ChainProgram::send_to(Rank rank, std::uint32_t lane, std::uint32_t slot) const {
  const std::optional<Connection> inside = in_chain(rank, lane, slot);
  return inside ? *inside : network_send(rank, place_of(lane), slot);
}

Connection ChainProgram::receive_from(Rank rank, std::uint32_t lane, std::uint32_t slot) const {
  const std::optional<Connection> inside = in_chain(rank, lane, slot);
  return inside ? *inside : network_receive(rank, place_of(lane), slot);
}

}  // namespace

std::unique_ptr<Program> build_collnet_direct_program(const Execution& execution, RankLayout layout,
                                                      std::span<const Rank> heads) {
  COLLSIM_ENSURE(execution.algorithm == Algorithm::CollNetDirect, "an execution of CollNetDirect");
  return std::make_unique<DirectProgram>(execution, layout,
                                         std::vector<Rank>(heads.begin(), heads.end()));
}

std::unique_ptr<Program> build_collnet_chain_program(const Execution& execution, RankLayout layout,
                                                     const std::vector<std::vector<Rank>>& chains) {
  COLLSIM_ENSURE(execution.algorithm == Algorithm::CollNetChain, "an execution of CollNetChain");
  return std::make_unique<ChainProgram>(execution, layout, chains);
}

}  // namespace collsim::nccl
