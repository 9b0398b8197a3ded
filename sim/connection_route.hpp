#pragma once

// What the messages of a send slot take on their way: links with what the lane's protocol makes of the
// bytes, latency by level, the kind of path. The engine opens it in the network; folding compares it
// with those of other lanes. Internal to the executor.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/program.hpp"
#include "sim/step_costs.hpp"
#include "sim/workload.hpp"
#include "topology/cluster.hpp"

namespace collsim::detail {

struct ConnectionRoute {
  /// Each link once, in parts of the message's bytes; the latency is that of all links met.
  Route route;
  std::vector<Duration> latency_by_level;  ///< sums to the route's
  PathKind kind = PathKind::Nvlink;
  DeviceId sender;               ///< the GPU whose proxy serves it: the last one before a NIC
  std::optional<DeviceId> host;  ///< the CPU through whose memory it goes
};

/// A lane of a program on a communicator.
struct LaneOnGpus {
  const Cluster* cluster = nullptr;
  const Program* program = nullptr;
  const Communicator* communicator = nullptr;
  Rank rank;
  std::uint32_t lane = 0;
  LegMemory* legs = nullptr;  ///< of routes found before; null: none are remembered

  [[nodiscard]] DeviceId gpu(Rank of) const { return (*communicator)[of.index()]; }
};

/// Throws: InputError if there is no route, or as stops_of().
[[nodiscard]] ConnectionRoute connection_route(const LaneOnGpus& from, std::uint32_t send_slot,
                                               WireProtocol protocol);

/// The same between two GPUs by way of given devices; none: as routed (see Router::route).
[[nodiscard]] ConnectionRoute connection_route(const Cluster& cluster, DeviceId from, DeviceId to,
                                               std::span<const DeviceId> stops,
                                               std::uint32_t connection, WireProtocol protocol,
                                               LegMemory* legs = nullptr);

/// Whom a step with Movement::Multimem reads from and writes to.
struct SwitchPeers {
  SlotRange receives;
  SlotRange sends;
  bool reads_own = false;
  bool writes_own = false;
  bool operator==(const SwitchPeers&) const = default;
};

struct SwitchRoute {
  Route route;
  PathKind kind = PathKind::Nvlink;
};

/// The links of a switch that joins a GPU with its peers of the same node: what it reads from them, reduced
/// on the way, and what it writes to them, copied on the way. With peers of other nodes those of the tree in
/// which the fabric's switches reduce what all send (see fabric_reduction.hpp).
/// Throws: InputError where one switch does not join them, or as reduction_tree().
[[nodiscard]] SwitchRoute switch_route(const LaneOnGpus& from, const SwitchPeers& peers);

/// Whether links carry other parts than the whole.
[[nodiscard]] bool is_sprayed(const Route& route);

}  // namespace collsim::detail
