#pragma once
// What NCCL's kernels for symmetric memory do: no staging buffers and no proxies, every rank reads and
// writes the windows of the others.
//
// A lane is a block. Data are cut in cells of 1024 bytes, shared over the blocks (and, of an all-reduce
// that is reduced by its owners, over the ranks before). A block
//   LL    pushes its part to all, flags in the data, and takes theirs as they come;
//   ST    stores its part into every peer's output;
//   LD    loads its part of every peer's input and reduces it;
//   MC    does so through the switch, for all peers at once.
// Without flags in the data there is a barrier before, over all ranks, and one after.
//
// Deviates: a load is the peer's store of the same bytes, in the same direction on the wire, at the
// same rate; a block does its whole part at once, where NCCL interleaves loads and stores of small pieces:
// the wire carries as much. What is stored is seen with the closing barrier; here each store is seen for itself,
// at the cost of one. Source: NCCL 2.28.9, src/device/symmetric.

#include <memory>

#include "algorithms/nccl/symmetric_kernels.hpp"
#include "algorithms/program.hpp"

namespace collsim::nccl {

/// Blocks that do the same at the same time: each for itself (for the data checker), or once, with a weight.
enum class EqualBlocks : std::uint8_t { Apart, Joined };

/// Requires: a choice for the call's collective, at least 2 ranks.
[[nodiscard]] std::unique_ptr<Program> build_symmetric_program(const CollectiveCall& call,
                                                               const SymmetricChoice& choice,
                                                               EqualBlocks equal);

}  // namespace collsim::nccl
