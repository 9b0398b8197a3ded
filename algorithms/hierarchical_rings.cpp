// Rings inside and between nodes. A ring of m places takes 2m-1 steps for an all-reduce: in step k,
// place p handles piece p-1-k (modulo m). Steps before m-1 add a contribution to a partial sum and
// pass it on, step m-1 completes the place's own piece, later ones pass on complete pieces. A
// reduce-scatter is the first m steps, an all-gather the last m.

#include <utility>

#include "algorithms/hierarchical_patterns.hpp"

namespace collsim {

namespace {

/// The ring that a lane takes part in.
struct RingPlace {
  std::uint32_t size = 1;
  std::uint32_t position = 0;
};

class Rings : public Pattern {
 public:
  Rings(NodeLayout layout, RingWork work, Place contributions, Place results)
      : layout_(std::move(layout)), work_(work), contributions_(contributions), results_(results) {}

  [[nodiscard]] std::uint32_t ranks() const override { return layout_.ranks(); }
  [[nodiscard]] std::uint32_t blocks() const override { return layout_.blocks(); }
  [[nodiscard]] std::uint32_t scratch_blocks() const override {
    const bool uses_scratch =
        contributions_.buffer == Buffer::Scratch || results_.buffer == Buffer::Scratch;
    return uses_scratch ? layout_.blocks() : 0;
  }
  [[nodiscard]] std::uint64_t steps(Rank rank, std::uint32_t lane) const override {
    const RingPlace ring = place(rank, lane);
    if (ring.size == 1 && contributions_ == results_) {
      return 0;
    }
    return last_step(ring) - first_step(ring) + 1;
  }
  [[nodiscard]] std::uint64_t messages() const override {
    std::uint64_t count = 0;
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      for (std::uint32_t lane = 0; lane < lanes(Rank(rank)); ++lane) {
        const RingPlace ring = place(Rank(rank), lane);
        count += last_step(ring) - first_step(ring);
      }
    }
    return count;
  }

  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index,
                          const Part& part) const override {
    const RingPlace ring = place(rank, lane);
    const std::uint64_t k = first_step(ring) + index;
    const std::uint64_t completes = ring.size - 1;
    const bool receives = k > first_step(ring);
    const BlockRange piece =
        piece_of(rank, lane,
                 static_cast<std::uint32_t>((ring.position + 2 * std::uint64_t{ring.size} - 1 - k) %
                                            ring.size));
    Step step;
    step.bytes = part.bytes_of(piece.first, piece.count);
    if (receives) {
      step.receives = SlotRange{0, 1};
    }
    if (k < last_step(ring)) {
      step.sends = SlotRange{0, 1};
    }
    if (k < completes || (k == completes && work_ != RingWork::AllGather)) {
      step.source = span(part, contributions_, piece);
    } else if (!receives) {
      step.source = span(part, results_, piece);
    }
    if (k > completes || (k == completes && work_ != RingWork::AllGather)) {
      step.destination = span(part, results_, piece);
    }
    return step;
  }

  [[nodiscard]] std::uint32_t send_slots(Rank rank, std::uint32_t lane) const override {
    return place(rank, lane).size > 1 ? 1 : 0;
  }
  [[nodiscard]] std::uint32_t receive_slots(Rank rank, std::uint32_t lane) const override {
    return send_slots(rank, lane);
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t /*slot*/) const override {
    const RingPlace ring = place(rank, lane);
    return at(rank, lane, (ring.position + 1) % ring.size);
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t /*slot*/) const override {
    const RingPlace ring = place(rank, lane);
    return at(rank, lane, (ring.position + ring.size - 1) % ring.size);
  }

 protected:
  [[nodiscard]] const NodeLayout& layout() const { return layout_; }
  [[nodiscard]] virtual RingPlace place(Rank rank, std::uint32_t lane) const = 0;
  /// Who stands at a position of the ring of this rank's lane.
  [[nodiscard]] virtual Connection at(Rank rank, std::uint32_t lane,
                                      std::uint32_t position) const = 0;
  /// The piece that belongs to a position of the ring.
  [[nodiscard]] virtual BlockRange piece_of(Rank rank, std::uint32_t lane,
                                            std::uint32_t position) const = 0;

 private:
  [[nodiscard]] std::uint64_t first_step(RingPlace ring) const {
    return work_ == RingWork::AllGather ? ring.size - 1 : 0;
  }
  [[nodiscard]] std::uint64_t last_step(RingPlace ring) const {
    const std::uint64_t size = ring.size;
    return work_ == RingWork::ReduceScatter ? size - 1 : 2 * size - 2;
  }
  /// A buffer of one block has no place for an empty piece; scratch has.
  [[nodiscard]] static Span span(const Part& part, Place at, BlockRange piece) {
    if (piece.count == 0) {
      return part.blocks(all_blocks(Buffer::Scratch), piece.first, 0);
    }
    return part.blocks(at, piece.first, piece.count);
  }

  NodeLayout layout_;
  RingWork work_;
  Place contributions_;
  Place results_;
};

class RingInNodes final : public Rings {
 public:
  using Rings::Rings;
  [[nodiscard]] std::uint32_t lanes(Rank) const override { return 1; }

 private:
  [[nodiscard]] RingPlace place(Rank rank, std::uint32_t /*lane*/) const override {
    return {layout().members(layout().node(rank)), layout().local(rank)};
  }
  [[nodiscard]] Connection at(Rank rank, std::uint32_t /*lane*/,
                              std::uint32_t position) const override {
    return {layout().member(layout().node(rank), position), 0, 0};
  }
  [[nodiscard]] BlockRange piece_of(Rank rank, std::uint32_t /*lane*/,
                                    std::uint32_t position) const override {
    return layout().run(layout().node(rank), position);
  }
};

class RingAlongColumns final : public Rings {
 public:
  using Rings::Rings;
  [[nodiscard]] std::uint32_t lanes(Rank rank) const override { return layout().columns_of(rank); }

 private:
  [[nodiscard]] std::uint32_t column(Rank rank, std::uint32_t lane) const {
    return layout().first_column(rank) + lane;
  }
  [[nodiscard]] RingPlace place(Rank rank, std::uint32_t /*lane*/) const override {
    return {layout().nodes(), layout().node(rank)};
  }
  [[nodiscard]] Connection at(Rank rank, std::uint32_t lane,
                              std::uint32_t position) const override {
    const Rank peer = layout().owner(position, column(rank, lane));
    return {peer, column(rank, lane) - layout().first_column(peer), 0};
  }
  [[nodiscard]] BlockRange piece_of(Rank rank, std::uint32_t lane,
                                    std::uint32_t position) const override {
    return layout().piece(column(rank, lane), position);
  }
};

}  // namespace

std::unique_ptr<Pattern> ring_in_nodes(const NodeLayout& layout, RingWork work, Place contributions,
                                       Place results) {
  return std::make_unique<RingInNodes>(layout, work, contributions, results);
}

std::unique_ptr<Pattern> ring_along_columns(const NodeLayout& layout, RingWork work,
                                            Place contributions, Place results) {
  return std::make_unique<RingAlongColumns>(layout, work, contributions, results);
}

}  // namespace collsim
