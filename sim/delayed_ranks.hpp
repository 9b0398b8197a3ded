#pragma once

// Ranks of an operation that stand still for a known time (a launch, a computation): how each will
// stand when that is over. Internal to the executor.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/lanes.hpp"

namespace collsim::detail {

class DelayedRanks {
 public:
  /// Adds one of `ranks` ranks. Its vector begins as `from` and is returned, to add to.
  std::int64_t* add(Rank rank, std::size_t ranks, std::span<const std::int64_t> from);
  /// The stretch of the critical path that its delay is. Requires: added.
  void set_stretch(Rank rank, std::uint32_t stretch) { stretches_[rank.index()] = stretch; }
  /// How it stands in the end. Requires: added.
  [[nodiscard]] Progress progress(Rank rank) const;

 private:
  std::size_t width_ = 0;
  std::vector<std::int64_t> vectors_;  ///< one row a rank; empty until one is added
  std::vector<std::uint32_t> stretches_;
};

}  // namespace collsim::detail
