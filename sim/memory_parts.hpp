#pragma once

// What a lane has of its GPU's memory, whose bandwidth blocks share. Reads and writes together come to
//   M = bandwidth of the description's memory · share.memory.
// While M is more than the links' bytes can ask for, at once and in both directions, memory limits nothing: a block that
// is held up by its links leaves its part to the others. A byte that a GPU receives and passes on is written to a FIFO,
// read there, added to an own one, which is read, and written: 4 accesses, and one more where what is sent is read by
// itself. NVLS reads and writes 4 by its copies and 2 by the switch. So the limit begins at
//   M < accesses · (rate of the links to one sort of neighbour, which is the most that goes one way),
// with 5 accesses, 6 for NVLS and 3 for copy engines. Below that each lane that works has an equal part of M,
// also while others wait. What a step's bytes come to: memory_bytes() in step_costs.hpp.
//
// Ignored: caches (of FIFOs and of what was just written), which make some accesses free; that writes are dearer
// than reads; compute beside the call, other calls at once; buffers of the network in the memory of GPUs; the own data
// that a head of NVLS reads or writes through the switch in all-gather and reduce-scatter; the memory of hosts. A
// FIFO in a host's memory counts as if it were the GPU's. Internal to the executor.

#include "algorithms/program.hpp"
#include "sim/costs.hpp"
#include "sim/workload.hpp"
#include "topology/cluster.hpp"

namespace collsim::detail {

/// Of each lane of a rank on a GPU; zero: no limit. Requires: not a folded program, whose lanes stand for several.
/// Complexity: O(links of the GPU), and O(lanes of the rank) where there is a limit.
[[nodiscard]] Bandwidth memory_part(const Cluster& cluster, const CostParameters& costs,
                                    const Program& program, Rank rank, DeviceId gpu);

/// Whether some lane has a limit. Complexity: O(ranks · links of a GPU).
[[nodiscard]] bool memory_limits(const Cluster& cluster, const CostParameters& costs,
                                 const Workload& workload);

}  // namespace collsim::detail
