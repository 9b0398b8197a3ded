#pragma once

// A cluster ready for use: the description, its frozen graph and its router.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/graph.hpp"
#include "topology/routing.hpp"
#include "topology/spec.hpp"

namespace collsim {

class Cluster {
 public:
  /// Throws: InputError with the document path of what cannot be built (see build_graph).
  explicit Cluster(ClusterSpec spec);

  [[nodiscard]] const ClusterSpec& spec() const { return spec_; }
  [[nodiscard]] const std::string& name() const { return spec_.name; }
  [[nodiscard]] const Graph& graph() const { return *graph_; }
  [[nodiscard]] const Router& router() const { return router_; }

 private:
  ClusterSpec spec_;
  std::unique_ptr<const Graph>
      graph_;  ///< on the heap, so that the router's pointer survives moves
  Router router_;
};

/// Builds the graph a description stands for: node templates × count joined by the fabric, or the
/// explicit graph. Level names: the link kind inside a node; "leaf" (NIC to first switch),
/// "spine", "core", … in a tree, "local" and "global" in a dragonfly, "torus" in a torus. Throws: InputError with the path of what is wrong: zero or negative
/// capacity, a dangling link end (with the nearest device name), counts that do not fit `connect`,
/// a leaf without enough ports, a GPU that cannot reach another one (both named).
[[nodiscard]] Graph build_graph(const ClusterSpec& spec);

/// What a fabric of switches in a tree has where its description says nothing: rails, ports down and up,
/// how many switches join a group. By the path at which it could be said; the origin is "derived".
/// Throws: as build_graph.
[[nodiscard]] std::vector<Provenance> derived_values(const ClusterSpec& spec);

/// What one set of GPUs can send to, and receive from, the rest: sums over the links that cross.
struct Cut {
  Bandwidth out;
  Bandwidth in;
};

/// The cut around each GPU of `gpus`: the sum of its own links. One entry a GPU, same order.
[[nodiscard]] std::vector<Cut> gpu_cuts(const Graph& graph, std::span<const DeviceId> gpus);
/// The cut around each node, by node number: links from a device of the node to one outside it.
[[nodiscard]] std::vector<Cut> node_cuts(const Graph& graph);

enum class SearchDirection : std::uint8_t { Outward, Inward };
enum class GpusForward : std::uint8_t { No, Yes };

/// Latency of the quickest path from one GPU to every device (inward: from every device to the GPU);
/// absent: there is none. Routes go through no GPU; data that an algorithm relays do.
/// Complexity: O(links · log devices).
[[nodiscard]] std::vector<std::optional<Duration>> shortest_latencies(
    const Graph& graph, DeviceId gpu, SearchDirection direction = SearchDirection::Outward,
    GpusForward forwarding = GpusForward::No);

}  // namespace collsim
