#pragma once

// What a collective must move across the border of a set of ranks, whatever the algorithm, and
// between which ranks data must travel. Knows no topology. Private to bounds*.cpp.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/collective.hpp"

namespace collsim::detail {

/// Bytes that must leave and enter a set of ranks.
struct Crossing {
  Bytes out;
  Bytes in;
};

/// What has to be known of a set of ranks, neither empty nor all of them.
struct CutSet {
  std::int64_t size = 0;
  bool holds_root = false;
  std::int64_t sends_outside = 0;     ///< ranks r whose r+1 is outside (send_recv)
  std::int64_t receives_outside = 0;  ///< ranks r whose r-1 is outside
};

[[nodiscard]] Crossing must_cross(const CollectiveCall& call, const CutSet& set);

/// `set_of_rank[r]` names a set for each rank; returns them all, by number.
[[nodiscard]] std::vector<CutSet> cut_sets(const CollectiveCall& call,
                                           std::span<const std::uint32_t> set_of_rank,
                                           std::uint32_t sets);

/// Bytes that all ranks send together at least; absent where the sets say it all.
[[nodiscard]] std::optional<Bytes> must_be_sent(const CollectiveCall& call);

}  // namespace collsim::detail
