#pragma once

// Routes: which links the bytes of a connection take.
//
// A route follows a path with the fewest links; among those, the widest (largest bandwidth of its
// narrowest link), so that NVLink wins over an equally short way through a PCIe switch. GPUs
// forward nothing. Three searches, the first that finds a way decides:
//   1. without NICs: traffic inside a node (or in a switch that spans nodes) stays there;
//   2. a GPU leaves its node by its nearest NIC (fewest links, then the widest way, then the lowest
//      index), the bytes cross the switches that belong to no node, and enter by the receiver's;
//   3. everywhere, NICs forwarding too.
// Of several paths left, the routing chooses (see RoutingKind). static: at each device, of its n
// next links in order of id, the one numbered i mod n, where i is the index of the destination (of
// search 2: the NIC's) among those attached to the same switch. So traffic to one destination
// always takes the same way, as with InfiniBand's forwarding tables, and parallel links are chosen
// by destination, too. spray: every path carries the same part.
//
// Ignored: adaptive routing, failures, PXN.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "topology/graph.hpp"
#include "topology/spec.hpp"

namespace collsim {

namespace detail {
class PathLayers;
}

/// A link of a route and the part of the bytes that crosses it.
struct RouteHop {
  LinkId link;
  std::uint32_t share_numerator = 1;
  std::uint32_t share_denominator = 1;
};

struct Route {
  std::vector<RouteHop> hops;  ///< in order along the path (sprayed: by distance, then by link)
  Duration latency{};          ///< the sum of the links' latencies (sprayed: the slowest path's)

  /// The largest rate at which bytes can flow with nothing else about: the minimum over the hops of
  /// bandwidth / share. Exact. Requires: at least one hop. Throws: std::overflow_error if it does
  /// not fit a Rate.
  [[nodiscard]] Rate full_rate(const Graph& graph) const;
  /// The hop that sets full_rate (the first of equals).
  [[nodiscard]] LinkId narrowest(const Graph& graph) const;
};

/// Finds routes. Pure: the same question gives the same answer; keeps only tables of O(devices).
class Router {
 public:
  Router(const Graph& graph, RoutingKind routing);

  /// The route from one GPU to another. Throws: InputError naming both devices if there is none.
  /// Throws, too: InputError where spray meets more than 2^32 - 1 paths; std::overflow_error if the
  /// latency exceeds the range of Duration.
  /// Requires: from != to. Complexity: proportional to the links near both ends, not to the
  /// cluster.
  [[nodiscard]] Route route(DeviceId from, DeviceId to) const;

  /// The NIC by which a GPU leaves its node; absent where the node has none it can reach.
  [[nodiscard]] std::optional<DeviceId> nic_of(DeviceId gpu) const;

  [[nodiscard]] RoutingKind routing() const { return routing_; }

 private:
  [[nodiscard]] std::optional<Route> route_by_nics(DeviceId from, DeviceId to) const;
  /// Adds the way along shortest paths that the routing chooses.
  void append(Route& route, const detail::PathLayers& paths, DeviceId to) const;
  void append_fixed(Route& route, const detail::PathLayers& paths, DeviceId to) const;
  void append_sprayed(Route& route, const detail::PathLayers& paths) const;

  const Graph* graph_;
  RoutingKind routing_;
  std::vector<std::optional<DeviceId>> nic_of_gpu_;  ///< by position of the GPU's device
  std::vector<std::uint32_t> index_within_leaf_;     ///< by device: its order among its leaf's
  bool nodes_meet_without_nics_;  ///< whether some link leaves a node with no NIC at either end
};

}  // namespace collsim
