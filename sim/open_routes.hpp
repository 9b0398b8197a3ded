#pragma once

// The routes in use between GPUs, opened in the network when a connection first sends and closed
// when nobody needs them. Each knows what the executor asks about it at every message: its latency,
// and which levels of the hierarchy its time belongs to. Also adds up the bytes that were sent over
// each link, to be compared with what the network moved. Internal to the executor.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/connection_route.hpp"
#include "sim/host_paths.hpp"
#include "sim/link_classes.hpp"
#include "sim/network.hpp"
#include "sim/step_costs.hpp"
#include "topology/cluster.hpp"

namespace collsim::detail {

class OpenRoutes {
 public:
  /// Requires: all outlive the table. `costs` may be absent.
  /// `classes`: of links one of which stands for all; null: each for itself.
  OpenRoutes(const Cluster& cluster, Network& network, const CostParameters* costs,
             const LinkClasses* classes);

  /// Opens the route of a connection for one user. `flows`: equal ones, one of which it is of.
  PathId open(ConnectionRoute&& connection, std::uint32_t flows);
  /// Opens the links of a switch (see switch_route).
  PathId open_switch(SwitchRoute&& path, std::uint32_t flows);
  /// Opens one resource that is no link (see Network::add_resource), which so many flows share for each
  /// that is simulated.
  PathId open_resource(LinkId resource, std::uint32_t crowd);
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
    std::vector<std::uint32_t> crowds;  ///< see CrowdedRoute
    std::uint32_t users = 0;
    bool sprayed = false;
    PathKind kind = PathKind::Nvlink;
    DeviceId sender;
    std::optional<LinkId> host;  ///< beside its links, see HostPaths
    Bytes sent;                  ///< not yet in expected_; 0 where sprayed
  };
  /// `host`: one more resource that it takes, as much as its links.
  PathId take(CrowdedRoute route, PathKind kind, std::optional<LinkId> host = std::nullopt);
  [[nodiscard]] CrowdedRoute crowded(Route&& route, std::uint32_t flows) const;
  void settle_sent(Path& path);

  const Graph* graph_;
  const LinkClasses* classes_;
  Network* network_;
  HostPaths hosts_;
  std::size_t levels_;
  std::vector<Path> paths_;  ///< by PathId
  std::vector<Duration> latencies_;
  std::vector<U128> expected_;  ///< by LinkId, in units of to_fine()
};

}  // namespace collsim::detail
