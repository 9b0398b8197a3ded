#pragma once

// What recursive doubling and halving-doubling share: pairs of ranks exchange data over distances
// that are powers of two. Where n is none, 2^k ranks take part, and each of the r = n - 2^k extra
// ranks leaves its part to a neighbour: of ranks 0 … 2r-1 the even ones are extra, and each has the
// odd one after it as partner. Then the blocks that any aligned group of participants stands for,
// its partners' included, are a range.
//
// Source: Thakur, Rabenseifner and Gropp 2005, "Optimization of Collective Communication Operations
// in MPICH", §4 (recursive doubling, recursive halving, and powers of two).

#include <bit>
#include <cstdint>
#include <memory>

#include "algorithms/pattern.hpp"

namespace collsim {

/// Who takes part, by number 0 … 2^k - 1.
class PowerOfTwo {
 public:
  explicit PowerOfTwo(std::uint32_t ranks)
      : ranks_(ranks), size_(std::bit_floor(ranks)), extra_(ranks - size_) {}

  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] std::uint32_t extra() const { return extra_; }
  /// log2 of the size.
  [[nodiscard]] std::uint32_t rounds() const {
    return static_cast<std::uint32_t>(std::countr_zero(size_));
  }
  [[nodiscard]] bool is_extra(Rank rank) const {
    return rank.value() < 2 * extra_ && rank.value() % 2 == 0;
  }
  [[nodiscard]] bool has_extra(Rank rank) const {
    return rank.value() < 2 * extra_ && rank.value() % 2 == 1;
  }
  /// The other one of an extra rank and its partner.
  [[nodiscard]] static Rank partner(Rank rank) { return Rank(rank.value() ^ 1U); }
  /// Requires: not extra.
  [[nodiscard]] std::uint32_t number(Rank rank) const {
    return rank.value() < 2 * extra_ ? rank.value() / 2 : rank.value() - extra_;
  }
  [[nodiscard]] Rank rank(std::uint32_t number) const {
    return Rank(number < extra_ ? 2 * number + 1 : number + extra_);
  }
  /// Ranks, extra ones included, that participants below this number stand for.
  [[nodiscard]] std::uint32_t ranks_below(std::uint32_t number) const {
    return number + (number < extra_ ? number : extra_);
  }

 private:
  std::uint32_t ranks_;
  std::uint32_t size_;
  std::uint32_t extra_;
};

/// Whom blocks belong to.
enum class BlockOwners : std::uint8_t {
  Ranks,         ///< block r to rank r, for all n ranks
  Participants,  ///< block v to participant v: 2^k blocks
};

/// Blocks that the data fall into.
[[nodiscard]] std::uint32_t block_count(const PowerOfTwo& group, BlockOwners owners);
/// The blocks of the 2^bit participants from number `first` on. Requires: first a multiple of 2^bit.
[[nodiscard]] Span blocks_of(const PowerOfTwo& group, BlockOwners owners, const Part& part,
                             Place place, std::uint32_t first, std::uint32_t bit);

/// In every round, pairs of participants send a message each way: a send and a receive in one lane,
/// a slot a round. Extra ranks do nothing.
class PairExchange : public Pattern {
 public:
  explicit PairExchange(std::uint32_t ranks) : group_(ranks) {}

  [[nodiscard]] std::uint32_t ranks() const override { return group_.ranks(); }
  [[nodiscard]] std::uint32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] std::uint64_t steps(Rank rank, std::uint32_t) const override {
    return group_.is_extra(rank) ? 0 : 2 * group_.rounds();
  }
  [[nodiscard]] std::uint64_t messages() const override {
    return std::uint64_t{group_.size()} * group_.rounds();
  }
  [[nodiscard]] std::uint32_t send_slots(Rank rank, std::uint32_t) const override {
    return group_.is_extra(rank) ? 0 : group_.rounds();
  }
  [[nodiscard]] std::uint32_t receive_slots(Rank rank, std::uint32_t lane) const override {
    return send_slots(rank, lane);
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t, std::uint32_t slot) const override {
    return {group_.rank(group_.number(rank) ^ (1U << distance_bit(slot))), 0, slot};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    return send_to(rank, lane, slot);
  }

 protected:
  [[nodiscard]] const PowerOfTwo& participants() const { return group_; }
  /// The numbers of a pair differ in this bit: nearest partners come first, unless overridden.
  [[nodiscard]] virtual std::uint32_t distance_bit(std::uint32_t round) const { return round; }

 private:
  PowerOfTwo group_;
};

/// A message between each extra rank and its partner, one way.
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

/// Participants exchange all they have at `place` over distances 1, 2, 4, …. Extra ranks do
/// nothing. Starts from each participant's own block, and with BlockOwners::Ranks its extra rank's.
[[nodiscard]] std::unique_ptr<Pattern> doubling_all_gather(std::uint32_t ranks, BlockOwners owners,
                                                           Place place);

/// The start: extra ranks send all `blocks` blocks at `from`, and their partners add their own and
/// put the sum at `to`. Others do nothing, so their contribution is still at `from`.
[[nodiscard]] std::unique_ptr<Pattern> extra_ranks_contribute(std::uint32_t ranks,
                                                              std::uint32_t blocks, Place from,
                                                              Place to);

/// The end: extra ranks get all `blocks` blocks at `place` from their partners.
[[nodiscard]] std::unique_ptr<Pattern> extra_ranks_get_all(std::uint32_t ranks,
                                                           std::uint32_t blocks, Place place);

/// The whole all_gather: own blocks from the input, doubling, and what extra ranks need.
[[nodiscard]] std::unique_ptr<Pattern> complete_doubling_all_gather(std::uint32_t ranks);

}  // namespace collsim
