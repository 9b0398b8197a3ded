#include "algorithms/doubling.hpp"

#include <utility>

namespace collsim {

namespace {

class DoublingAllGather final : public PairExchange {
 public:
  DoublingAllGather(std::uint32_t ranks, BlockOwners owners, Place place)
      : PairExchange(ranks), owners_(owners), place_(place) {}

  [[nodiscard]] std::uint32_t blocks() const override {
    return block_count(participants(), owners_);
  }

  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t index,
                          const Part& part) const override {
    const auto round = static_cast<std::uint32_t>(index / 2);
    const std::uint32_t own_group = participants().number(rank) >> round << round;
    Step step;
    if (index % 2 == 0) {
      step.source = blocks_of(participants(), owners_, part, place_, own_group, round);
      step.bytes = step.source->total;
      step.sends = {round, 1};
    } else {
      step.receives = {round, 1};
      step.destination =
          blocks_of(participants(), owners_, part, place_, own_group ^ (1U << round), round);
      step.bytes = step.destination->total;
    }
    return step;
  }

 private:
  BlockOwners owners_;
  Place place_;
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

std::uint32_t block_count(const PowerOfTwo& group, BlockOwners owners) {
  return owners == BlockOwners::Ranks ? group.ranks() : group.size();
}

Span blocks_of(const PowerOfTwo& group, BlockOwners owners, const Part& part, Place place,
               std::uint32_t first, std::uint32_t bit) {
  const std::uint32_t end = first + (1U << bit);
  if (owners == BlockOwners::Participants) {
    return part.blocks(place, first, end - first);
  }
  const std::uint32_t begin = group.ranks_below(first);
  return part.blocks(place, begin, group.ranks_below(end) - begin);
}

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
