#pragma once
// The numbers and rules of NCCL's decisions that changed from version to version, as data: one file
// configs/parameters/nccl-tuning-*.yaml for each range of versions (see io/read_constants.hpp).
//
// Latencies are us, bandwidths GB/s (1e9 B/s). They are `double`, as in NCCL, which rounds them to
// `float` where it uses them; so does the code that reads them.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/nccl/graph.hpp"
#include "algorithms/nccl/vocabulary.hpp"

namespace collsim::nccl {

enum class Generation : std::uint8_t { Volta, Ampere, Hopper, Blackwell };
inline constexpr std::array generations{Generation::Volta, Generation::Ampere, Generation::Hopper,
                                        Generation::Blackwell};
template <class Value>
using ByGeneration = EnumTable<Generation, Value, generations.size()>;

/// The generation whose row stands for a compute capability.
[[nodiscard]] Generation generation_of(int sm);

/// What a hop runs over.
enum class Hop : std::uint8_t { NvLink, Pci, Network };
inline constexpr std::array hops{Hop::NvLink, Hop::Pci, Hop::Network};

/// How many nodes: a column of the tables of caps.
enum class Scale : std::uint8_t { OneNode, TwoNodes, MoreNodes };
inline constexpr std::array scales{Scale::OneNode, Scale::TwoNodes, Scale::MoreNodes};

[[nodiscard]] Scale scale_of(int nodes);

using LatencyTable = ByAlgorithm<ByProtocol<double>>;
using CapTable = ByGeneration<EnumTable<Scale, double, scales.size()>>;

/// Bandwidth of NVLS from its graph.
enum class NvlsBandwidth : std::uint8_t {
  Efficiency,  ///< graph × efficiency × (channels-1)/channels, AllReduce twice that (2.28)
  Graph,       ///< the lesser of inside and outside; AG and RS lose their own part (2.27)
  Lesser,      ///< the lesser of inside and outside (up to 2.26)
};

/// The share of the ring's bandwidth that LL reaches.
enum class RingLL : std::uint8_t {
  Half,            ///< 0.5
  QuarterOrThird,  ///< 1/4 for AllReduce, Reduce and several nodes, else 1/3 (up to 2.20)
};

/// Which hops of a ring over several nodes go over the network, in an AllReduce.
enum class RingNetworkHops : std::uint8_t {
  Links,  ///< 2(N-1)
  Nodes,  ///< 2N (up to 2.20)
};

/// Which GPUs may mix under LL128, and which may use it.
enum class LL128Gpus : std::uint8_t {
  Listed,            ///< those of a list, all alike (up to 2.26)
  Alike,             ///< sm 70 and up, all alike
  AlikeOrFromHopper  ///< sm 70 and up, alike or all sm 90 and up (2.30)
};

/// Channels of a send/recv to a rank of another node.
enum class RemoteChannels : std::uint8_t {
  Nics,       ///< two, halved in large communicators, at least the GPU's NICs (up to 2.28)
  Bandwidth,  ///< as many as the bandwidth of the NICs asks for, then halved (2.29)
};

/// What the LL threshold of send/recv counts.
enum class SendRecvLL : std::uint8_t {
  ChannelsPerPeer,  ///< and parts are cut for LL's slots (up to 2.28)
  ChannelsUsed,     ///< parts are cut as for Simple first (2.29)
};

/// Into how many parts a send or receive is cut, one a channel.
enum class SendRecvParts : std::uint8_t {
  Spread,      ///< as many as all peers can have at once, more where parts would be long
  WholeSteps,  ///< of whole 2 MiB (four slots), as few as there may be (2.7)
};

/// Which rounds of sends and receives a block may serve side by side, up to eight.
enum class SendRecvBatches : std::uint8_t {
  AnyRounds,  ///< (up to 2.28)
  SameEight,  ///< of the same eight: 0 to 7, 8 to 15, … (2.29)
};

/// NVLS channels and chunks on several nodes of sm 100 and up.
enum class NvlsNetwork : std::uint8_t {
  Fixed,
  ByNics,  ///< by nodes, ranks per node and speed of the NICs (2.30)
};

/// Bandwidth of AllGather and ReduceScatter with CollNetDirect.
enum class CollNetGather : std::uint8_t {
  Network,       ///< a rank's share of a NIC
  Interpolated,  ///< inside a node, by a factor from 0.95 (one rank) to 0.85 (eight) (up to 2.26)
};

/// What happens when NCCL_ALGO and NCCL_PROTO leave nothing.
enum class NothingLeft : std::uint8_t { Error, Ring };

struct NvlsChannels {
  int one_node{0};
  int several_nodes{0};
};

/// Bandwidth of one NVLink, each direction, from a compute capability on.
struct NvlinkRow {
  int from_sm{0};
  double bandwidth{0};
};

/// The speeds a graph search tries, fastest first, from a compute capability on.
struct SpeedLadder {
  int from_sm{0};
  std::vector<double> one_node{};
  std::vector<double> several_nodes{};
};

struct TuningConstants {
  std::string name{};  ///< of the file: "2.28"

