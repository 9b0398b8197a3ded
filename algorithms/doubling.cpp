#include "algorithms/doubling.hpp"

#include <utility>

namespace collsim {

namespace {

class DoublingAllGather final : public Pattern {
 public:
  DoublingAllGather(std::uint32_t ranks, BlockOwners owners, Place place)
      : group_(ranks), owners_(owners), place_(place) {}

  [[nodiscard]] std::uint32_t ranks() const override { return group_.ranks(); }
  [[nodiscard]] std::uint32_t blocks() const override {
    return owners_ == BlockOwners::Ranks ? group_.ranks() : group_.size();
  }
  [[nodiscard]] std::uint32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] std::uint64_t steps(Rank rank, std::uint32_t) const override {
    return group_.is_extra(rank) ? 0 : 2 * group_.rounds();
  }
  [[nodiscard]] std::uint64_t messages() const override {
    return std::uint64_t{group_.size()} * group_.rounds();
  }

  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t index,
                          const Part& part) const override {
    const auto round = static_cast<std::uint32_t>(index / 2);
    const std::uint32_t own_group = group_.number(rank) >> round << round;
    Step step;
    if (index % 2 == 0) {
      step.source = blocks_of(part, own_group, round);
      step.bytes = step.source->total;
      step.sends = {round, 1};
    } else {
      step.receives = {round, 1};
      step.destination = blocks_of(part, own_group ^ (1U << round), round);
      step.bytes = step.destination->total;
    }
    return step;
  }

  [[nodiscard]] std::uint32_t send_slots(Rank rank, std::uint32_t) const override {
    return group_.is_extra(rank) ? 0 : group_.rounds();
  }
  [[nodiscard]] std::uint32_t receive_slots(Rank rank, std::uint32_t lane) const override {
    return send_slots(rank, lane);
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t, std::uint32_t slot) const override {
    return {group_.rank(group_.number(rank) ^ (1U << slot)), 0, slot};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    return send_to(rank, lane, slot);
  }

 private:
  /// What the 2^round participants from `first` on stand for.
  [[nodiscard]] Span blocks_of(const Part& part, std::uint32_t first, std::uint32_t round) const {
    const std::uint32_t end = first + (1U << round);
    if (owners_ == BlockOwners::Participants) {
      return part.blocks(place_, first, end - first);
    }
    const std::uint32_t begin = group_.ranks_below(first);
    return part.blocks(place_, begin, group_.ranks_below(end) - begin);
  }

  PowerOfTwo group_;
  BlockOwners owners_;
  Place place_;
};

/// A message between each extra rank and its partner.
class ExtraRanks : public Pattern {
 public:
  enum class Direction : std::uint8_t { FromExtra, ToExtra };
  ExtraRanks(std::uint32_t ranks, std::uint32_t blocks, Direction direction)
      : group_(ranks), blocks_(blocks), direction_(direction) {}

  [[nodiscard]] std::uint32_t ranks() const override { return group_.ranks(); }
  [[nodiscard]] std::uint32_t blocks() const override { return blocks_; }
  [[nodiscard]] std::uint32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] std::uint64_t steps(Rank rank, std::uint32_t) const override {
    return sends(rank) || receives(rank) ? 1 : 0;
  }
  [[nodiscard]] std::uint64_t messages() const override { return group_.extra(); }
  [[nodiscard]] std::uint32_t send_slots(Rank rank, std::uint32_t) const override {
    return sends(rank) ? 1 : 0;
  }
  [[nodiscard]] std::uint32_t receive_slots(Rank rank, std::uint32_t) const override {
    return receives(rank) ? 1 : 0;
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t, std::uint32_t) const override {
    return {PowerOfTwo::partner(rank), 0, 0};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t, std::uint32_t) const override {
    return {PowerOfTwo::partner(rank), 0, 0};
  }

 protected:
  [[nodiscard]] bool sends(Rank rank) const {
    return direction_ == Direction::FromExtra ? group_.is_extra(rank) : group_.has_extra(rank);
  }
  [[nodiscard]] bool receives(Rank rank) const {
    return direction_ == Direction::FromExtra ? group_.has_extra(rank) : group_.is_extra(rank);
  }

 private:
  PowerOfTwo group_;
  std::uint32_t blocks_;
  Direction direction_;
};

