#pragma once
// What is wrong or doubtful in a topology file as a whole: bus ids used twice, NVLinks to nowhere or of
// unequal width, no GPUs.

#include "algorithms/nccl/io/xml_reader.hpp"
#include "algorithms/nccl/io/xml_tree.hpp"

namespace collsim::nccl {

/// Throws: InputError at the second of two devices with one bus id below different parents.
void check_topology(const XmlElement& root, XmlReader& reader);

}  // namespace collsim::nccl
