#pragma once

// The routes in use between GPUs, opened in the network when a connection first sends and closed
// when nobody needs them. Each knows what the executor asks about it at every message: its latency,
// and which levels of the hierarchy its time belongs to. Also adds up the bytes that were sent over
// each link, to be compared with what the network moved. Internal to the executor.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/host_paths.hpp"
#include "sim/network.hpp"
#include "sim/step_costs.hpp"
#include "topology/cluster.hpp"

namespace collsim::detail {

class OpenRoutes {
 public:
  /// Requires: all outlive the table. `costs` may be absent.
  OpenRoutes(const Cluster& cluster, Network& network, const CostParameters* costs);

  /// Opens the route of a connection (see Router::route) for one user; links carry what the protocol
  /// makes of the bytes. Throws: InputError if there is none.
  PathId open(DeviceId from, DeviceId to, std::uint32_t connection, WireProtocol protocol);
  /// The same by way of given devices (see Router::route_through).
  PathId open_through(DeviceId from, DeviceId to, std::span<const DeviceId> stops,
                      std::uint32_t connection, WireProtocol protocol);
  /// Opens the links of a switch that joins `gpu` with its peers: what it reads from the readers,
  /// reduced on the way, and what it writes to the writers, copied on the way; itself among them or not.
  /// Throws: InputError where one switch does not join them.
  PathId open_multimem(DeviceId gpu, std::span<const DeviceId> read_from,
                       std::span<const DeviceId> write_to);
  /// Opens a tree of links between GPUs, over which switches reduce what goes to the root and send the
  /// result back: each link of the routes to the root once, and the one against it once.
  /// Throws: InputError where there is no link back, or the routes do not make a tree.
  PathId open_reduction(std::span<const Route> to_root);
  /// Opens one resource that is no link (see Network::add_resource).
  PathId open_resource(LinkId resource);
  void retain(PathId path) { ++paths_[path.index()].users; }
  /// Closes the path with its last user.
  void release(PathId path);

  /// Counts what is sent, so many times. Complexity: O(1), O(hops) where links carry other parts than
  /// the whole.
  void count(PathId path, Bytes bytes, std::uint32_t multiplicity = 1);

  [[nodiscard]] const Route& route(PathId path) const { return paths_[path.index()].route; }
  [[nodiscard]] PathKind kind(PathId path) const { return paths_[path.index()].kind; }
  /// The GPU whose proxy serves the path: the last one before a NIC.
  [[nodiscard]] DeviceId sender(PathId path) const { return paths_[path.index()].sender; }
  [[nodiscard]] Duration latency(PathId path) const { return paths_[path.index()].route.latency; }
  /// The route's latency by level; sums to latency().
  [[nodiscard]] std::span<const Duration> latency_by_level(PathId path) const {
    return {latencies_.data() + path.index() * levels_, levels_};
  }
  /// Absent: it is no link, but the memory of a host.
  [[nodiscard]] std::optional<LevelId> level_of(LinkId link) const {
    return link.index() < expected_.size() ? std::optional(graph_->link(link).level) : std::nullopt;
  }

  /// Compares what was sent with what the network moved. Throws: InternalError naming the link.
  void check_links();

 private:
  struct Path {
    Route route;
    std::uint32_t users = 0;
    bool sprayed = false;
    PathKind kind = PathKind::Nvlink;
    DeviceId sender;
    std::optional<LinkId> host;  ///< beside its links, see HostPaths
    Bytes sent;                  ///< not yet in expected_; 0 where sprayed
  };
  /// `host`: one more resource that it takes, as much as its links.
  PathId take(Route route, PathKind kind, std::optional<LinkId> host = std::nullopt);
  /// Along the links of a route in their order.
  void attribute_latency(PathId path, const Route& route);
  void settle_sent(Path& path);

  const Graph* graph_;
  const Router* router_;
  Network* network_;
  HostPaths hosts_;
  std::size_t levels_;
  std::vector<Path> paths_;  ///< by PathId
  std::vector<Duration> latencies_;
  std::vector<U128> expected_;  ///< by LinkId, in units of to_fine()
};

}  // namespace collsim::detail
