#pragma once

// The steps of build_graph, one file each: the node template (build_node.cpp), the fabric between
// nodes (build_fabric.cpp) and explicit graphs (build_explicit.cpp). All of them check what they
// are given and throw InputError with the path in the document, so that a loader can point at the
// line.

#include <cstdint>
#include <string>
#include <vector>

#include "topology/graph.hpp"
#include "topology/spec.hpp"

namespace collsim::detail {

/// Sizes beyond these are refused before anything is allocated (a link takes 44 bytes).
constexpr std::uint64_t most_devices = std::uint64_t{1} << 22U;
constexpr std::uint64_t most_links = std::uint64_t{1} << 24U;
/// Throws: InputError if there are more.
void require_sizes(std::uint64_t devices, std::uint64_t links, const std::string& path);

/// Throws: InputError at `path`.bandwidth or `path`.latency.
void require_link(Bandwidth bandwidth, Duration latency, const std::string& path);
/// Throws: InputError at `path` if the latency is negative or longer than an hour (so that a
/// route's sum stays in range).
void require_latency(Duration latency, const std::string& path);
/// Throws: InputError at `path` if the count is 0.
void require_count(std::uint32_t count, const std::string& path);

/// "did you mean "x"?" for the nearest of the accepted words; empty if none is near.
[[nodiscard]] std::string did_you_mean(const std::string& word,
                                       const std::vector<std::string>& accepted);
/// "links[2]" behind a prefix: "node.links[2]".
[[nodiscard]] std::string at(const std::string& list, std::size_t index);

/// The name of the level that a link inside a node belongs to.
[[nodiscard]] std::string_view level_name(LinkKind kind);
/// The levels of these links' kinds, in the order of LinkKind (innermost first).
void add_levels(GraphBuilder& builder, const std::vector<LinkSpec>& links);

/// Adds the `count` parallel links (or cables) of one entry between two devices.
void add_links(GraphBuilder& builder, const LinkSpec& spec, DeviceId source, DeviceId target);

/// A node template with its names resolved.
struct NodeTemplate {
  struct Family {
    std::string name;
    DeviceKind kind = DeviceKind::Gpu;
    bool numbered = true;
    std::uint32_t first = 0;  ///< position in the node of its first member
    std::uint32_t count = 1;
  };
  /// A pair of devices, by position in the node, that an entry of NodeSpec::links joins.
  struct Pair {
    std::uint32_t source = 0;
    std::uint32_t target = 0;
    std::uint32_t entry = 0;
  };
  std::vector<Family> families;  ///< "gpu" first
  std::vector<Pair> pairs;       ///< entry by entry
  std::uint32_t devices = 0;
  std::uint64_t links = 0;          ///< directed, parallel ones counted
  std::vector<std::uint32_t> nics;  ///< positions in the node
};

[[nodiscard]] NodeTemplate resolve_node(const NodeSpec& spec);
/// Adds `nodes` copies: all devices node by node, then all links node by node. Device d of node n
/// gets the id n · devices + d.
void add_nodes(GraphBuilder& builder, const NodeSpec& spec, const NodeTemplate& node,
               std::uint32_t nodes);

/// What a fabric adds, found and checked before the graph is built.
struct FabricPlan {
  std::uint32_t leaves = 0;
  std::uint32_t spines = 0;
  std::uint32_t nodes_per_leaf = 0;
  std::uint64_t links = 0;
};
[[nodiscard]] FabricPlan plan_fabric(const ClusterSpec& spec, const NodeTemplate& node);
/// Adds switches and cables to the nodes that are there.
void add_fabric(GraphBuilder& builder, const ClusterSpec& spec, const NodeTemplate& node,
                const FabricPlan& plan);

/// Builds an explicit graph.
[[nodiscard]] Graph build_explicit(const ExplicitGraphSpec& spec);

}  // namespace collsim::detail
