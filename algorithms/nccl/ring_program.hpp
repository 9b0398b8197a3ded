#pragma once
// NCCL's ring: every channel has a ring of all ranks and a part of the data, which goes round in
// chunks.
//
// One lane a channel. A step is one slice of one primitive, in the kernel's order: loop after loop,
// in each of them a primitive a chunk. All chunks of a loop are in flight at once, one at each rank;
// Broadcast and Reduce are pipelines from and to the root, a chunk a loop. Elements that do not
// divide leave chunks short, or empty: their messages are sent all the same.
//
// Not modelled: buffers that the user registered, one rank a node that lets the network work alone.
// Source: NCCL 2.28.9, src/device/{all_reduce,all_gather,reduce_scatter,broadcast,reduce}.h.

#include <memory>
#include <vector>

#include "algorithms/nccl/execution.hpp"
#include "algorithms/program.hpp"

namespace collsim::nccl {

/// Shapes: rings[channel] has each rank once, for the channels of the execution.
/// Requires: execution.algorithm is Ring.
/// Complexity: memory O(ranks) for each distinct ring; a step O(1).
[[nodiscard]] std::unique_ptr<Program> build_ring_program(
    const Execution& execution, const std::vector<std::vector<Rank>>& rings);

}  // namespace collsim::nccl
