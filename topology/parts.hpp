#pragma once

// The machine in parts, from the nodes outwards, and what can leave each part.
//
// The first division is that into nodes. Each further one joins the parts that links of the next
// level lead to: "leaf" gives the groups of nodes whose NICs hang on the same switches (directly or
// through each other), "spine" the groups of those, and so on until all is one part. In a machine
// whose NVLink leaves the node, "nvlink" comes between.
// Ignored: which of the links routes use.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/cluster.hpp"
#include "topology/graph.hpp"

namespace collsim {

struct Division {
  std::string name;         ///< "node", or the level whose links were the last to join
  std::uint32_t parts = 0;  ///< those that have GPUs
  /// By device. Parts with GPUs come first, in order of their first GPU; then those without.
  std::vector<std::uint32_t> part_of;
};

/// From the nodes to the whole; at least one. Complexity: O(links) for each.
[[nodiscard]] std::vector<Division> divisions(const Graph& graph);

/// A torus cut through the middle of its longest dimension, where there are two switches at least: the
/// division "half" into two parts, of which the first has the fewer switches if they are odd.
/// Requires: the description of this graph. Complexity: O(links).
[[nodiscard]] std::optional<Division> torus_halves(const Graph& graph, const FabricSpec& fabric);

struct PartCut {
  std::uint32_t gpus = 0;
  Cut cut;     ///< over the links between the part and the rest
  Cut inside;  ///< the sum of the cuts of the parts inside it; of a node: of its GPUs
  Cut nodes;   ///< the sum of the cuts of its nodes: what its NICs carry
};

/// By part with GPUs. `inner` is the division before this one; null: that into GPUs.
/// Throws: InputError if a sum exceeds 9 PB/s. Complexity: O(links).
[[nodiscard]] std::vector<PartCut> part_cuts(const Graph& graph, const Division& division,
                                             const Division* inner);

}  // namespace collsim
