#pragma once

// The devices that a connection goes through, from what its program says (Waypoints). Internal to the
// executor.

#include <vector>

#include "algorithms/program.hpp"
#include "sim/workload.hpp"
#include "topology/cluster.hpp"

namespace collsim::detail {

/// For Router::route_through. Throws: SimulationError where a waypoint is not there: a rank of the
/// communicator, a NIC of the node, a CPU.
[[nodiscard]] std::vector<DeviceId> stops_of(const Cluster& cluster,
                                             const Communicator& communicator, Rank from, Rank to,
                                             const Waypoints& waypoints);

}  // namespace collsim::detail
