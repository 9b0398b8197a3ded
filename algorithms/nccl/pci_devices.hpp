#pragma once
// Walks over the PCIe trees of a machine.

#include <vector>

#include "algorithms/nccl/machine.hpp"

namespace collsim::nccl {

/// All PCI devices, each before those below it, in the order of the file.
[[nodiscard]] std::vector<MachinePci*> pci_devices(Machine& machine);
[[nodiscard]] std::vector<const MachinePci*> pci_devices(const Machine& machine);

/// The GPUs that take part: those with a rank, by rank; all in the order of the file if none has one.
[[nodiscard]] std::vector<MachinePci*> ranked_gpus(Machine& machine);
[[nodiscard]] std::vector<const MachinePci*> ranked_gpus(const Machine& machine);

/// Throws: InputError that there is no GPU, and how templates get theirs.
[[noreturn]] void refuse_without_gpu();

}  // namespace collsim::nccl
