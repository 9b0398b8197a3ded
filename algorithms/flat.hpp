#pragma once

// The patterns of a root that deals with every other rank directly, in one lane a peer, so that all
// transfers of a phase start together. What `naive` is made of, and scatter and gather of `direct`.

#include <cstdint>
#include <memory>

#include "algorithms/pattern.hpp"

namespace collsim {

/// The root sends all `blocks` blocks at `from` to everyone, who puts them at `to`.
[[nodiscard]] std::unique_ptr<Pattern> flat_broadcast(std::uint32_t ranks, Rank root,
                                                      std::uint32_t blocks, Place from, Place to);

/// The root adds up the contributions of all, all `blocks` blocks at `from`, in one step at `to`.
[[nodiscard]] std::unique_ptr<Pattern> flat_reduce(std::uint32_t ranks, Rank root,
                                                   std::uint32_t blocks, Place from, Place to);

/// Rank r gets block r of those the root has at `from`.
[[nodiscard]] std::unique_ptr<Pattern> flat_scatter(std::uint32_t ranks, Rank root, Place from,
                                                    Place to);

/// Rank r's own block at `from` becomes block r of those the root has at `to`.
[[nodiscard]] std::unique_ptr<Pattern> flat_gather(std::uint32_t ranks, Rank root, Place from,
                                                   Place to);

/// The root gathers the whole input of every rank in its scratch, n blocks of rank 0, then those of
/// rank 1, …; and the reverse: rank r gets block r of each.
[[nodiscard]] std::unique_ptr<Pattern> flat_gather_inputs(std::uint32_t ranks, Rank root);
[[nodiscard]] std::unique_ptr<Pattern> flat_scatter_outputs(std::uint32_t ranks, Rank root);

}  // namespace collsim
