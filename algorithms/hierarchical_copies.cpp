// The local copies of hierarchical algorithms: they cost nothing, but bring blocks together that
// travel in one message.

#include "algorithms/hierarchical_patterns.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// A pattern without messages: one lane.
class LocalPattern : public Pattern {
 public:
  explicit LocalPattern(std::uint32_t ranks) : ranks_(ranks) {}
  [[nodiscard]] std::uint32_t ranks() const override { return ranks_; }
  [[nodiscard]] std::uint32_t blocks() const override { return ranks_; }
  [[nodiscard]] std::uint32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] std::uint64_t messages() const override { return 0; }
  [[nodiscard]] std::uint32_t send_slots(Rank, std::uint32_t) const override { return 0; }
  [[nodiscard]] std::uint32_t receive_slots(Rank, std::uint32_t) const override { return 0; }
  [[nodiscard]] Connection send_to(Rank, std::uint32_t, std::uint32_t) const override {
    COLLSIM_ENSURE(false, "local copies have no connections");
  }
  [[nodiscard]] Connection receive_from(Rank, std::uint32_t, std::uint32_t) const override {
    COLLSIM_ENSURE(false, "local copies have no connections");
  }

 private:
  std::uint32_t ranks_;
};

class Reorder final : public LocalPattern {
 public:
  Reorder(std::span<const Rank> order, const Reordering& reordering)
      : LocalPattern(static_cast<std::uint32_t>(order.size())), reordering_(reordering) {
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      append(i, order[i].value());
    }
  }

  [[nodiscard]] std::uint32_t scratch_blocks() const override { return reordering_.scratch_blocks; }
  [[nodiscard]] std::uint64_t steps(Rank, std::uint32_t) const override { return series_.size(); }
  [[nodiscard]] Step step(Rank /*rank*/, std::uint32_t /*lane*/, std::uint64_t index,
                          const Part& part) const override {
    const Series& series = series_[index];
    const Span in_scratch = part.blocks(all_blocks(Buffer::Scratch),
                                        reordering_.scratch_begin + series.begin, series.count);
    const Span by_rank =
        series.distance == 1
            ? part.blocks(reordering_.place, series.first_rank, series.count)
            : part.strided_blocks(reordering_.place, series.first_rank, 1, series.distance,
                                  series.first_rank + (series.count - 1) * series.distance + 1);
    const bool into_scratch = reordering_.direction == Reordering::Direction::IntoScratch;
    Step step;
    step.bytes = in_scratch.total;
    step.source = into_scratch ? by_rank : in_scratch;
    step.destination = into_scratch ? in_scratch : by_rank;
    return step;
  }

 private:
  /// `count` blocks in scratch, of ranks at equal distances.
  struct Series {
    std::uint32_t begin = 0;
    std::uint32_t count = 1;
    std::uint32_t first_rank = 0;
    std::uint32_t distance = 1;
  };

  void append(std::uint32_t position, std::uint32_t rank) {
    if (!series_.empty()) {
      Series& last = series_.back();
      const std::uint32_t last_rank = last.first_rank + (last.count - 1) * last.distance;
      const bool continues =
          rank > last_rank && (last.count == 1 || rank - last_rank == last.distance);
      if (continues) {
        last.distance = rank - last_rank;
        ++last.count;
        return;
      }
    }
    series_.push_back(Series{position, 1, rank, 1});
  }

  Reordering reordering_;
  std::vector<Series> series_;
};

class CopyOwnBlock final : public LocalPattern {
 public:
  explicit CopyOwnBlock(const NodeLayout& layout)
      : LocalPattern(layout.ranks()), position_(layout.ranks()) {
    const std::span<const Rank> order = layout.by_position();
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      position_[order[i].index()] = i;
    }
  }

  [[nodiscard]] std::uint32_t scratch_blocks() const override { return ranks(); }
  [[nodiscard]] std::uint64_t steps(Rank, std::uint32_t) const override { return 1; }
  [[nodiscard]] Step step(Rank rank, std::uint32_t /*lane*/, std::uint64_t /*index*/,
                          const Part& part) const override {
    Step step;
    step.bytes = part.bytes_of(rank.value());
    step.source = part.blocks(own_block(Buffer::Input), rank.value());
    step.destination = part.blocks(all_blocks(Buffer::Scratch), position_[rank.index()]);
    return step;
  }

 private:
  std::vector<std::uint32_t> position_;  ///< by rank
};

}  // namespace

std::unique_ptr<Pattern> reorder_blocks(std::span<const Rank> order, const Reordering& reordering) {
  return std::make_unique<Reorder>(order, reordering);
}

std::unique_ptr<Pattern> copy_own_block(const NodeLayout& layout) {
  return std::make_unique<CopyOwnBlock>(layout);
}

}  // namespace collsim
