#pragma once

// What a collective must move across the border of a set of ranks, whatever the algorithm, and
// between which ranks data must travel. Knows no topology. Private to bounds*.cpp.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/collective.hpp"

namespace collsim::detail {

/// What must leave and enter a set of ranks, in units of to_fine(): all_to_all moves more than
/// 64 bits of bytes.
struct Crossing {
  U128 out = 0;
  U128 in = 0;
};

/// What has to be known of a set of ranks, neither empty nor all of them.
struct CutSet {
  std::int64_t size = 0;
  bool holds_root = false;
  std::int64_t sends_outside = 0;     ///< ranks r whose r+1 is outside (send_recv)
  std::int64_t receives_outside = 0;  ///< ranks r whose r-1 is outside
};

/// Throws: std::overflow_error if it does not fit.
[[nodiscard]] Crossing must_cross(const CollectiveCall& call, const CutSet& set);

/// `set_of_rank[r]` names a set for each rank; returns them all, by number.
[[nodiscard]] std::vector<CutSet> cut_sets(const CollectiveCall& call,
                                           std::span<const std::uint32_t> set_of_rank,
                                           std::uint32_t sets);

/// What all ranks send together at least, in units of to_fine(); absent where the sets say it all.
/// Throws: std::overflow_error if it does not fit.
[[nodiscard]] std::optional<U128> must_be_sent(const CollectiveCall& call);

}  // namespace collsim::detail
