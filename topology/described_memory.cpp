#include "topology/described_memory.hpp"

namespace collsim {

namespace {

/// The description of a device's node; null in an explicit graph, which has none.
const NodeSpec* node_of(const Cluster& cluster, DeviceId device) {
  const ClusterSpec& spec = cluster.spec();
  if (spec.graph) {
    return nullptr;
  }
  std::size_t node = cluster.graph().device(device).node.value_or(NodeId(0)).index();
  if (node < spec.nodes) {
    return &spec.node;
  }
  node -= spec.nodes;
  for (const NodeGroupSpec& group : spec.more_nodes) {
    if (node < group.count) {
      return &group.node;
    }
    node -= group.count;
  }
  return nullptr;
}

}  // namespace

std::span<const MemoryLevelSpec> levels_inside(const Cluster& cluster, DeviceId gpu) {
  const NodeSpec* const node = node_of(cluster, gpu);
  return node == nullptr ? std::span<const MemoryLevelSpec>() : node->gpu_memory;
}

const HostMemorySpec* host_memory_of(const Cluster& cluster, DeviceId cpu) {
  const NodeSpec* const node = node_of(cluster, cpu);
  return node != nullptr && node->host_memory ? &*node->host_memory : nullptr;
}

const MemoryLevelSpec* memory_of(const Cluster& cluster, DeviceId gpu) {
  for (const MemoryLevelSpec& level : levels_inside(cluster, gpu)) {
    if (level.level == MemoryLevel::Memory) {
      return &level;
    }
  }
  return nullptr;
}

std::optional<Bytes> memory_capacity(const Cluster& cluster, DeviceId device) {
  if (const HostMemorySpec* const memory = host_memory_of(cluster, device);
      cluster.graph().device(device).kind == DeviceKind::Cpu) {
    return memory != nullptr && memory->capacity ? std::optional(memory->capacity->value)
                                                 : std::nullopt;
  }
  const MemoryLevelSpec* const memory = memory_of(cluster, device);
  return memory != nullptr && memory->capacity ? std::optional(memory->capacity->value)
                                               : std::nullopt;
}

}  // namespace collsim
