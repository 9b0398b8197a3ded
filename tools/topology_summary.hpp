#pragma once

// What `topology show` says about a cluster, worked out and not yet put into words.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "topology/cluster.hpp"
#include "topology/diameter.hpp"
#include "topology/parts.hpp"
#include "topology/path_class.hpp"
#include "topology/symmetry.hpp"

namespace collsim {

/// Links that are alike but for their ends.
struct LinkClass {
  std::string level;
  LinkKind kind = LinkKind::Generic;
  Bandwidth bandwidth;
  Duration latency{};
  std::uint64_t count = 0;
};

template <class Value>
struct Range {
  Value min{};
  Value max{};
};

/// The switches at one height of a tree, or all of another fabric.
struct SwitchLevel {
  std::string level;  ///< "leaf", "spine", "core", "tier3"; "switch" where all are at one height
  std::uint64_t switches = 0;
  Range<std::uint32_t> ports_used;     ///< cables of each
  std::optional<std::uint32_t> ports;  ///< absent: the description does not say
};

/// The groups of a dragonfly.
struct DragonflyGroups {
  std::uint64_t groups = 0;
  std::uint32_t switches = 0;              ///< of each
  std::uint32_t links_between_groups = 0;  ///< between any two groups; 0 if there is one
  Range<std::uint32_t> global_links;       ///< of each switch
};

/// The parts of one level: GPUs, nodes, leaf groups, …
struct LevelCuts {
  std::string
      part;  ///< "gpu", "node", the level whose links join what is inside the part, or "half"
  std::uint64_t parts = 0;
  Range<std::uint32_t> gpus;
  Range<TotalBandwidth> out;
  Range<TotalBandwidth> in;
  /// Of the parts one level below, summed; absent for GPUs.
  std::optional<Range<TotalBandwidth>> inside_out;
  /// The largest of what comes out of the parts inside over what leaves the part; absent for GPUs and
  /// where nothing leaves.
  std::optional<double> oversubscription;
  /// The same for the nodes in a part, whatever is between; absent for GPUs and nodes. What sources
  /// call the oversubscription of a tier is the largest of what NICs below can send over what leaves.
  std::optional<Range<TotalBandwidth>> nodes_out;
  std::optional<double> nodes_oversubscription;
};

struct NicUse {
  Range<std::uint32_t> per_node;
  Range<std::uint32_t> per_gpu;       ///< by how many a GPU's bytes enter its node
  Range<std::uint32_t> gpus_per_nic;  ///< of the NICs by which some do
  std::uint64_t unused = 0;           ///< NICs by which none do
};

/// Devices (or nodes) that are alike.
struct AlikeClass {
  std::uint64_t members = 0;
  std::string first;
};

/// The path types between the GPUs and NICs of a node, and from its first GPU to other nodes.
struct PathMatrix {
  std::string node;
  std::vector<std::string> devices;         ///< without the node in front
  std::vector<std::vector<PathType>> rows;  ///< empty where there are too many devices
  /// Of all pairs of rows and columns: how many GPU pairs and how many pairs of a GPU and a NIC have a
  /// type, by its text.
  std::map<std::string, std::uint64_t> gpu_pairs;
  std::map<std::string, std::uint64_t> nic_pairs;
  std::map<std::string, std::uint64_t> other_nodes;  ///< GPUs of other nodes
};

struct TopologySummary {
  std::vector<std::pair<DeviceKind, std::uint64_t>> devices;
  std::vector<SwitchLevel>
      switches;  ///< of the fabric, from the NICs up; of graphs and no fabric: none
  std::optional<DragonflyGroups> dragonfly;
  std::vector<LinkClass> links;
  std::vector<LevelCuts> cuts;       ///< from the GPUs outwards; the whole machine is none
  std::optional<NicUse> nics;        ///< absent without NICs
  std::optional<Diameter> diameter;  ///< absent with one GPU
  std::uint32_t device_classes = 0;
  std::vector<AlikeClass> alike_nodes;
  std::vector<AlikeClass> alike_gpus;
  /// Of the first node of each class, as far as they differ; of at most `most_matrices` classes.
  std::vector<PathMatrix> paths;
};

/// Nodes with more GPUs and NICs have no matrix, unless one is asked for.
inline constexpr std::size_t largest_matrix = 256;
enum class MatrixExtent : std::uint8_t {
  Readable,  ///< those that are not too large
  Whole,     ///< all
};
inline constexpr std::size_t most_matrices = 8;

/// Complexity: O(links · log² links), and the routes that diameter() looks at.
[[nodiscard]] TopologySummary summarise(const Cluster& cluster,
                                        MatrixExtent extent = MatrixExtent::Readable);

/// Those of the description, and behind the last of each part of it those that follow from it.
[[nodiscard]] std::vector<Provenance> values_in_force(const Cluster& cluster);

}  // namespace collsim
