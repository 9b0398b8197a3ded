#pragma once
// The parts of a machine as lines of a cluster description, with what NCCL reads of them beside their
// links: which numbers GPUs have, what NICs can do and share, what PCIe switches call themselves. Only
// what differs from the description's defaults is written. What has no word there becomes a note.

#include <cstddef>
#include <string>
#include <vector>

#include "algorithms/nccl/machine.hpp"
#include "algorithms/nccl/machine_parts.hpp"
#include "topology/units.hpp"

namespace collsim::nccl {

/// As NCCL takes the speed.
[[nodiscard]] Bandwidth net_bandwidth(const MachineNet& net);

/// That of most devices; of equals the lowest. Requires: there is one.
[[nodiscard]] Bandwidth usual_net_bandwidth(const MachineParts& parts);

/// The keys of `node` that tell of its GPUs.
[[nodiscard]] std::string gpus_text(const MachineParts& parts, std::vector<std::string>& notes);

// Entries of `node.devices`; empty where there are none of the kind.
[[nodiscard]] std::string switches_text(const MachineParts& parts);
[[nodiscard]] std::string nics_text(const MachineParts& parts, std::vector<std::string>& notes);

/// Notes what NCCL uses and a description cannot hold.
void note_lost_parts(const Machine& machine, const MachineParts& parts,
                     std::vector<std::string>& notes);

}  // namespace collsim::nccl
