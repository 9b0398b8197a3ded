#pragma once

// What the descriptions of nodes say of the memory of their GPUs and CPUs.

#include <optional>
#include <span>

#include "topology/cluster.hpp"

namespace collsim {

/// What is inside a GPU, by its node's description; none of an explicit graph's.
[[nodiscard]] std::span<const MemoryLevelSpec> levels_inside(const Cluster& cluster, DeviceId gpu);
/// Of those the level that others are compared with; null where it is not described.
[[nodiscard]] const MemoryLevelSpec* memory_of(const Cluster& cluster, DeviceId gpu);
/// Behind a CPU; null where it is not described.
[[nodiscard]] const HostMemorySpec* host_memory_of(const Cluster& cluster, DeviceId cpu);
/// Of a GPU or a CPU; absent where it is not described.
[[nodiscard]] std::optional<Bytes> memory_capacity(const Cluster& cluster, DeviceId device);

}  // namespace collsim
