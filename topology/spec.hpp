#pragma once

// What a cluster description says, as plain structs: the border between files and the model.
// Readers (topology/io) fill these in; build_cluster() turns them into a graph with routes. The
// comments give the YAML path of each field; docs/yaml_reference.md is the user's view of the same
// table.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "topology/graph.hpp"
#include "topology/units.hpp"

namespace collsim {

/// `devices[i]`: a family of like devices in a node.
struct DeviceGroupSpec {
  std::string name;  ///< stem: members are name0, name1, …; just `name` where count is not given
  DeviceKind kind = DeviceKind::Gpu;
  std::optional<std::uint32_t> count;  ///< absent: one device, without a number
};

/// How a link entry joins two families (`links[i].connect`).
enum class Connect : std::uint8_t {
  All,       ///< every `from` with every `to` (a star, when `to` is one switch)
  OneToOne,  ///< from[i] with to[i]
  Grouped,   ///< from[i] with to[i / (count(from)/count(to))]: two GPUs a PCIe switch
  Mesh,      ///< every pair inside one family (`from` = `to`)
};

enum class Duplex : std::uint8_t { BothWays, OneWay };

/// `links[i]`: `from` and `to` name a family ("gpu") or one device ("gpu3").
struct LinkSpec {
  std::string from;
  std::string to;
  Connect connect = Connect::All;
  Duplex duplex = Duplex::BothWays;
  std::uint32_t count = 1;  ///< parallel links per pair
  LinkKind kind = LinkKind::Generic;
  Bandwidth bandwidth;  ///< each direction, each parallel link
  Duration latency{};
};

/// `node`: a node template.
struct NodeSpec {
  std::string name;
  std::uint32_t gpus = 0;  ///< the family "gpu" of kind gpu
  std::vector<DeviceGroupSpec> devices;
  std::vector<LinkSpec> links;
};

enum class FabricKind : std::uint8_t { None, SingleSwitch, LeafSpine };

enum class RoutingKind : std::uint8_t {
  Fixed,  ///< "static": the uplink is the destination's index within its leaf, modulo the uplinks
  Spray,  ///< "spray": equal split over all shortest paths
};

/// A cable of the fabric.
struct FabricLinkSpec {
  LinkKind kind = LinkKind::Generic;
  Bandwidth bandwidth;
  Duration latency{};
};

/// `fabric.leaf` and `fabric.spine`, or `fabric.switch`.
struct SwitchSpec {
  std::optional<std::uint32_t> ports;  ///< leaf: ports down and up together
  Duration latency{};                  ///< forwarding; added to every link that leaves the switch
};

/// `fabric`.
struct FabricSpec {
  FabricKind kind = FabricKind::None;
  RoutingKind routing = RoutingKind::Fixed;
  SwitchSpec leaf;  ///< the one switch of `single-switch`
  SwitchSpec spine;
  std::uint32_t oversubscription = 1;    ///< `fabric.spine.oversubscription`: down to up capacity
  FabricLinkSpec link;                   ///< NIC to leaf
  std::optional<FabricLinkSpec> uplink;  ///< leaf to spine; absent: as `link`
};

/// `devices[i]` of an explicit graph.
struct ExplicitDeviceSpec {
  std::string name;
  DeviceKind kind = DeviceKind::Gpu;
  std::optional<std::uint32_t> node;  ///< absent: node 0 for GPUs, NICs and CPUs, none for switches
};

/// `graph`: devices and links one by one, instead of node × count + fabric.
struct ExplicitGraphSpec {
  std::vector<ExplicitDeviceSpec> devices;
  std::vector<LinkSpec> links;  ///< `from` and `to` name single devices; `connect` is not used
};

/// One value in force and where it came from ("configs/clusters/x.yaml:4", "--set", "default").
struct Provenance {
  std::string path;
  std::string value;
  std::string origin;
};

/// A whole cluster description.
struct ClusterSpec {
  std::string name;
  std::string description;
  std::uint32_t nodes = 1;
  NodeSpec node;
  FabricSpec fabric;
  std::optional<ExplicitGraphSpec> graph;
  std::vector<Provenance> values;  ///< every value in force, in document order
};

}  // namespace collsim
