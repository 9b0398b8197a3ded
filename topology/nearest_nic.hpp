#pragma once

// By which NIC each GPU leaves its node: the one with the fewest links between; of those, the one
// with the widest way; of those, the first. Searched backwards from every NIC, so that one walk
// serves all GPUs of the node.

#include <optional>
#include <vector>

#include "topology/graph.hpp"

namespace collsim::detail {

/// By device: a GPU's NIC; absent where it reaches none of its node (and for what is no GPU).
/// Complexity: O(links), unless later NICs are nearer than earlier ones, again and again.
[[nodiscard]] std::vector<std::optional<DeviceId>> nearest_nics(const Graph& graph);

}  // namespace collsim::detail
