#pragma once

// Which cost items the lanes of a workload can charge: those that step_costs.hpp and the executor name for
// their protocols and kernels, whatever the parameters say. Attribution keeps no place for others, of which
// there are far more. Internal to the executor.

#include "sim/attribution.hpp"
#include "sim/step_costs.hpp"
#include "sim/workload.hpp"
#include "topology/cluster.hpp"

namespace collsim::detail {

/// Of the lanes with this protocol and kernel, and of a rank's launch of them.
[[nodiscard]] CostItemSet charged_items(WireProtocol protocol, Kernel kernel);

/// Of all lanes; ShareMemory only where the memory of some GPU limits something. Complexity: O(lanes) for
/// each program.
[[nodiscard]] CostItemSet charged_items(const Cluster& cluster, const Workload& workload,
                                        const CostParameters& costs);

}  // namespace collsim::detail
