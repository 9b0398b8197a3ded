#pragma once
// NCCL's environment variables that change what it decides, as one plain struct, and how their text
// is read. What is absent is left to NCCL.
//
// A variable that is not modelled is refused by its name, never ignored; a value out of range is
// refused where NCCL would warn and clamp. Source: NCCL 2.28.9, src/graph/tuning.cc, connect.cc,
// paths.cc, src/enqueue.cc, src/init.cc, src/transport/nvls.cc; NCCL user guide, environment variables.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/nccl/graph.hpp"
#include "algorithms/nccl/restriction.hpp"

namespace collsim::nccl {

/// NCCL_NVLS_ENABLE and NCCL_PAT_ENABLE: off, on, or NCCL's own rule.
enum class Switch : std::uint8_t { Off = 0, On = 1, Auto = 2 };

struct Configuration {
  Restriction algorithms{};  ///< NCCL_ALGO
  Restriction protocols{};   ///< NCCL_PROTO; naming LL128 (or not excluding it by ^) forces it

  // Channels. Absent: no limit.
  std::optional<int> min_channels{};           ///< NCCL_MIN_NCHANNELS
  std::optional<int> max_channels{};           ///< NCCL_MAX_NCHANNELS
  std::optional<int> min_ctas{};               ///< NCCL_MIN_CTAS
  std::optional<int> max_ctas{};               ///< NCCL_MAX_CTAS
  std::optional<int> nvls_channels{};          ///< NCCL_NVLS_NCHANNELS
  std::optional<int> min_p2p_channels{};       ///< NCCL_MIN_P2P_NCHANNELS
  std::optional<int> max_p2p_channels{};       ///< NCCL_MAX_P2P_NCHANNELS
  std::optional<int> channels_per_net_peer{};  ///< NCCL_NCHANNELS_PER_NET_PEER

  // Threads.
  std::optional<int> threads{};        ///< NCCL_NTHREADS: Ring and Tree with Simple and LL
  std::optional<int> ll128_threads{};  ///< NCCL_LL128_NTHREADS
  /// NCCL_THREAD_THRESHOLDS: bytes a thread for Tree LL, LL128, Simple, Ring LL, LL128, Simple;
  /// negative: keep NCCL's.
  std::optional<std::array<std::int64_t, 6>> thread_thresholds{};

  // Buffers and chunks, in bytes.
  std::optional<std::int64_t> buffer{};            ///< NCCL_BUFFSIZE
  std::optional<std::int64_t> ll_buffer{};         ///< NCCL_LL_BUFFSIZE
  std::optional<std::int64_t> ll128_buffer{};      ///< NCCL_LL128_BUFFSIZE
  std::optional<std::int64_t> net_chunk{};         ///< NCCL_P2P_NET_CHUNKSIZE
  std::optional<std::int64_t> pci_chunk{};         ///< NCCL_P2P_PCI_CHUNKSIZE
  std::optional<std::int64_t> nvlink_chunk{};      ///< NCCL_P2P_NVL_CHUNKSIZE
  std::optional<std::int64_t> send_recv_chunk{};   ///< NCCL_CHUNK_SIZE
  std::optional<std::int64_t> nvls_chunk{};        ///< NCCL_NVLS_CHUNKSIZE
  std::optional<std::int64_t> nvls_tree_chunk{};   ///< NCCL_NVLSTREE_MAX_CHUNKSIZE
  std::optional<std::int64_t> p2p_ll_threshold{};  ///< NCCL_P2P_LL_THRESHOLD, a channel
  bool ll_buffers_for_network = false;             ///< NCCL_ALLOC_P2P_NET_LL_BUFFERS
  std::optional<int> schedule_group{};             ///< NCCL_P2P_SCHEDULE_GROUP_SIZE

  // Kernels on symmetric memory.
  std::optional<int> symmetric_ctas{};  ///< NCCL_SYM_CTAS; 0: NCCL's choice
  std::string symmetric_kernel{};       ///< NCCL_SYM_KERNEL; empty: NCCL's choice

  // What is there at all.
  Switch nvls = Switch::Auto;            ///< NCCL_NVLS_ENABLE
  Switch pat = Switch::Auto;             ///< NCCL_PAT_ENABLE
  bool collnet = false;                  ///< NCCL_COLLNET_ENABLE
  int collnet_nodes = 2;                 ///< NCCL_COLLNET_NODE_THRESHOLD
  bool ll128_over_c2c = true;            ///< NCCL_LL128_C2C
  std::optional<int> net_overhead_ns{};  ///< NCCL_NET_OVERHEAD

  // For paths and the graph search.
  std::optional<int> cross_nic{};           ///< NCCL_CROSS_NIC
  bool pxn_disabled = false;                ///< NCCL_PXN_DISABLE
  bool p2p_disabled = false;                ///< NCCL_P2P_DISABLE
  std::optional<PathType> p2p_level{};      ///< NCCL_P2P_LEVEL
  bool shm_disabled = false;                ///< NCCL_SHM_DISABLE
  std::optional<PathType> net_gdr_level{};  ///< NCCL_NET_GDR_LEVEL
  std::string topo_file{};                  ///< NCCL_TOPO_FILE
  std::string graph_file{};                 ///< NCCL_GRAPH_FILE
};

/// Sets what `name` (the full name, "NCCL_ALGO") says. Throws: InputError (path: the name) with what
/// was found, what is accepted and the nearest name.
void parse_variable(Configuration& configuration, std::string_view name, std::string_view value);

/// All names that parse_variable takes.
[[nodiscard]] std::vector<std::string> variable_names();

}  // namespace collsim::nccl
