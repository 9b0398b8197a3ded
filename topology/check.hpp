#pragma once

// Checks of a finished graph.

#include <cstdint>
#include <optional>
#include <utility>

#include "topology/graph.hpp"

namespace collsim {

enum class GpusRelay : std::uint8_t { No, Yes };

/// Two GPUs of which the first cannot reach the second, all devices but GPUs forwarding (and GPUs, where
/// rails are aligned); absent if every GPU reaches every other one. Complexity: O(devices + links) where some device can be
/// reached by all GPUs and reaches all (any switched cluster), or where GPUs are linked directly;
/// else a search for each GPU.
[[nodiscard]] std::optional<std::pair<DeviceId, DeviceId>> unreachable_pair(
    const Graph& graph, GpusRelay relay = GpusRelay::No);

}  // namespace collsim
