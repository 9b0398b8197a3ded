#pragma once

// The patterns of the ring algorithm, for algorithms that use rings as a part of theirs.
// Rank r sends to r + 1 and receives from r - 1, modulo the ranks, in one lane.
// Source: Patarasuk and Yuan 2009, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations"; NCCL src/device/{all_gather,reduce_scatter,all_reduce,broadcast,reduce}.h.

#include <cstdint>
#include <memory>

#include "algorithms/pattern.hpp"

namespace collsim {

/// Block b travels from rank b + 1 round to rank b and collects the contributions of all from
/// `from`; rank b writes the result to its block at `to`. `ranks` blocks.
[[nodiscard]] std::unique_ptr<Pattern> ring_reduce_scatter(std::uint32_t ranks, Place from,
                                                           Place to);

/// Block b travels from rank b, where it lies at `from`, round to rank b - 1; every rank writes all
/// of them to `to`. `ranks` blocks.
[[nodiscard]] std::unique_ptr<Pattern> ring_all_gather(std::uint32_t ranks, Place from, Place to);

/// The whole part, one block, travels from the root round to rank root - 1.
[[nodiscard]] std::unique_ptr<Pattern> ring_broadcast(std::uint32_t ranks, Rank root, Place from,
                                                      Place to);

/// The whole part, one block, travels from rank root + 1 round to the root and collects the
/// contributions of all.
[[nodiscard]] std::unique_ptr<Pattern> ring_reduce(std::uint32_t ranks, Rank root, Place from,
                                                   Place to);

}  // namespace collsim
