#pragma once
// NCCL's topology file (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE): read into a Machine and written back.
// Reads dumps and the clouds' templates, and RCCL's files (version 2); what is assumed or left out is a
// warning, with its place.
//
// Format: NCCL 2.28.9, src/graph/xml.cc, src/graph/topo.cc.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/nccl/machine.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

/// What to do with network devices of containers and bridges ("br-…", "cali…", "veth…", "docker…"), of which hosts of
/// Kubernetes have dozens. NCCL's socket transport counts them among the NICs.
enum class ContainerInterfaces : std::uint8_t { LeaveOut, Keep };

struct ReadMachine {
  Machine machine;
  std::vector<InputError> warnings;  ///< render("warning")
};

/// Throws: InputError at its place.
[[nodiscard]] ReadMachine parse_topology_xml(
    std::string_view text, const std::string& file,
    ContainerInterfaces interfaces = ContainerInterfaces::LeaveOut);

/// The same from a file. Throws: InputError, also if it cannot be read.
[[nodiscard]] ReadMachine load_topology_xml(
    const std::string& path, ContainerInterfaces interfaces = ContainerInterfaces::LeaveOut);

/// As NCCL writes and reads it; parse_topology_xml gives the same machine back.
/// Throws: InputError if a text cannot stand in such a file.
[[nodiscard]] std::string write_topology_xml(const Machine& machine);

}  // namespace collsim::nccl
