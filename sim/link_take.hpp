#pragma once

// What the flows on a link take of it together, and whether it can be the bottleneck of any.
//
// Where their takes (each rounded up per single flow, as FairShareSolver does) stay below the
// capacity by more than a margin, the link is no flow's bottleneck, and a system without it has the
// same solution. For suppose that it were, in the round of level l: what was left of it then is more
// than all that its unfrozen flows take in the end plus the margin, so its share is above l, if only
// none of them ends up below l by more than margin / load. Levels fall from one round to the next by
// rounding alone: a resource whose frozen flows were n single ones has lost at most n units to it,
// and its load is at least 1 / d, d the largest denominator of any use: so by n·d at most, the drift.

#include <cstdint>

#include "sim/fair_share.hpp"
#include "sim/network.hpp"

namespace collsim {

class LinkTake {
 public:
  /// A flow that takes nothing yet.
  void enter(const ResourceUse& use, const TransferTerms& terms) {
    load_ += load_of(use, terms);
    singles_ += singles_of(use, terms);
  }
  /// What each single flow takes has changed.
  void change(const ResourceUse& use, const TransferTerms& terms, std::int64_t before,
              std::int64_t after) {
    take_ += (after - before) * singles_of(use, terms);
  }
  void leave(const ResourceUse& use, const TransferTerms& terms, std::int64_t take) {
    load_ -= load_of(use, terms);
    singles_ -= singles_of(use, terms);
    take_ -= take * singles_of(use, terms);
  }

  /// Whether a flow may have its bottleneck here. `drift`: how far levels may fall by rounding.
  [[nodiscard]] bool binds(std::int64_t capacity, std::int64_t drift) const {
    __extension__ using I128 = __int128;
    return take_ + static_cast<I128>(load_) * drift >= capacity;
  }
  /// Whether it has so little for each of them that rounding may make a level (FairShareSolver's floors).
  [[nodiscard]] static bool is_narrow(std::int64_t load, std::int64_t capacity,
                                      std::int64_t drift) {
    constexpr unsigned margin = 4;
    return static_cast<U128>(load) * static_cast<U128>(drift) * margin >=
           static_cast<U128>(capacity);
  }
  [[nodiscard]] bool is_narrow(std::int64_t capacity, std::int64_t drift) const {
    return is_narrow(load_, capacity, drift);
  }
  /// What all of them take.
  [[nodiscard]] std::int64_t total() const { return take_; }
  [[nodiscard]] std::int64_t load() const { return load_; }
  /// Single flows on the link.
  [[nodiscard]] std::int64_t singles() const { return singles_; }

  /// What a flow counts for in load(): at least its weight·multiplicity·crowd·a.
  [[nodiscard]] static std::int64_t load_of(const ResourceUse& use, const TransferTerms& terms) {
    const std::int64_t share =
        (std::int64_t{use.numerator} + use.denominator - 1) / use.denominator;
    return share * terms.weight * singles_of(use, terms);
  }
  /// Single flows on the link that a flow stands for.
  [[nodiscard]] static std::int64_t singles_of(const ResourceUse& use, const TransferTerms& terms) {
    return std::int64_t{use.crowd} * terms.multiplicity;
  }

 private:
  std::int64_t take_ = 0;
  std::int64_t load_ = 0;  ///< at least the sum of weight·multiplicity·crowd·a
  std::int64_t singles_ = 0;
};

}  // namespace collsim
