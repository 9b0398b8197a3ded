// All-to-all in two steps: inside the node, blocks go to the member that owns the receiver's column;
// between the nodes, along that column to the receiver's node. Rounds are pairwise: in round d,
// send to the d-th next and receive from the d-th before.

#include <algorithm>

#include "algorithms/hierarchical_patterns.hpp"

namespace collsim {

ExchangeScratch::ExchangeScratch(const NodeLayout& layout) {
  std::uint32_t most_collected = 0;
  for (std::uint32_t node = 0; node < layout.nodes(); ++node) {
    const std::uint32_t members = layout.members(node);
    for (std::uint32_t local = 0; local < members; ++local) {
      most_collected = std::max(most_collected, layout.run(node, local).count * members);
    }
  }
  ready = 0;
  collected = layout.ranks();
  received = collected + most_collected;
  blocks = received + layout.ranks();
}

namespace {

constexpr Place scratch = all_blocks(Buffer::Scratch);

/// What both phases share. Lane 0: a local copy, then send and receive in turns; other lanes have no
/// copy. Slot s belongs to round s + 1.
class Exchange : public Pattern {
 public:
  explicit Exchange(const NodeLayout& layout) : layout_(layout), scratch_(layout) {}

  [[nodiscard]] std::uint32_t ranks() const override { return layout_.ranks(); }
  [[nodiscard]] std::uint32_t blocks() const override { return layout_.blocks(); }
  [[nodiscard]] std::uint32_t scratch_blocks() const override { return scratch_.blocks; }
  [[nodiscard]] std::uint64_t steps(Rank rank, std::uint32_t lane) const override {
    return copies(lane) + 2 * std::uint64_t{send_slots(rank, lane)};
  }
  [[nodiscard]] std::uint64_t messages() const override {
    std::uint64_t count = 0;
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      for (std::uint32_t lane = 0; lane < lanes(Rank(rank)); ++lane) {
        count += send_slots(Rank(rank), lane);
      }
    }
    return count;
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index,
                          const Part& part) const override {
    Step step;
    if (index < copies(lane)) {
      step.source = outgoing(rank, lane, 0, part);
      step.destination = incoming(rank, lane, 0, part);
    } else {
      const std::uint64_t turn = index - copies(lane);
      const auto slot = static_cast<std::uint32_t>(turn / 2);
      if (turn % 2 == 0) {
        step.source = outgoing(rank, lane, slot + 1, part);
        step.sends = SlotRange{slot, 1};
      } else {
        step.destination = incoming(rank, lane, slot + 1, part);
        step.receives = SlotRange{slot, 1};
      }
    }
    step.bytes = step.source ? step.source->total : step.destination->total;
    return step;
  }
  [[nodiscard]] std::uint32_t receive_slots(Rank rank, std::uint32_t lane) const override {
    return send_slots(rank, lane);
  }

 protected:
  [[nodiscard]] const NodeLayout& layout() const { return layout_; }
  [[nodiscard]] const ExchangeScratch& places() const { return scratch_; }
  /// The blocks sent in a round; in round 0 to the rank itself.
  [[nodiscard]] virtual Span outgoing(Rank rank, std::uint32_t lane, std::uint32_t round,
                                      const Part& part) const = 0;
  [[nodiscard]] virtual Span incoming(Rank rank, std::uint32_t lane, std::uint32_t round,
                                      const Part& part) const = 0;

 private:
  static std::uint64_t copies(std::uint32_t lane) { return lane == 0 ? 1 : 0; }

  NodeLayout layout_;
  ExchangeScratch scratch_;
};

class ExchangeInNodes final : public Exchange {
 public:
  using Exchange::Exchange;

  [[nodiscard]] std::uint32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] std::uint32_t send_slots(Rank rank, std::uint32_t /*lane*/) const override {
    return members(rank) - 1;
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t /*lane*/,
                                   std::uint32_t slot) const override {
    return {layout().member(layout().node(rank), next(rank, slot + 1)), 0, slot};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t /*lane*/,
                                        std::uint32_t slot) const override {
    return {layout().member(layout().node(rank), before(rank, slot + 1)), 0, slot};
  }

