#pragma once

// Cost parameters that keep their ratio to another one as a rule, where nothing decides them by themselves: times to hops
// and hand-offs, rates of blocks to the link's, those of blocks that send and receive to what threads of a ring copy. Fits
// of three generations of GPUs agree on the ratios within a third or so.

#include <optional>

#include "sim/costs.hpp"

namespace collsim {

/// What a parameter follows, which may itself follow another; absent: it stands by itself.
[[nodiscard]] std::optional<CostItem> leader_of(CostItem item);

}  // namespace collsim
