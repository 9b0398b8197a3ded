#pragma once

// Routes: which links the bytes of a connection take.
//
// A route follows a path with the fewest links; among those, the widest (largest bandwidth of its
// narrowest link), so that NVLink wins over an equally short way through a PCIe switch. GPUs
// forward nothing. Between nodes a GPU leaves by its nearest NIC (fewest links, then the widest
// way, then the lowest index) and the bytes enter by the receiver's; what is left to choose is the
// fabric's routing: static or spray (see RoutingKind). Where a node has no NIC (explicit graphs),
// the search runs over the whole graph.
//
// Ignored: adaptive routing, failures, PXN.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "topology/graph.hpp"
#include "topology/spec.hpp"

namespace collsim {

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
  /// bandwidth / share. Exact. Requires: at least one hop.
  [[nodiscard]] Rate full_rate(const Graph& graph) const;
  /// The hop that sets full_rate (the first of equals).
  [[nodiscard]] LinkId narrowest(const Graph& graph) const;
};

/// Finds routes. Pure: the same question gives the same answer; keeps only tables of O(devices).
class Router {
 public:
  Router(const Graph& graph, RoutingKind routing);

  /// The route from one GPU to another. Throws: InputError naming both devices if there is none.
  /// Requires: from != to. Complexity: proportional to the links near both ends, not to the
  /// cluster.
  [[nodiscard]] Route route(DeviceId from, DeviceId to) const;

  /// The NIC by which a GPU leaves its node; absent where the node has none it can reach.
  [[nodiscard]] std::optional<DeviceId> nic_of(DeviceId gpu) const;

  [[nodiscard]] RoutingKind routing() const { return routing_; }

 private:
  const Graph* graph_;
  RoutingKind routing_;
  std::vector<std::optional<DeviceId>> nic_of_gpu_;  ///< by position of the GPU's device
  std::vector<std::uint32_t> index_within_leaf_;     ///< by device: its order among its leaf's
};

}  // namespace collsim
