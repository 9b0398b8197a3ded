#pragma once
// In which order the search tries network devices: those GPUs use by preference, then the others by
// type of path.
//
// Source: NCCL 2.28.9, src/graph/search.cc.

#include <cstddef>
#include <optional>
#include <vector>

#include "algorithms/nccl/detect.hpp"
#include "algorithms/nccl/options.hpp"

namespace collsim::nccl {

/// The devices to come in by (all GPUs) or to go out by from one GPU, as positions in the system's
/// list. Only paths up to `worst` count for those that no GPU prefers. `gpu` is a position, too.
[[nodiscard]] std::vector<std::size_t> nets_to_try(const DetectedNode& node,
                                                   const SearchOptions& options, PathType worst,
                                                   std::optional<std::size_t> gpu);

}  // namespace collsim::nccl
