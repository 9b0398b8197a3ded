#pragma once
// Which network devices are a GPU's own, and which GPU a network device's: the nearest by bandwidth,
// then path type, shared out where several are equally near.
//
// Source: NCCL 2.28.9, src/graph/topo.cc.

#include <cstddef>
#include <optional>
#include <vector>

#include "algorithms/nccl/options.hpp"
#include "algorithms/nccl/paths.hpp"
#include "algorithms/nccl/system.hpp"

namespace collsim::nccl {

/// The parts of a kind with the highest bandwidth from a part, of these those with the best type.
[[nodiscard]] std::vector<PartId> nearest_parts(const System& system, const Paths& paths,
                                                PartId from, PartKind kind);

/// The network devices a GPU uses, in the order of its channels: channel c takes number c modulo how
/// many there are.
[[nodiscard]] std::vector<PartId> local_nets(const System& system, const Paths& paths,
                                             const DetectOptions& options, PartId gpu);

/// The GPU that uses a network device with its lowest channel.
[[nodiscard]] std::optional<PartId> local_gpu(const System& system, const Paths& paths,
                                              const DetectOptions& options, PartId net);

}  // namespace collsim::nccl
