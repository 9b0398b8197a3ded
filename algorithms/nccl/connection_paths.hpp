#pragma once
// Which transport NCCL takes for a connection of two ranks on a channel, as the devices that the data
// go through: P2P (direct, or through a GPU that both have NVLinks to), shared memory of the host, or
// the network by which NICs, through the GPU next to the NIC (PXN), with GPUDirect RDMA or through the
// memory of the host.
//
// NICs of rings and trees are those of the graph: of a search channel the first GPU has the one it comes
// in by, all others the one it goes out by; a head of NVLS has those of its channels in turn. For sends
// and receives the receiver takes its own NIC, and the sender the NIC that the GPU with the receiver's
// number in its own host takes, if PXN leads there or NCCL_CROSS_NIC is 0; else its own.
// Positions of NICs are by `dev`, as machine_of_node() numbers them.
//
// Assumed: NCCL_P2P_PXN_LEVEL is 2, its default; where NCCL takes the GPUs of a host for several nodes,
// these have equal shares of its NICs, one behind the other. Not modelled: copy engines instead of
// kernels (NCCL_P2P_USE_CUDA_MEMCPY).
//
// Source: NCCL 2.28.9, src/transport.cc, src/transport/p2p.cc, shm.cc, net.cc, src/graph/search.cc
// (ncclTopoGetNetDev), src/graph/paths.cc.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/nccl/decisions.hpp"
#include "algorithms/nccl/vocabulary.hpp"
#include "algorithms/program.hpp"

namespace collsim::nccl {

/// What the transports of a communicator are, in tables. GPUs and NICs are numbered within the node.
struct ConnectionTables {
  /// How two GPUs of a node talk.
  enum class Inside : std::uint8_t { Direct, ThroughGpu, Host, Network };
  struct Pair {
    Inside inside{Inside::Direct};
    std::uint32_t through{0};
  };
  /// Between a GPU and a NIC.
  struct ToNic {
    std::optional<std::uint32_t> through{};  ///< the GPU next to the NIC (PXN)
    bool host{false};                        ///< no GPUDirect RDMA
    bool allowed{true};                      ///< a send may take it, although it is not its own
  };
  using Nic = std::optional<std::uint32_t>;

  std::uint32_t gpus{1};           ///< of what NCCL takes for a node
  std::uint32_t nodes_in_host{1};  ///< that NCCL sees in one host
  std::uint32_t nics{0};
  std::vector<Pair> pairs{};                       ///< [from · gpus + to]; empty: all direct
  std::vector<ToNic> to_nic{};                     ///< [gpu · nics + nic]
  std::vector<std::vector<Nic>> nic_of_channel{};  ///< [channel][gpu]; empty: all as routed
  /// Of sends: [from · gpus + to], the GPU of the sender's host that has the receiver's number in its
  /// own; empty: senders take their own NICs.
  std::vector<std::optional<std::uint32_t>> rail_gpu{};
  bool keeps_to_rail{false};  ///< of sends, even where PXN does not lead there
};

/// Of what an algorithm connects, on the channels of collectives.
[[nodiscard]] ConnectionTables algorithm_connections(const Decisions& decisions,
                                                     Algorithm algorithm);
/// Of sends and receives.
[[nodiscard]] ConnectionTables send_recv_connections(const Decisions& decisions);

/// Channels with the same number have the same waypoints. Shapes: numbers[channel]. NVLS and sends
/// repeat theirs: the pattern goes on for channels beyond.
[[nodiscard]] std::vector<std::size_t> connection_kinds(const ConnectionTables& tables,
                                                        std::size_t channels);

/// Of a connection. Complexity: O(1).
[[nodiscard]] Waypoints waypoints_of(const ConnectionTables& tables, Rank from, Rank to,
                                     std::uint32_t channel);

}  // namespace collsim::nccl
