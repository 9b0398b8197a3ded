#pragma once
// A node of a cluster as NCCL's topology file would describe it: the bridge from our descriptions to
// NCCL's choices. CPUs become NUMA domains, PCIe links the tree below them, NVLinks are counted, a
// link of a GPU to a CPU that is NVLink is C2C; each NIC is one network device.
//
// Links are told by generation and lanes, not by bandwidth: the sort nearest to the nominal
// bandwidth is taken. Bus ids are made up, in the order of the file. Where the description does not say
// otherwise, GPUDirect RDMA works, and a NIC's ports are bonded (one device with the speed of all). Not
// told by a cluster without fabric: what its NICs can do; they get the highest usual speed that their
// PCIe link carries. Not described: links between PCIe switches.

#include <optional>
#include <string>

#include "algorithms/nccl/machine.hpp"
#include "topology/cluster.hpp"

namespace collsim::nccl {

/// What stands in the way of describing a node to NCCL: "its GPUs have no compute capability".
/// Nothing: machine_of_node will do.
[[nodiscard]] std::optional<std::string> obstacle(const Cluster& cluster, NodeId node);

/// The node; GPUs have their number in it as device number and as rank.
/// Throws: InputError with the obstacle if there is one, or if a GPU or NIC of the node has no way
/// over PCIe (or C2C) to a CPU.
[[nodiscard]] Machine machine_of_node(const Cluster& cluster, NodeId node);

}  // namespace collsim::nccl
