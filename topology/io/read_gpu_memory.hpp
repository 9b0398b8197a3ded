#pragma once

// Reads `gpu_memory` of a node, the memory ladder of its GPUs, and `host_memory`, that of its CPUs.

#include <optional>
#include <vector>

#include "topology/gpu_memory.hpp"
#include "topology/io/yaml_reader.hpp"

namespace collsim {

/// The levels under `gpu_memory`, as they stand; none if the key is absent.
/// Throws: InputError, located, for what is not a level or not a figure.
[[nodiscard]] std::vector<MemoryLevelSpec> read_gpu_memory(ReadContext context,
                                                           const MappingReader& node);

/// Absent where the key is. Throws: likewise.
[[nodiscard]] std::optional<HostMemorySpec> read_host_memory(const MappingReader& node);

}  // namespace collsim
