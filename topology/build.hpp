#pragma once

// The steps of build_graph, one file each: the node template (build_node.cpp), the fabric between
// nodes (build_fabric.cpp, and one for each family: build_tree.cpp, build_dragonfly.cpp,
// build_torus.cpp) and explicit graphs (build_explicit.cpp). All of them check what they
// are given and throw InputError with the path in the document, so that a loader can point at the
// line.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "topology/graph.hpp"
#include "topology/spec.hpp"

namespace collsim::detail {

/// Sizes beyond these are refused before anything is allocated (a link takes 52 bytes).
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
  std::string path;              ///< of the node in the document
  std::vector<Family> families;  ///< "gpu" first
  std::vector<Pair> pairs;       ///< entry by entry
  std::uint32_t devices = 0;
  std::uint64_t links = 0;          ///< directed, parallel ones counted
  std::vector<std::uint32_t> nics;  ///< positions in the node
};

/// `path`: of the node in the document, "node" or "nodes[1].node".
[[nodiscard]] NodeTemplate resolve_node(const NodeSpec& spec, const std::string& path);

/// The nodes of a cluster in order: one group of like ones behind the other. Device d of a node gets the
/// id of the node's first device + d.
class NodeList {
 public:
  /// Resolves the templates. Requires: the description outlives the list.
  explicit NodeList(const ClusterSpec& spec);

  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }
  [[nodiscard]] std::uint64_t devices() const { return devices_; }
  [[nodiscard]] std::uint64_t links() const { return links_; }
  [[nodiscard]] std::uint64_t nics() const { return nics_; }
  /// The node with the most NICs.
  [[nodiscard]] std::uint32_t most_nics() const;
  /// Whether some node has a family of devices of that name.
  [[nodiscard]] bool has_family(const std::string& name) const;

  /// Calls function(node's number, its first device's id, its template) for each node, in order.
  template <class Function>
  void for_each(Function function) const {
    std::uint32_t node = 0;
    std::uint32_t device = 0;
    for (const Group& group : groups_) {
      for (std::uint32_t i = 0; i < group.count; ++i) {
        function(NodeId(node), DeviceId(device), group.node);
        ++node;
        device += group.node.devices;
      }
    }
  }

  /// Adds all devices, node by node, then all links, node by node.
  void add(GraphBuilder& builder) const;

 private:
  struct Group {
    const NodeSpec* spec = nullptr;
    NodeTemplate node;
    std::uint32_t count = 0;
  };
  std::vector<Group> groups_;
  std::uint32_t nodes_ = 0;
  std::uint64_t devices_ = 0;
  std::uint64_t links_ = 0;
  std::uint64_t nics_ = 0;
};

/// What joins the nodes: found and checked before the graph is built.
class Fabric {
 public:
  Fabric() = default;
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;
  virtual ~Fabric() = default;

  [[nodiscard]] virtual std::uint64_t switches() const = 0;
  [[nodiscard]] virtual std::uint64_t links() const = 0;  ///< directed
  /// What the description has to change where there are too many devices or links in all.
  [[nodiscard]] virtual std::string size_path() const { return "nodes"; }
  /// What follows from the description where it says nothing, in the words of its keys.
  [[nodiscard]] virtual std::vector<Provenance> derived() const { return {}; }
  /// Adds switches and cables to the nodes that are there.
  virtual void add(GraphBuilder& builder) const = 0;
};

/// Null where there is none. Requires: both outlive the fabric. Throws: InputError with the path of what
/// does not fit.
[[nodiscard]] std::unique_ptr<Fabric> plan_fabric(const ClusterSpec& spec, const NodeList& nodes);
/// One kind each, in a file of its own. Require: links and latencies were checked.
[[nodiscard]] std::unique_ptr<Fabric> plan_tree(const FabricSpec& spec, const NodeList& nodes);
[[nodiscard]] std::unique_ptr<Fabric> plan_dragonfly(const FabricSpec& spec, const NodeList& nodes);
[[nodiscard]] std::unique_ptr<Fabric> plan_torus(const FabricSpec& spec, const NodeList& nodes);

/// "fabric.leaf", "fabric.tiers[2]": where the description has a tier.
[[nodiscard]] std::string tier_path(const FabricSpec& spec, std::size_t tier);

/// A cable between a device below and a switch above (or two switches). A switch's forwarding latency
/// counts on the links that leave it.
struct FabricCable {
  FabricLinkSpec link;
  Duration below_latency{};
  Duration above_latency{};
  LevelId level;

  void add(GraphBuilder& builder, DeviceId below, DeviceId above) const;
};

/// The stem of a fabric's switches: another name where devices of the nodes have this one and show no
/// node, because there is only one.
[[nodiscard]] std::string switch_stem(const std::string& name, const NodeList& nodes);
[[nodiscard]] std::vector<DeviceId> add_switches(GraphBuilder& builder, std::uint32_t stem,
                                                 std::uint64_t count);

/// Builds an explicit graph.
[[nodiscard]] Graph build_explicit(const ExplicitGraphSpec& spec);

}  // namespace collsim::detail
