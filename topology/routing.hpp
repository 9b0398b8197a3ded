#pragma once

// Routes: which links the bytes of a connection take.
//
// A route follows a path with the fewest links; among those, the widest (largest bandwidth of its
// narrowest link), so that NVLink wins over an equally short way through a PCIe switch. GPUs
// forward nothing. Three searches, the first that finds a way decides:
//   1. without NICs: traffic inside a node (or in a switch that spans nodes) stays there;
//   2. a GPU leaves its node by its NICs (see NicChoice; nearest: fewest links, then the widest way,
//      then the lowest index), the bytes cross the switches that belong to no node, and enter by the
//      receiver's. Several NICs carry equal parts (striped). rail-aligned (NCCL's PXN): they leave by the
//      NICs that have the receiver's places in their node, and go to the GPU that owns such a NIC first;
//   3. everywhere, NICs forwarding too.
// Of several paths left, the routing chooses (see RoutingKind). static: at each device, of its n
// next links in order of id, the one numbered i mod n, where i is the index of the destination (of
// search 2: the NIC's) among those attached to the same switch. In a tree of switches: upwards from
// tier t the next link is the one numbered d mod n, where d is, for t = 0, that index; for t = 1, the
// number of the destination's leaf in its pod; and so on. Downwards it is the way, reversed, that these
// numbers give from the destination's leaf up (Zahavi's D-mod-K). In a torus: along x, then y, then z
// (see torus_routing.hpp). So traffic to one destination
// always takes the same way, as with InfiniBand's forwarding tables, and parallel links are chosen
// by destination, too. spray: every path carries the same part, at most 2^19 of them (shares are exact). ecmp: at each device, one of the next
// links by a hash of seed, source, destination, connection and device, so that a connection keeps its
// path; a switch chip's hash is another one, but as even.
// In a dragonfly, paths stay in the groups of both ends (minimal routing).
//
// Ignored: adaptive routing, failures.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "topology/first_hops.hpp"
#include "topology/graph.hpp"
#include "topology/leg_memory.hpp"
#include "topology/nearest_nic.hpp"
#include "topology/spec.hpp"

namespace collsim {

namespace detail {
class PathLayers;
class Scope;
struct RouteLeg;
}  // namespace detail

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

struct RoutingOptions {
  RoutingKind routing = RoutingKind::Fixed;
  NicChoice nic_choice = NicChoice::Nearest;
  std::uint32_t seed = 0;  ///< of ecmp's hash
};

/// Finds routes. Pure: the same question gives the same answer; keeps only tables of O(devices).
class Router {
 public:
  Router(const Graph& graph, RoutingOptions options);

  /// The route from one GPU to another; `connection` tells apart those of the same two GPUs, for ecmp.
  /// Throws: InputError naming both devices if there is none.
  /// Throws, too: RangeError at `fabric.routing` where a route would be sprayed over more than 2^19
  /// paths; std::overflow_error if the latency exceeds the range of Duration.
  /// Requires: from != to. Complexity: proportional to the links near both ends, not to the
  /// cluster; O(hops) where `memory` knows its parts. A memory serves one router.
  [[nodiscard]] Route route(DeviceId from, DeviceId to, std::uint32_t connection = 0,
                            LegMemory* memory = nullptr) const;

  /// The route from one GPU to another by way of given devices, in this order: GPUs, CPUs and NICs, of the
  /// sender's node up to a NIC, of the receiver's from there on. From each to the next one the shortest
  /// way, as search 2 goes: GPUs and NICs between them forward nothing. Stops that are where the route
  /// is already change nothing. A link that is crossed twice stands twice (see
  /// detail::each_link_once).
  /// Throws: InputError naming both devices if there is no path from one to the next.
  [[nodiscard]] Route route_through(DeviceId from, DeviceId to, std::span<const DeviceId> stops,
                                    std::uint32_t connection = 0,
                                    LegMemory* memory = nullptr) const;
  /// The CPU with the fewest links from a GPU, within its node; the first of equals. Absent: the GPU
  /// reaches none. Complexity: O(links of the devices met).
  [[nodiscard]] std::optional<DeviceId> cpu_of(DeviceId gpu) const;

