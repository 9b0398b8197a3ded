#pragma once

// The routes in use between GPUs, opened in the network when a connection first sends and closed
// when nobody needs them. Each knows what the executor asks about it at every message: its latency,
// and which levels of the hierarchy its time belongs to. Also adds up the bytes that were sent over
// each link, to be compared with what the network moved. The hops are the network's; routes whose time goes to
// the same levels share one row of latencies. Internal to the executor.

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
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

  /// See Network::expect.
  void expect(std::size_t paths);

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

  /// Its links, without the memory of a host. Complexity: O(hops).
  [[nodiscard]] Route route(PathId path) const;
  [[nodiscard]] PathKind kind(PathId path) const { return paths_[path.index()].kind; }
  /// The GPU whose proxy serves the path: the last one before a NIC.
  [[nodiscard]] DeviceId sender(PathId path) const { return paths_[path.index()].sender; }
  [[nodiscard]] Duration latency(PathId path) const { return paths_[path.index()].latency; }
  /// The route's latency by level; sums to latency().
  [[nodiscard]] std::span<const Duration> latency_by_level(PathId path) const {
    return {latencies_.data() + paths_[path.index()].latency_row * levels_, levels_};
  }
  /// Absent: it is no link, but the memory of a host.
  [[nodiscard]] std::optional<LevelId> level_of(LinkId link) const {
    return link.index() < expected_.size() ? std::optional(graph_->link(link).level) : std::nullopt;
  }

  /// Compares what was sent with what the network moved. Throws: InternalError naming the link.
  void check_links();

 private:
  struct Path {
    Bytes sent;  ///< not yet in expected_; 0 where sprayed
    Duration latency{};
    std::uint32_t latency_row = 0;  ///< in latencies_
    std::uint32_t users = 0;
    DeviceId sender;
    std::optional<LinkId> host;  ///< beside its links, see HostPaths
    PathKind kind = PathKind::Nvlink;
    bool sprayed = false;
  };
  static_assert(sizeof(Path) <= 40, "there may be millions");

  /// `host`: one more resource that it takes, as much as its links.
  PathId take(const CrowdedRoute& route, PathKind kind, std::optional<LinkId> host = std::nullopt);
  [[nodiscard]] CrowdedRoute crowded(Route&& route, std::uint32_t flows) const;
  [[nodiscard]] std::uint32_t row_of(std::span<const Duration> latency_by_level);
  void settle_sent(PathId id);
  void expect_on(const ResourceUse& hop, U128 fine_bytes);

  const Graph* graph_;
  const LinkClasses* classes_;
  Network* network_;
  HostPaths hosts_;
  std::size_t levels_;
  std::vector<Path> paths_;          ///< by PathId
  std::vector<Duration> latencies_;  ///< rows by level, of which the first is zero
  std::unordered_map<std::uint64_t, std::uint32_t> rows_;  ///< by hash; never iterated over
  std::vector<U128> expected_;                             ///< by LinkId, in units of to_fine()
};

}  // namespace collsim::detail
