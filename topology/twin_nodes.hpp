#pragma once

// Nodes that may change places without anything else noticing: made from one template, and their devices,
// one by one, have the same links to the same devices outside. So have the nodes of a leaf that each have
// one cable to it, and no two nodes of a torus. All routes to one of them are as long as those to its twin,
// as far as the lengths of the links decide; a hash or a number may still choose between equal ways.
//
// Explicit graphs know no templates: none of their nodes has a twin.

#include <cstdint>
#include <vector>

#include "topology/cluster.hpp"

namespace collsim {

/// Shapes: by node, the first node that is its twin (itself, for the first of them).
/// Complexity: O(links · log nodes).
[[nodiscard]] std::vector<std::uint32_t> first_twins(const Cluster& cluster);

}  // namespace collsim
