#pragma once

// The shortest paths between two devices, as a graph of layers: layer i holds the links from
// devices at distance i from the source to devices at distance i + 1. Of the paths with the fewest
// links only the widest are kept (largest bandwidth of the narrowest link).
//
// The search goes breadth-first from both ends, always expanding the frontier with fewer links, and
// looks for a direct link first. So a route across a switch with 100,000 ports looks at two links,
// and one in a mesh of 1,000 GPUs at a handful: the cost is that of the links near both ends.
//
// Ignored: the length of a link in time; only links are counted.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topology/graph.hpp"

namespace collsim::detail {

/// Which devices may forward: never GPUs.
class Scope {
 public:
  /// Every device but NICs: traffic that stays in a node, or in a switch that spans nodes.
  [[nodiscard]] static Scope without_nics() { return Scope(Kind::WithoutNics, std::nullopt); }
  /// What lies between a GPU and the NICs of its node: devices of the node and switches that belong
  /// to no node, but neither NICs nor network switches.
  [[nodiscard]] static Scope within(std::optional<NodeId> node) {
    return Scope(Kind::WithinNode, node);
  }
  /// The devices of no node: the fabric's switches. Where these form groups, only those of the two
  /// given.
  [[nodiscard]] static Scope fabric(std::optional<std::uint32_t> from_group = std::nullopt,
                                    std::optional<std::uint32_t> to_group = std::nullopt) {
    Scope scope(Kind::Fabric, std::nullopt);
    scope.from_group_ = from_group;
    scope.to_group_ = to_group;
    return scope;
  }
  [[nodiscard]] static Scope everywhere() { return Scope(Kind::Everywhere, std::nullopt); }

  [[nodiscard]] bool admits(const Device& device) const;
  bool operator==(const Scope&) const = default;

 private:
  enum class Kind : std::uint8_t { WithoutNics, WithinNode, Fabric, Everywhere };
  Scope(Kind kind, std::optional<NodeId> node) : kind_(kind), node_(node) {}

  Kind kind_;
  std::optional<NodeId> node_;
  std::optional<std::uint32_t> from_group_;
  std::optional<std::uint32_t> to_group_;
};

/// A part of a route, over the shortest paths in a scope.
struct RouteLeg {
  DeviceId from;
  DeviceId to;
  Scope scope;
};

/// Numbers the devices that a search meets 0, 1, 2, … in the order it meets them. A hash table with
/// open addressing: a search touches few of many devices, and often.
class DeviceNumbering {
 public:
  DeviceNumbering() : slots_(32, empty) {}

  /// The number of the device, a new one if it has none yet.
  [[nodiscard]] std::uint32_t number(DeviceId device);
  [[nodiscard]] DeviceId device(std::uint32_t number) const { return devices_[number]; }
  [[nodiscard]] std::size_t size() const { return devices_.size(); }

 private:
  static constexpr std::uint32_t empty = 0xFFFFFFFF;
  [[nodiscard]] std::size_t slot_of(DeviceId device) const;
  void grow();

  std::vector<DeviceId> devices_;
  std::vector<std::uint32_t> slots_;  ///< numbers; a power of two of them, at most half in use
};

/// A link of a layer. Ends are numbers of PathLayers::device().
struct PathLink {
  LinkId link;
  std::uint32_t source = 0;
  std::uint32_t target = 0;
};

/// All widest shortest paths from one device to another.
class PathLayers {
 public:
  /// Searches. Requires: from != to.
  PathLayers(const Graph& graph, Scope scope, DeviceId from, DeviceId to);

  /// Whether there is a path.
  [[nodiscard]] bool found() const { return found_; }
  /// The number of links of each path.
  [[nodiscard]] std::size_t length() const { return layers_[0].size() + layers_[1].size(); }
  /// The links at one distance from the source, in order of id. Every one lies on a widest shortest
  /// path.
  [[nodiscard]] std::span<const PathLink> layer(std::size_t distance) const;
  /// The number of devices met; PathLink's ends are below it.
  [[nodiscard]] std::size_t devices() const { return numbering_.size(); }
  [[nodiscard]] static constexpr std::uint32_t source() { return 0; }
  [[nodiscard]] static constexpr std::uint32_t target() { return 1; }

 private:
  /// One of the two searches that meet: from the source along links, from the target against them.
  enum class Side : std::uint8_t { Forward = 0, Backward = 1 };
  using Layer = std::vector<PathLink>;

  void search(Scope scope);
  [[nodiscard]] std::size_t frontier_links(Side side) const;
  /// Adds the next layer of a side; true if it met the other side.
  [[nodiscard]] bool expand(Side side, Scope scope);
  std::uint32_t meet(DeviceId device);
  [[nodiscard]] Layer& layer_at(std::size_t distance);
  void keep_widest();
  void keep_complete();

  const Graph* graph_;
  DeviceNumbering numbering_;
  std::array<std::vector<std::uint32_t>, 2> distance_;  ///< by side and device number
  std::array<std::vector<std::uint32_t>, 2> frontier_;
  std::array<std::vector<Layer>, 2> layers_;  ///< of each side, outwards from its end
  bool found_ = false;
};

}  // namespace collsim::detail