  /// The NICs by which a GPU's bytes enter its node, and leave it unless rails are aligned; empty where
  /// the node has none it can reach.
  [[nodiscard]] std::span<const DeviceId> nics_of(DeviceId gpu) const {
    const NicRange& range = nic_range_[gpu.index()];
    return std::span(nics_).subspan(range.first, range.count);
  }

  /// Whether search 1 comes first.
  [[nodiscard]] bool may_meet_without_nics(DeviceId from, DeviceId to) const;
  /// The legs of a route by NICs (search 2), one row for each of the ways side by side; no row where
  /// an end has no NIC. Whether there are paths for them is not looked at.
  [[nodiscard]] std::vector<std::vector<detail::RouteLeg>> legs_by_nics(DeviceId from,
                                                                        DeviceId to) const;

  [[nodiscard]] const RoutingOptions& options() const { return options_; }

 private:
  /// One of the ways side by side on which a route between nodes goes.
  struct Stripe {
    DeviceId leaves_from;  ///< the GPU next to `out`: the sender, or the one that owns the rail
    DeviceId out;
    DeviceId in;
  };
  /// How static forwarding reaches a NIC through a tree of switches.
  struct StaticWay {
    std::vector<std::uint32_t> numbers;  ///< by tier: which of the links up
    std::vector<LinkId> down;            ///< the links that lead to it from above
  };
  /// The NICs of a GPU, in nics_.
  struct NicRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  /// The devices at which one part of a stripe ends and the next begins: the sender first.
  struct StripeEnds {
    std::array<DeviceId, 5> devices;
    std::size_t count = 0;
  };
  /// What tells a path apart for the choice between equals.
  struct Flow {
    DeviceId from;
    DeviceId to;
    std::uint32_t connection = 0;
  };

  /// What lies between two NICs.
  [[nodiscard]] detail::Scope fabric_between(DeviceId out, DeviceId in) const;
  /// What lies between two stops of a route.
  [[nodiscard]] detail::Scope scope_between(DeviceId from, DeviceId to) const;
  [[nodiscard]] std::vector<Stripe> stripes(DeviceId from, DeviceId to) const;
  [[nodiscard]] std::vector<Stripe> aligned_stripes(DeviceId from, DeviceId to) const;
  [[nodiscard]] static StripeEnds ends_of(DeviceId from, const Stripe& stripe, DeviceId to);
  [[nodiscard]] std::vector<DeviceId> choose_nics(DeviceId gpu) const;
  [[nodiscard]] std::optional<Route> route_by_nics(const Flow& flow, LegMemory* memory) const;
  [[nodiscard]] bool append_stripe(Route& route, const StripeEnds& ends, std::uint32_t connection,
                                   LegMemory* memory) const;
  [[nodiscard]] bool append_leg(Route& route, const Flow& leg, LegMemory* memory) const;
  [[nodiscard]] bool append_short_way(Route& route, const Flow& leg) const;
  [[nodiscard]] Route search_leg(const Flow& leg) const;
  [[nodiscard]] static bool append_part(Route& route, const Route& part);
  [[nodiscard]] bool append_known(Route& route, const LegMemory::Leg& known,
                                  const detail::FirstHop& first) const;
  [[nodiscard]] detail::FirstHop first_hop(const Flow& leg) const;
  /// Adds the way along shortest paths that the routing chooses.
  void append(Route& route, const detail::PathLayers& paths, const Flow& flow) const;
  template <class Choose>
  void append_one(Route& route, const detail::PathLayers& paths, Choose choose) const;
  void append_static(Route& route, const detail::PathLayers& paths, DeviceId to) const;
  [[nodiscard]] StaticWay static_way(DeviceId nic) const;
  void append_sprayed(Route& route, const detail::PathLayers& paths) const;

  const Graph* graph_;
  RoutingOptions options_;
  detail::NearestNics nearest_nics_;
  std::vector<DeviceId> nics_;       ///< GPU by GPU
  std::vector<NicRange> nic_range_;  ///< by device; GPUs alone have one
  std::vector<std::optional<DeviceId>>
      owner_of_nic_;                              ///< by device: the first GPU that uses the NIC
  std::vector<detail::FirstHop> first_hops_;      ///< by device
  std::vector<std::uint32_t> index_within_leaf_;  ///< by device: its order among its leaf's
  bool nodes_meet_without_nics_;  ///< whether some link leaves a node with no NIC at either end
};

}  // namespace collsim
