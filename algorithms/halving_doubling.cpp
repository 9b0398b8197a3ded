// Recursive halving, then doubling (Rabenseifner's algorithm): bandwidth-optimal like the ring,
// with the latency of 2·log2 n messages.
//
//   reduce_scatter  over distances 2^(k-1), …, 2, 1: each of a pair sends the half of its data that
//                   the other's side is to have, and adds what it gets to its own half
//   all_gather      doubling, as in recursive-doubling
//   all_reduce      reduce_scatter, then all_gather, on 2^k blocks
//
// Rank counts that are no power of two: see doubling.hpp. In reduce_scatter a participant then ends
// with its extra rank's block too, and sends it.
// Source: Rabenseifner 2004, "Optimization of Collective Reduction Operations"; Thakur,
// Rabenseifner and Gropp 2005, §4.4 and §4.5.

#include <utility>

#include "algorithms/doubling.hpp"
#include "algorithms/table.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// Where the data lie while they are halved.
struct HalvingPlaces {
  Place from;  ///< contributions (of participants with an extra rank: already at `sums`)
  Place sums;  ///< what has been added up so far
  Place to;    ///< the rank's own block, where the participant stands for no other rank
};

class RecursiveHalving final : public PairExchange {
 public:
  RecursiveHalving(std::uint32_t ranks, BlockOwners owners, const HalvingPlaces& places)
      : PairExchange(ranks), owners_(owners), places_(places) {}

  [[nodiscard]] std::uint32_t blocks() const override {
    return block_count(participants(), owners_);
  }
  [[nodiscard]] std::uint32_t scratch_blocks() const override {
    return places_.sums.buffer == Buffer::Scratch ? blocks() : 0;
  }

  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t index,
                          const Part& part) const override {
    const auto slot = static_cast<std::uint32_t>(index / 2);
    const std::uint32_t bit = distance_bit(slot);
    const std::uint32_t own_half = participants().number(rank) >> bit << bit;
    const Place so_far = slot == 0 && !participants().has_extra(rank) ? places_.from : places_.sums;
    Step step;
    if (index % 2 == 0) {
      step.source = blocks_of(participants(), owners_, part, so_far, own_half ^ (1U << bit), bit);
      step.sends = {slot, 1};
    } else {
      const bool last = bit == 0 && !stands_for_two(rank);
      step.receives = {slot, 1};
      step.source = blocks_of(participants(), owners_, part, so_far, own_half, bit);
      step.destination =
          blocks_of(participants(), owners_, part, last ? places_.to : places_.sums, own_half, bit);
    }
    step.bytes = step.source->total;
    return step;
  }

 private:
  /// The farthest partner comes first.
  [[nodiscard]] std::uint32_t distance_bit(std::uint32_t round) const override {
    return participants().rounds() - 1 - round;
  }
  [[nodiscard]] bool stands_for_two(Rank rank) const {
    return owners_ == BlockOwners::Ranks && participants().has_extra(rank);
  }

  BlockOwners owners_;
  HalvingPlaces places_;
};

/// The end of reduce_scatter: participants that stand for two ranks keep their own block and send
/// the other one.
class HandOutExtraBlocks final : public ExtraRanks {
 public:
  HandOutExtraBlocks(std::uint32_t ranks, Place from, Place to)
      : ExtraRanks(ranks, ranks, Direction::ToExtra), from_(from), to_(to) {}

  [[nodiscard]] std::uint32_t scratch_blocks() const override {
    return from_.buffer == Buffer::Scratch ? blocks() : 0;
  }
  [[nodiscard]] std::uint64_t steps(Rank rank, std::uint32_t lane) const override {
    return sends(rank) ? 2 : ExtraRanks::steps(rank, lane);
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t index,
                          const Part& part) const override {
    Step step;
    step.bytes = part.bytes_of(rank.value());
    if (receives(rank)) {
      step.receives = {0, 1};
      step.destination = part.blocks(to_, rank.value());
    } else if (index == 0) {
      step.source = part.blocks(from_, PowerOfTwo::partner(rank).value());
      step.sends = {0, 1};
    } else {
      step.source = part.blocks(from_, rank.value());
      step.destination = part.blocks(to_, rank.value());
    }
    return step;
  }

 private:
  Place from_;
  Place to_;
};

std::unique_ptr<Pattern> reduce_scatter(std::uint32_t ranks) {
  const Place input = all_blocks(Buffer::Input);
  const Place sums = all_blocks(Buffer::Scratch);
  const Place result = own_block(Buffer::Output);
  auto halving = std::make_unique<RecursiveHalving>(ranks, BlockOwners::Ranks,
                                                    HalvingPlaces{input, sums, result});
  if (PowerOfTwo(ranks).extra() == 0) {
    return halving;
  }
  return then(then(extra_ranks_contribute(ranks, ranks, input, sums), std::move(halving)),
              std::make_unique<HandOutExtraBlocks>(ranks, sums, result));
}

std::unique_ptr<Pattern> all_reduce(std::uint32_t ranks) {
  const Place input = all_blocks(Buffer::Input);
  const Place output = all_blocks(Buffer::Output);
  const PowerOfTwo group(ranks);
  auto pattern = then(std::make_unique<RecursiveHalving>(ranks, BlockOwners::Participants,
                                                         HalvingPlaces{input, output, output}),
                      doubling_all_gather(ranks, BlockOwners::Participants, output));
  if (group.extra() == 0) {
    return pattern;
  }
  return then(then(extra_ranks_contribute(ranks, group.size(), input, output), std::move(pattern)),
              extra_ranks_get_all(ranks, group.size(), output));
}

std::unique_ptr<Program> build(const ProgramRequest& request) {
  const CollectiveCall& call = request.call;
  std::unique_ptr<Pattern> pattern;
  switch (call.kind) {
    case CollectiveKind::AllReduce:
      pattern = all_reduce(call.ranks);
      break;
    case CollectiveKind::ReduceScatter:
      pattern = reduce_scatter(call.ranks);
      break;
    case CollectiveKind::AllGather:
      pattern = complete_doubling_all_gather(call.ranks);
      break;
    default:
      COLLSIM_ENSURE(false, "halving-doubling does not implement this collective");
  }
  return partition("halving-doubling", call, std::move(pattern), request.channels, request.chunks);
}

}  // namespace

Algorithm halving_doubling() {
  using enum CollectiveKind;
  return {"halving-doubling",
          "halves over distances …, 2, 1, then back: the ring's bandwidth at logarithmic latency",
          {AllReduce, ReduceScatter, AllGather},
          no_obstacle,
          build};
}

}  // namespace collsim
