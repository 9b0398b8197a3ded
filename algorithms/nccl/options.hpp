#pragma once
// What decides NCCL's view of a node and its graph search apart from the node itself: the constants
// of the version (defaults: 2.28.9) and the variables of the user.
//
// Source: NCCL 2.28.9, src/graph/topo.h, src/graph/paths.cc, src/graph/search.cc.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/nccl/graph.hpp"

namespace collsim::nccl {

/// The bandwidth of one NVLink, GB/s in each direction, for compute capabilities of a range.
struct NvlinkSpeed {
  int least_sm{0};
  int most_sm{0};
  float bandwidth{0};
};

/// What links carry that the topology file does not say, GB/s in each direction.
struct LinkSpeeds {
  float local{5000.0F};  ///< inside a device
  std::vector<NvlinkSpeed> nvlink{{100, 9999, 40.1F}, {90, 99, 20.6F}, {86, 86, 12.0F},
                                  {80, 89, 20.0F},    {70, 79, 20.0F}, {60, 69, 18.0F}};
  float nvlink_otherwise{20.0F};
  float amd{16.0F};  ///< this and those below: between the CPUs of a host
  float intel_broadwell{6.0F};
  float intel_skylake{10.0F};
  float intel_sapphire_rapids{22.0F};
  float intel_emerald_rapids{40.0F};
  float power{32.0F};
  float arm{6.0F};
  float zhaoxin{6.0F};
  float zhaoxin_yongfeng{9.0F};
};

/// The speeds that the search tries, GB/s a channel, from the highest.
struct SearchSpeeds {
  int least_sm{0};
  std::vector<float> one_node{};
  std::vector<float> several_nodes{};
};

/// Constants of the search.
struct SearchConstants {
  /// By falling least_sm; the first that fits counts.
  std::vector<SearchSpeeds> speeds{
      {100,
       {90, 80, 70, 60, 50, 40, 30, 24, 20, 19, 18},
       {96, 48, 45.1F, 42, 40, 30, 24, 22, 20, 17.5F, 15, 12, 6, 3, 2.4F, 1.2F, .24F, .12F}},
      {90,
       {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3},
       {48, 45, 42, 40, 30, 24, 22, 20, 17.5F, 15, 12, 6, 3, 2.4F, 1.2F, .24F, .12F}},
      {0,
       {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3},
       {48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4F, 1.2F, .24F, .12F}}};
  std::size_t most_channels{32};
  std::size_t most_nvls_heads{32};
  std::size_t most_direct_heads{8};  ///< CollNet direct
  int visits_in_all{1 << 19};      ///< GPUs visited over all attempts, before it takes what it has
  int visits_an_attempt{1 << 14};  ///< GPUs visited in one attempt
  int visits_same_channels{1 << 8};     ///< the same where all channels must be equal
  int visits_reference_order{1 << 10};  ///< for GPUs in the order of the file, tried first
};

/// How many NICs one GPU uses (NCCL_NETDEVS_POLICY).
enum class NicsPerGpu : std::uint8_t {
  Auto,  ///< those local to it, shared evenly with its neighbours
  All,   ///< all that are local to it
  Most,  ///< at most a number
};

/// The variables that change what NCCL knows of a node: links, paths, devices.
struct DetectOptions {
  LinkSpeeds link_speeds{};
  bool p2p_disable{false};
  std::optional<PathType> p2p_level{};
  bool shm_disable{false};
  bool net_disable_intra{false};
  bool nvb_disable{false};
  bool pxn_disable{false};
  bool pxn_c2c{true};
  PathPreference path_preference{PathPreference::FewestLinks};
  bool nics_over_c2c{true};  ///< GPU over C2C to its CPU, then PCIe to the NIC: P2C, else PHB
  std::optional<PathType> net_gdr_level{};
  bool net_gdr_c2c{true};
  NicsPerGpu nics_per_gpu{NicsPerGpu::Auto};
  int most_nics_per_gpu{0};  ///< for NicsPerGpu::Most
};

/// The variables that change the search itself.
struct SearchOptions {
  SearchConstants constants{};
  int cross_nic{2};  ///< 0: never leave by another rail, 1: always allowed, 2: if it helps
  bool nvls_enable{true};
  bool collnet_enable{false};  ///< and a plugin that reduces in the network
  bool scatter_nics{true};     ///< NVLink domains over several hosts: NICs of all GPUs in turn
  /// Graphs of a file (NCCL_GRAPH_FILE), which replace what would be searched if they have channels.
  std::optional<Graph> given_ring{};
  std::optional<Graph> given_tree{};
  std::optional<Graph> given_nvls{};
};

}  // namespace collsim::nccl
