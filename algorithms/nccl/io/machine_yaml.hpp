#pragma once
// A node known from NCCL's topology file as a cluster description of ours: what `--cluster FILE.xml`
// reads and `topology import` writes. The other way is machine_of_node.
//
// The file tells links by generation, lanes and count: bandwidths become nominal ones. It tells no
// latencies, no links between CPUs and no fabric: latencies are those of configs/README.md, the link
// between two CPUs is that of their sort, and the NICs join one ideal switch, so that `nodes` may be
// raised. Each network device becomes a NIC of its own, with what NCCL reads of it
// (machine_yaml_parts.hpp): NCCL decides from the description as from the file, but for what a note names.

#include <string>
#include <vector>

#include "algorithms/nccl/machine.hpp"

namespace collsim::nccl {

struct MachineYaml {
  std::string text;
  std::vector<std::string> notes;  ///< what was assumed or could not be kept, a line each
};

/// `name`, with a "nccl-" before it and '-' for what is no letter or digit, is the cluster's.
/// Throws: InputError if the machine has no GPU (a template), or a GPU without compute capability.
[[nodiscard]] MachineYaml cluster_yaml(const Machine& machine, const std::string& name);

}  // namespace collsim::nccl
