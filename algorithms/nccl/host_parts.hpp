#pragma once
// A host whose GPUs reach each other sooner over its NICs than inside: NCCL counts each group of GPUs that
// talk without NICs as a node of its own. Modelled where the groups are alike, which is what the rest of the
// decisions takes for granted: as many GPUs each, of ranks that follow one another, with the same graphs.
//
// Source: NCCL 2.28.9, src/graph/topo.cc, src/init.cc.

#include "algorithms/nccl/detect.hpp"
#include "algorithms/nccl/graph.hpp"
#include "algorithms/nccl/options.hpp"

namespace collsim::nccl {

/// How many such nodes there are in a host. `node`, `graphs`: of the first of them, as detect() and
/// search_graphs() give them. Throws: InputError where they are not alike.
[[nodiscard]] int like_parts(const Machine& machine, NodeCount nodes, const SearchOptions& search,
                             const DetectedNode& node, const GraphSet& graphs);

}  // namespace collsim::nccl
