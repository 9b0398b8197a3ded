#pragma once

// The longest of the routes between GPUs: by links, and by latency (not always the same one).
//
// Small clusters: of all routes. Larger ones: of the routes from one GPU of each class of alike GPUs
// (see symmetry.hpp) to all others, one for all nodes that are twins (see twin_nodes.hpp); that is all
// there is to see where a symmetry exchanges the GPUs of a class. Where there are more classes than the
// work allows, of some of them, evenly chosen: a lower bound then. So it is where routes are assumed to
// be like others (see route_survey.hpp).

#include <cstdint>
#include <utility>

#include "topology/cluster.hpp"
#include "topology/route_survey.hpp"
#include "topology/symmetry.hpp"

namespace collsim {

struct LongestRoute {
  DeviceId from;
  DeviceId to;
  std::size_t links = 0;
  Duration latency{};
};

struct Diameter {
  LongestRoute most_links;  ///< of equal ones, that with the longest latency; then the first
  LongestRoute slowest;     ///< of equal ones, that with the most links; then the first
  std::size_t sources = 0;  ///< GPUs whose routes to all others were looked at
  std::size_t classes = 0;  ///< of GPUs
  std::size_t assumed = 0;  ///< routes that were not looked at, but taken to be like others
};

/// How many routes are looked at.
struct DiameterLimits {
  std::size_t all = 1U << 16U;       ///< that many or fewer: every route
  std::size_t by_class = 1U << 18U;  ///< from GPUs of unlike classes, but at least those of one GPU
};

/// Requires: at least two GPUs, a route between any two.
[[nodiscard]] Diameter diameter(const Cluster& cluster, const SymmetryClasses& symmetry,
                                const DiameterLimits& limits = {});

}  // namespace collsim
