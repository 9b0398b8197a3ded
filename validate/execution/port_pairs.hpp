#pragma once

// Which receive slot each send slot of a program belongs to, for executors that make all connections of all ranks themselves.

#include <cstdint>
#include <vector>

#include "validate/execution/script.hpp"

namespace collsim {

/// `pairs[rank][out port]` is the in port of the peer; of a port that is not used, 0.
/// Throws: SimulationError where one end has more messages than the other.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> port_pairs(
    const std::vector<const RankScript*>& scripts);

}  // namespace collsim