  LatencyTable base_latency{};
  EnumTable<Hop, LatencyTable, hops.size()> hop_latency{};
  double collnet_serialization{0};  ///< us a local peer, CollNetDirect
  double pat_step_share{0};         ///< a PAT step's part of the network latency is 1 / this
  double pat_per_rank{0};           ///< us a rank, PAT

  CapTable ll_cap{};          ///< of the whole operation; several nodes: row by CPU vendor
  CapTable ring_ll128_cap{};  ///< a search channel
  CapTable tree_ll128_cap{};  ///< a search channel
  CapTable tree_cap{};        ///< a search channel
  CapTable nvls_tree_cap{};   ///< a search channel; read with NvlsBandwidth::Efficiency
  ByGeneration<double> nvls_efficiency{};
  double ring_ll128_share{0};
  double ring_ll128_share_one_gpu{0};  ///< where a node has less than two ranks
  /// GB/s a search channel with LL128 by function, in their order; empty: no such cap.
  std::vector<double> ring_ll128_function_cap{};
  double ring_share_from_ampere{0};  ///< of a ring's bandwidth, sm 80 and up
  /// By floor(log2(bytes / 64)); 1 beyond the end.
  ByProtocol<std::vector<double>> tree_correction{};
  /// The same for NVLSTree on sm 100 and x86; empty: no correction.
  std::vector<double> nvls_tree_correction{};

  RingLL ring_ll{RingLL::Half};
  RingNetworkHops ring_network_hops{RingNetworkHops::Links};
  /// With one rank a node every algorithm has Tree's network latency.
  bool one_gpu_uses_tree_latency{true};
  bool has_nvls{true};
  NvlsBandwidth nvls_bandwidth{NvlsBandwidth::Efficiency};
  bool nvls_gather_converted{false};     ///< AG and RS of NVLS count as AllReduce does
  bool nvls_gathers_over_network{true};  ///< NVLS has AG and RS over several nodes
  CollNetGather collnet_gather{CollNetGather::Network};
  LL128Gpus ll128_gpus{LL128Gpus::Alike};
  std::vector<int> ll128_listed{};  ///< compute capabilities, for LL128Gpus::Listed
  /// A NIC behind the CPU that a GPU has C2C to is closer (P2C) than one behind another bridge.
  bool nics_over_c2c{true};
  PathPreference path_preference{PathPreference::FewestLinks};
  NothingLeft nothing_left{NothingLeft::Error};
  bool function_lists{true};  ///< NCCL_ALGO and NCCL_PROTO may name functions
  bool has_pat{true};
  bool has_symmetric_kernels{true};
  bool has_copy_engine_collectives{true};

  int max_ranks_per_node{0};
  int max_channels{0};
  int max_nvls_heads{0};
  NvlsChannels hopper_nvls{};
  NvlsChannels blackwell_nvls{};
  NvlsNetwork nvls_network{NvlsNetwork::Fixed};
  bool nvls_raises_channels{false};  ///< collective channels are at least the NVLS channels

  RemoteChannels remote_channels{RemoteChannels::Nics};
  double remote_channel_bandwidth{0};  ///< GB/s a channel; read with RemoteChannels::Bandwidth
  SendRecvLL send_recv_ll{SendRecvLL::ChannelsPerPeer};
  std::int64_t send_recv_ll_threshold{0};  ///< bytes a channel
  SendRecvParts send_recv_parts{SendRecvParts::Spread};
  SendRecvBatches send_recv_batches{SendRecvBatches::AnyRounds};
  std::int64_t net_chunk{0};  ///< bytes; several nodes
  std::int64_t pci_chunk{0};
  std::int64_t nvlink_chunk{0};

  std::vector<NvlinkRow> nvlink{};    ///< ascending
  double sapphire_rapids_sockets{0};  ///< GB/s between two CPUs of the sort
  double emerald_rapids_sockets{0};
  std::vector<SpeedLadder> speeds{};  ///< ascending
};

}  // namespace collsim::nccl