 private:
  [[nodiscard]] std::uint32_t members(Rank rank) const {
    return layout().members(layout().node(rank));
  }
  [[nodiscard]] std::uint32_t next(Rank rank, std::uint32_t round) const {
    return (layout().local(rank) + round) % members(rank);
  }
  [[nodiscard]] std::uint32_t before(Rank rank, std::uint32_t round) const {
    return (layout().local(rank) + members(rank) - round) % members(rank);
  }
  [[nodiscard]] Span outgoing(Rank rank, std::uint32_t /*lane*/, std::uint32_t round,
                              const Part& part) const override {
    const BlockRange run = layout().run(layout().node(rank), next(rank, round));
    return part.blocks(scratch, places().ready + run.first, run.count);
  }
  [[nodiscard]] Span incoming(Rank rank, std::uint32_t /*lane*/, std::uint32_t round,
                              const Part& part) const override {
    const BlockRange run = layout().run(layout().node(rank), layout().local(rank));
    const std::uint32_t limit = places().collected + run.count * members(rank);
    return part.strided_blocks(scratch, places().collected + before(rank, round), 1, members(rank),
                               limit);
  }
};

class ExchangeAlongColumns final : public Exchange {
 public:
  using Exchange::Exchange;

  [[nodiscard]] std::uint32_t lanes(Rank rank) const override { return layout().columns_of(rank); }
  [[nodiscard]] std::uint32_t send_slots(Rank /*rank*/, std::uint32_t /*lane*/) const override {
    return layout().nodes() - 1;
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override {
    return at(rank, lane, next(rank, slot + 1), slot);
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    return at(rank, lane, before(rank, slot + 1), slot);
  }

 private:
  [[nodiscard]] std::uint32_t next(Rank rank, std::uint32_t round) const {
    return (layout().node(rank) + round) % layout().nodes();
  }
  [[nodiscard]] std::uint32_t before(Rank rank, std::uint32_t round) const {
    return (layout().node(rank) + layout().nodes() - round) % layout().nodes();
  }
  [[nodiscard]] std::uint32_t column(Rank rank, std::uint32_t lane) const {
    return layout().first_column(rank) + lane;
  }
  [[nodiscard]] Connection at(Rank rank, std::uint32_t lane, std::uint32_t node,
                              std::uint32_t slot) const {
    const Rank peer = layout().owner(node, column(rank, lane));
    return {peer, column(rank, lane) - layout().first_column(peer), slot};
  }
  /// All that this node's members have for the receiver in that node and column, if there is one.
  [[nodiscard]] Span outgoing(Rank rank, std::uint32_t lane, std::uint32_t round,
                              const Part& part) const override {
    const std::uint32_t node = layout().node(rank);
    const BlockRange receiver = layout().piece(column(rank, lane), next(rank, round));
    const std::uint32_t run_begin = layout().run(node, layout().local(rank)).first;
    const std::uint32_t members = layout().members(node);
    return part.blocks(scratch, places().collected + (receiver.first - run_begin) * members,
                       receiver.count * members);
  }
  [[nodiscard]] Span incoming(Rank rank, std::uint32_t lane, std::uint32_t round,
                              const Part& part) const override {
    const std::uint32_t sender = before(rank, round);
    // Columns after the first bring nothing for this rank.
    const std::uint32_t count = lane == 0 ? layout().members(sender) : 0;
    return part.blocks(scratch, places().received + layout().node_begin(sender), count);
  }
};

}  // namespace

std::unique_ptr<Pattern> exchange_in_nodes(const NodeLayout& layout) {
  return std::make_unique<ExchangeInNodes>(layout);
}

std::unique_ptr<Pattern> exchange_along_columns(const NodeLayout& layout) {
  return std::make_unique<ExchangeAlongColumns>(layout);
}

}  // namespace collsim
