#pragma once
// Which GPUs the search tries behind one, and in which order. This order decides which of equal
// graphs is found first, so it is part of NCCL's answer.
//
// Source: NCCL 2.28.9, src/graph/search.cc.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/nccl/detect.hpp"
#include "algorithms/nccl/graph.hpp"

namespace collsim::nccl {

/// What a GPU's distance to the network is for, when the next one is chosen.
enum class NetOrder : std::uint8_t {
  Ignore,    ///< the channel does not leave the node from here on
  Near,      ///< the channel leaves from the next GPU
  NearLast,  ///< it leaves later
};

/// The GPUs to try after `gpu`, the first to try first; positions in the system's list, as `used`.
/// Behind an NVSwitch only neighbours of `gpu` are tried. `net` is where the channel came in.
[[nodiscard]] std::vector<std::size_t> next_gpus(const DetectedNode& node, Pattern pattern,
                                                 std::size_t gpu, const std::vector<bool>& used,
                                                 NetOrder order, std::optional<PartId> net);

}  // namespace collsim::nccl
