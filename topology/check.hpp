#pragma once

// Checks of a finished graph.

#include <optional>
#include <utility>

#include "topology/graph.hpp"

namespace collsim {

/// Two GPUs of which the first cannot reach the second, all devices but GPUs forwarding; absent if
/// every GPU reaches every other one. Complexity: O(devices + links) where some device can be
/// reached by all GPUs and reaches all (any switched cluster), or where GPUs are linked directly;
/// else a search for each GPU.
[[nodiscard]] std::optional<std::pair<DeviceId, DeviceId>> unreachable_pair(const Graph& graph);

}  // namespace collsim
