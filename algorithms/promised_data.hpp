#pragma once

// What a collective promises, as symbolic data: the meaning of each collective, once, for the data
// checker.

#include "algorithms/collective.hpp"
#include "algorithms/rank_sets.hpp"
#include "algorithms/symbolic_memory.hpp"

namespace collsim::detail {

/// What a rank's output buffer must hold in the end.
[[nodiscard]] SymbolicData promised_output(const CollectiveCall& call, Rank rank, RankSets& sets);

}  // namespace collsim::detail
