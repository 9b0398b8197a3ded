#pragma once

// By how much each cost parameter changes the time of a call, read from where its time went.

#include <array>

#include "algorithms/program.hpp"
#include "sim/collective_run.hpp"
#include "sim/costs.hpp"
#include "topology/cluster.hpp"

namespace collsim {

/// d ln(time) / d ln(value), by CostItem.
using Sensitivities = std::array<double, cost_items>;

/// To first order: as long as the critical path stays. Exact for an attribution to limits (AttributeTo::Limits) where
/// rates do not change while bytes flow.
[[nodiscard]] Sensitivities sensitivities(const Cluster& cluster, const Program& program,
                                          const CollectiveResult& result);

}  // namespace collsim
