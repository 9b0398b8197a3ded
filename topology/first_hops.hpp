#pragma once

// Which NICs' ways into the fabric are alike. Where a NIC has a single link into it, every way to another NIC
// begins with that link and goes on from the switch at its end, whichever of the switch's NICs it comes from: so
// a way found for one of them serves all of them, but for its first link. Links of another bandwidth are not
// alike, because the widest of the shortest ways may be others then. Internal to the router.

#include <optional>
#include <vector>

#include "topology/graph.hpp"

namespace collsim::detail {

struct FirstHop {
  DeviceId alike;  ///< the first device whose ways are like this one's: itself, often
  std::optional<LinkId>
      link;  ///< by which all of them begin; absent: there is none, or not just one
};

/// By device. Complexity: O(devices and links).
[[nodiscard]] std::vector<FirstHop> first_hops(const Graph& graph);

}  // namespace collsim::detail
