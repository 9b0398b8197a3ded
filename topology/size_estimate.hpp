#pragma once

// How large a description's graph is, without building it, so that a slip of the pen ("nodes: 1e6"
// of a mesh) is refused instead of filling the memory.

#include <cstdint>
#include <limits>

#include "topology/spec.hpp"

namespace collsim {

struct SizeEstimate {
  static constexpr std::uint64_t saturated = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t devices = 0;
  std::uint64_t links = 0;  ///< directed
};

/// Exact for nodes, single switches and explicit graphs; of a leaf-spine fabric an upper bound.
/// Counts stop at SizeEstimate::saturated. Ends of links that name nothing count as one device.
/// Complexity: O(device groups · link entries).
[[nodiscard]] SizeEstimate estimate_size(const ClusterSpec& spec);

}  // namespace collsim
