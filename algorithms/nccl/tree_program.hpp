#pragma once
// NCCL's trees: every channel has a tree of all ranks and a part of the data, whose chunks are
// reduced up to the root and sent down again, one behind the other. AllReduce only.
//
// Two lanes a channel, as the kernel splits its threads: the first reduces up (receives from all
// children at once), the second broadcasts down. At the root the first does both with all threads,
// and the second has nothing to do. A step is one slice of one primitive.
//
// In place, a rank's down lane writes what its up lane has read: the order, which in NCCL follows
// from the data's way over the root, is a dependency here. It delays nothing.
// Source: NCCL 2.28.9, src/device/all_reduce.h (runTreeSplit).

#include <memory>
#include <vector>

#include "algorithms/nccl/execution.hpp"
#include "algorithms/nccl/trees.hpp"
#include "algorithms/program.hpp"

namespace collsim::nccl {

/// Shapes: trees[channel][rank], for the channels of the execution.
/// Requires: execution.algorithm is Tree.
/// Complexity: memory O(ranks) for each distinct tree; a step O(1).
[[nodiscard]] std::unique_ptr<Program> build_tree_program(
    const Execution& execution, const std::vector<std::vector<TreeLinks>>& trees);

}  // namespace collsim::nccl
