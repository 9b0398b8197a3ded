#pragma once

// Cost parameters that keep their ratio to another one as a rule, where nothing decides them by themselves: times to hops
// and hand-offs, rates of threads to the link's. Fits of three generations of GPUs agree on the ratios within a third or so.

#include <optional>

#include "sim/costs.hpp"

namespace collsim {

/// What a parameter follows; absent: it stands by itself.
[[nodiscard]] std::optional<CostItem> leader_of(CostItem item);

}  // namespace collsim
