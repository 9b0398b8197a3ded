#pragma once
// What NCCL knows of a node when its search begins: the system with the paths it uses, without GPUs
// that talk to the others over the network only, and without network devices if the communicator has
// one node. Beside it the questions that tuning and channel counts ask.
//
// A rank sees the GPUs it can talk to inside the node; where that splits the node, NCCL takes each
// part for a node of its own.
//
// Source: NCCL 2.28.9, src/graph/paths.cc, src/graph/topo.cc, src/init.cc.

#include <cstddef>
#include <optional>
#include <vector>

#include "algorithms/nccl/machine.hpp"
#include "algorithms/nccl/options.hpp"
#include "algorithms/nccl/paths.hpp"
#include "algorithms/nccl/system.hpp"

namespace collsim::nccl {

/// Whether the communicator spans more than the node.
enum class NodeCount : std::uint8_t { One, Several };

struct DetectedNode {
  System system;
  Paths paths;
  DetectOptions options{};
  float most_bandwidth{0};     ///< best path a channel can have: GPU to GPU, or to a network device
  float total_bandwidth{0};    ///< most that goes in and out of one GPU
  std::vector<PartId> gpus{};  ///< by rank within the node
  /// The lowest rank of each part of the host that NCCL takes for a node of its own; more than one
  /// only if GPUs of the host talk over the network.
  std::vector<int> part_ranks{};
};

/// What the GPU of a rank (within the node) sees. Throws: InputError as make_system does.
[[nodiscard]] DetectedNode detect(const Machine& machine, NodeCount nodes,
                                  const DetectOptions& options = {}, std::size_t rank = 0);

/// From GPU to GPU, ranks within the node. Requires: both below gpus.size().
[[nodiscard]] const Path& gpu_path(const DetectedNode& node, std::size_t from, std::size_t to);
/// Whether all GPUs reach one another over NVLink or C2C alone.
[[nodiscard]] bool all_nvlink(const DetectedNode& node);
[[nodiscard]] bool has_nvswitch(const DetectedNode& node);
/// How many of its nearest network devices fill what a GPU has towards its CPU; 0 if a PCIe switch
/// stands between them.
[[nodiscard]] std::size_t nets_by_bandwidth(const DetectedNode& node, std::size_t rank);
/// Of one NVLink of a GPU, GB/s.
[[nodiscard]] float nvlink_bandwidth(const DetectedNode& node, std::size_t rank);
[[nodiscard]] int least_sm(const DetectedNode& node);
[[nodiscard]] int most_sm(const DetectedNode& node);
/// Of the first CPU.
[[nodiscard]] CpuFacts cpu_of(const DetectedNode& node);

/// The best and the worst type of path from a GPU to another part of a kind.
struct PathTypes {
  PathType best{PathType::Sys};
  PathType worst{PathType::Loc};
};
[[nodiscard]] PathTypes path_types(const DetectedNode& node, PartKind to);

/// Whether the node is two groups of GPUs, each linked by NVLink, with none between them.
[[nodiscard]] bool is_split(const DetectedNode& node);

}  // namespace collsim::nccl
