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
