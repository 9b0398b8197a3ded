#pragma once
// What NCCL's graph search hands on: for each of its graphs (ring, tree, NVLS, CollNet) the channels
// it placed on one node, the speed each is worth and the worst path it uses. The search makes it,
// channel counts, rings, trees and the tuning model read it.
//
// Speeds are `float` GB/s (1e9 B/s), as in NCCL: which choice wins hangs on its rounding, so this
// folder computes in the type NCCL computes in. Nothing here is simulated time.
//
// Source: NCCL 2.28.9, src/include/graph.h, src/graph/topo.h.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace collsim::nccl {

/// How far apart two devices are, in NCCL's order: a larger value is a worse path.
enum class PathType : std::uint8_t {
  Loc,  ///< the device itself
  Nvl,  ///< NVLink, directly or through NVSwitches
  Nvb,  ///< NVLink through one other GPU
  C2c,  ///< the coherent link of a GPU and its CPU
  Pix,  ///< one PCIe switch
  Pxb,  ///< several PCIe switches, no host bridge
  P2c,  ///< GPU over C2C to its CPU, then PCIe to the NIC
  Pxn,  ///< through a GPU on NVLink that is close to the NIC
  Phb,  ///< through a host bridge
  Sys,  ///< between CPU sockets
  Net,  ///< over the network
  Dis,  ///< no path
};

/// Which of two ways from one part of a node to another NCCL takes.
enum class PathPreference : std::uint8_t {
  FewestLinks,  ///< then the widest (up to 2.29)
  BestType,     ///< then the widest, then the fewest links (2.30)
};

/// Shapes in which the search places a channel on a node; the values are those of NCCL's graph files.
enum class Pattern : std::uint8_t {
  BalancedTree = 1,
  SplitTree = 2,
  Tree = 3,
  Ring = 4,
  Nvls = 5,
  CollNetDirect = 6,
};

/// One search channel on a node: the GPUs in the order it visits them (rank within the node), and the
/// NICs (`dev` of the topology file) it comes in and goes out by when the communicator has several nodes.
struct GraphChannel {
  std::vector<int> gpus{};
  std::optional<int> nic_in{};
  std::optional<int> nic_out{};
};

/// One graph: what the search found for a pattern.
struct Graph {
  Pattern pattern{Pattern::Ring};
  int cross_nic{0};           ///< 0: stay on the rail, 1: any NIC, 2: alternating rings
  bool same_channels{false};  ///< all channels visit the GPUs in one order
  float bandwidth_intra{0};   ///< GB/s a search channel, inside the node
  float bandwidth_inter{0};   ///< GB/s a search channel, to other nodes
  float latency_inter{0};     ///< us, the latency attribute of the NICs used
  PathType type_intra{PathType::Loc};
  PathType type_inter{PathType::Loc};
  std::vector<GraphChannel> channels{};  ///< NVLS: the head of a channel is its first GPU
};

/// The graphs of one node. The tree has as many channels as the ring, if it could be placed.
struct GraphSet {
  Graph ring{};
  Graph tree{};
  std::optional<Graph> nvls{};  ///< if the node can do NVLS and it is not switched off
  /// If CollNet is enabled and network devices reduce in the network.
  std::optional<Graph> collnet_chain{};
  std::optional<Graph> collnet_direct{};
};

/// The name in NCCL's logs and graph files: "NVL", "PIX", ...
[[nodiscard]] std::string_view name(PathType type);

/// The value of a level variable (NCCL_P2P_LEVEL, NCCL_NET_GDR_LEVEL): the name of a type up to SYS, or a
/// number of old versions (0 LOC, 1 PIX, 2 PXB, 3 PHB, 4 and more SYS). Nothing if it is neither.
[[nodiscard]] std::optional<PathType> path_level(std::string_view text);

}  // namespace collsim::nccl
