#pragma once

// The routes in use between GPUs, opened in the network when a connection first sends and closed
// when nobody needs them. Each knows what the executor asks about it at every message: its latency,
// and which levels of the hierarchy its time belongs to. Also adds up the bytes that were sent over
// each link, to be compared with what the network moved. Internal to the executor.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/network.hpp"
#include "topology/cluster.hpp"

namespace collsim::detail {

class OpenRoutes {
 public:
  /// Requires: cluster and network outlive the table.
  OpenRoutes(const Cluster& cluster, Network& network);

  /// Opens the route of a connection (see Router::route) for one user. Throws: InputError if there is
  /// none.
  PathId open(DeviceId from, DeviceId to, std::uint32_t connection);
  void retain(PathId path) { ++paths_[path.index()].users; }
  /// Closes the path with its last user.
  void release(PathId path);

  /// Counts what is sent. Complexity: O(1), O(hops) on sprayed routes.
  void count(PathId path, Bytes bytes);

  [[nodiscard]] const Route& route(PathId path) const { return paths_[path.index()].route; }
  [[nodiscard]] Duration latency(PathId path) const { return paths_[path.index()].route.latency; }
  /// The route's latency by level; sums to latency().
  [[nodiscard]] std::span<const Duration> latency_by_level(PathId path) const {
    return {latencies_.data() + path.index() * levels_, levels_};
  }
  [[nodiscard]] LevelId level_of(LinkId link) const { return graph_->link(link).level; }

  /// Compares what was sent with what the network moved. Throws: InternalError naming the link.
  void check_links();

 private:
  struct Path {
    Route route;
    std::uint32_t users = 0;
    bool sprayed = false;
    Bytes sent;  ///< not yet in expected_; 0 where sprayed
  };
  void attribute_latency(PathId path);
  void settle_sent(Path& path);

  const Graph* graph_;
  const Router* router_;
  Network* network_;
  std::size_t levels_;
  std::vector<Path> paths_;  ///< by PathId
  std::vector<Duration> latencies_;
  std::vector<U128> expected_;  ///< by LinkId, in units of to_fine()
};

}  // namespace collsim::detail
