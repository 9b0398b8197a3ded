#pragma once

// Lists of nodes as Slurm writes them: "node[0-3,7]", "node12,node[20-21]". Numbers alone, "0-3,7", mean
// the same nodes.

#include <string_view>
#include <vector>

#include "topology/ids.hpp"

namespace collsim {

/// The nodes of a list in its order. `nodes`: how many the cluster has.
/// Throws: InputError("--node-list") where it is no such list, a node is not there or comes twice.
[[nodiscard]] std::vector<NodeId> parse_node_list(std::string_view text, std::uint32_t nodes);

}  // namespace collsim
