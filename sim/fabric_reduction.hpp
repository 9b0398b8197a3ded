#pragma once

// Reduction in the switches of a fabric (SHARP): what all peers send goes up the tree of their routes to
// the root, each link once, reduced where routes meet, and the result comes down the same tree. Internal
// to the executor.
// Ignored: what a switch has room for, and streams of several jobs.

#include <span>

#include "topology/graph.hpp"
#include "topology/routing.hpp"

namespace collsim::detail {

/// Each link of the routes once, and the one against it once; no latency.
/// Throws: InputError where there is no link back, or the routes do not make a tree.
[[nodiscard]] Route reduction_tree(const Graph& graph, std::span<const Route> to_root);
/// The way up alone: the root has the result. Throws: InputError where the routes do not make a tree.
[[nodiscard]] Route tree_to_root(const Graph& graph, std::span<const Route> to_root);
/// The way down alone: what the root sends is copied where routes part. Throws: as tree_to_root.
[[nodiscard]] Route tree_from_root(const Graph& graph, std::span<const Route> from_root);

}  // namespace collsim::detail