class ExtraRanksContribute final : public ExtraRanks {
 public:
  ExtraRanksContribute(std::uint32_t ranks, std::uint32_t blocks, Place from, Place to)
      : ExtraRanks(ranks, blocks, Direction::FromExtra), from_(from), to_(to) {}

  [[nodiscard]] std::uint32_t scratch_blocks() const override {
    return to_.buffer == Buffer::Scratch ? blocks() : 0;
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t,
                          const Part& part) const override {
    Step step;
    step.bytes = part.bytes_of(0, blocks());
    step.source = part.blocks(from_, 0, blocks());
    if (sends(rank)) {
      step.sends = {0, 1};
    } else {
      step.receives = {0, 1};
      step.destination = part.blocks(to_, 0, blocks());
    }
    return step;
  }

 private:
  Place from_;
  Place to_;
};

class ExtraRanksGetAll final : public ExtraRanks {
 public:
  ExtraRanksGetAll(std::uint32_t ranks, std::uint32_t blocks, Place place)
      : ExtraRanks(ranks, blocks, Direction::ToExtra), place_(place) {}

  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t,
                          const Part& part) const override {
    const Span all = part.blocks(place_, 0, blocks());
    Step step;
    step.bytes = all.total;
    if (sends(rank)) {
      step.source = all;
      step.sends = {0, 1};
    } else {
      step.receives = {0, 1};
      step.destination = all;
    }
    return step;
  }

 private:
  Place place_;
};

/// Participants copy their own block to the output and get their extra rank's.
class CollectOwnBlocks final : public ExtraRanks {
 public:
  explicit CollectOwnBlocks(std::uint32_t ranks) : ExtraRanks(ranks, ranks, Direction::FromExtra) {}

  [[nodiscard]] std::uint64_t steps(Rank rank, std::uint32_t) const override {
    return receives(rank) ? 2 : 1;
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t index,
                          const Part& part) const override {
    const Place output = all_blocks(Buffer::Output);
    Step step;
    step.bytes = part.bytes_of(rank.value());
    if (index == 1) {
      step.receives = {0, 1};
      step.destination = part.blocks(output, PowerOfTwo::partner(rank).value());
      return step;
    }
    step.source = part.blocks(own_block(Buffer::Input), rank.value());
    if (sends(rank)) {
      step.sends = {0, 1};
    } else {
      step.destination = part.blocks(output, rank.value());
    }
    return step;
  }
};

}  // namespace

std::unique_ptr<Pattern> doubling_all_gather(std::uint32_t ranks, BlockOwners owners, Place place) {
  return std::make_unique<DoublingAllGather>(ranks, owners, place);
}
std::unique_ptr<Pattern> extra_ranks_contribute(std::uint32_t ranks, std::uint32_t blocks,
                                                Place from, Place to) {
  return std::make_unique<ExtraRanksContribute>(ranks, blocks, from, to);
}
std::unique_ptr<Pattern> extra_ranks_get_all(std::uint32_t ranks, std::uint32_t blocks,
                                             Place place) {
  return std::make_unique<ExtraRanksGetAll>(ranks, blocks, place);
}

std::unique_ptr<Pattern> complete_doubling_all_gather(std::uint32_t ranks) {
  const Place output = all_blocks(Buffer::Output);
  auto pattern = then(std::make_unique<CollectOwnBlocks>(ranks),
                      doubling_all_gather(ranks, BlockOwners::Ranks, output));
  return then(std::move(pattern), extra_ranks_get_all(ranks, ranks, output));
}

}  // namespace collsim
