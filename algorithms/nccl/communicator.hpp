#pragma once
// What NCCL's decisions need to know of the machine and the communicator besides the graphs.
//
// Nodes are alike: the ranks of node i follow those of node i-1, in the order of the node's GPUs.
// A "node" is what NCCL takes for one: a host, or a whole NVLink domain (MNNVL). Bandwidths are
// `float` GB/s (1e9 B/s), as in NCCL.
//
// Source: NCCL 2.28.9, src/include/comm.h, src/init.cc, src/graph/paths.cc.

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/nccl/graph.hpp"

namespace collsim::nccl {

/// Of all hosts of the communicator; Mixed where they differ.
enum class HostArchitecture : std::uint8_t { X86, Arm, Power, Mixed };
enum class HostVendor : std::uint8_t { Intel, Amd, Zhaoxin, Other, Mixed };

/// The path between two GPUs of a node.
struct LocalPath {
  PathType type{PathType::Nvl};
  float bandwidth{0};
  float nvlink{0};  ///< of one NVLink of the GPU; read for NVLink paths only

  bool operator==(const LocalPath&) const = default;
};

/// The NICs of one GPU: how many it takes, best first, to use up its link to the host, and what
/// they carry together. Up to 2.28 NCCL counts none where a PCIe switch stands before the host.
struct LocalNics {
  int count{1};
  float bandwidth{0};

  bool operator==(const LocalNics&) const = default;
};

/// What a CollNet plugin (in-network reduction) offers.
struct CollNetPlugin {
  bool all_gather{false};
  bool reduce_scatter{false};
};

struct Communicator {
  int ranks{1};
  int nodes{1};
  int min_ranks_per_node{1};
  int max_ranks_per_node{1};
  /// Compute capability of the GPUs: 70, 80, 90, 100, …
  int min_sm{0};
  int max_sm{0};
  HostArchitecture cpu_architecture{HostArchitecture::X86};
  HostVendor cpu_vendor{HostVendor::Intel};
  bool has_nvswitch{false};
  /// The GPUs (sm 90 and up) and the driver have NVLink SHARP. Whether the node has a use for it is
  /// the graph's matter.
  bool supports_nvls{false};
  bool all_nvlink{false};         ///< every pair of GPUs of a node is joined by NVLink
  bool unpacking_network{false};  ///< the network device unpacks on the GPU
  bool cuda_11_8{false};          ///< built with CUDA 11.8, where LL128 has a fault on sm 90
  std::optional<CollNetPlugin> collnet{};
  std::vector<LocalPath> local_paths{};  ///< of the pairs of a node; equal ones once are enough
  std::vector<LocalNics> nics{};         ///< of the GPUs of a node; equal ones once are enough
  float slowest_nic{0};                  ///< least bandwidth of a GPU's NIC
};

/// The ranks that start channels of an NVLS or CollNet-direct graph, each once, in the order in
/// which they appear. Complexity: O(channels²).
[[nodiscard]] std::vector<int> heads(const Graph& graph);

}  // namespace collsim::nccl
