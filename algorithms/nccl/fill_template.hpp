#pragma once
// The topology files that clouds ship: they tell the PCIe tree of a virtual machine, which the
// machine itself does not, and leave GPUs and NICs to what NCCL finds at run time. Here what is found
// comes from a description of the machine.
//
// NCCL puts devices where their bus ids stand in the file. A description has no such ids: the places
// of a class are filled in their order, GPUs by rank, NICs by number.
//
// Source: NCCL 2.28.9, src/graph/xml.cc (attributes of the file stay, those that lack are filled in).

#include "algorithms/nccl/machine.hpp"

namespace collsim::nccl {

/// Whether there are places for GPUs (PCI devices of their class), but no GPU.
[[nodiscard]] bool is_template(const Machine& machine);

/// The file, completed: a template gets the hardware's GPUs and network devices; GPUs that the file has
/// but without any link get the hardware's NVLinks and C2C, if there are as many GPUs.
/// Throws: InputError if a template has not as many places as there are GPUs, or NICs.
[[nodiscard]] Machine fill_template(Machine file, const Machine& hardware);

}  // namespace collsim::nccl
