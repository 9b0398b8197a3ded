#pragma once

// Which devices, and which nodes, are alike: the coarsest classes such that any two devices of a
// class have the same links (kind, bandwidth, latency, level, direction) to as many devices of every
// class, and are in nodes of the same class (colour refinement, the 1-dimensional Weisfeiler-Leman
// test).
//
// A symmetry of the cluster moves no device to another class, so devices of different classes are
// not alike for certain. Those of one class are alike in everything that can be seen by walking
// along links. That a symmetry exchanges them is not proven by it: graphs can be made on which none
// does (two rings of three switches, and one of six).
//
// Source: Paige and Tarjan 1987, "Three partition refinement algorithms" (all parts but the largest
// are followed up); Weisfeiler and Leman 1968.

#include <cstdint>
#include <vector>

#include "topology/graph.hpp"

namespace collsim {

struct SymmetryClasses {
  std::vector<std::uint32_t> of_device;  ///< numbered in order of their first device
  std::vector<std::uint32_t> of_node;    ///< numbered in order of their first node
  std::uint32_t device_classes = 0;
  std::uint32_t node_classes = 0;
};

/// Complexity: O(links · log² links).
[[nodiscard]] SymmetryClasses symmetry_classes(const Graph& graph);

}  // namespace collsim
