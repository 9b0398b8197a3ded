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

#include "topology/gpu_memory.hpp"
#include "topology/graph.hpp"
#include "topology/units.hpp"

namespace collsim {

enum class ProcessorVendor : std::uint8_t { Intel, Amd, Arm, Power, Zhaoxin };

/// `devices[i].processor`: what a CPU calls itself; `family` and `model` are those of CPUID, which
/// Arm and POWER do not have. For NCCL's choices: no simulated time depends on it.
struct ProcessorSpec {
  ProcessorVendor vendor = ProcessorVendor::Intel;
  std::uint32_t family = 0;
  std::uint32_t model = 0;
};

/// Keys of `devices[i]` of kind nic: what a NIC tells NCCL of itself. For NCCL's choices: no simulated
/// time depends on it.
struct NicSpec {
  std::optional<Bandwidth> speed{};  ///< absent: that of its cables together
  Duration latency{};                ///< that NCCL adds to each of its hops over the network
  bool gpudirect = true;             ///< reads and writes the memory of GPUs
  bool collnet = false;              ///< reduces in the network
  std::optional<std::uint32_t>
      card;  ///< NICs of one card are one PCIe device; absent: one by itself
  std::optional<std::string> guid{};  ///< hexadecimal; NICs of one guid and port share one cable
  std::uint32_t port = 1;
  std::optional<std::uint32_t> number;  ///< that NCCL gives it; absent: its place among the NICs
};

/// `devices[i].pci_ids`: what a PCIe device calls itself. For NCCL's choices.
struct PciIds {
  std::uint16_t vendor = 0;
  std::uint16_t device = 0;
  std::uint16_t subsystem_vendor = 0;
  std::uint16_t subsystem_device = 0;
};

/// `devices[i]`: a family of like devices in a node.
struct DeviceGroupSpec {
  std::string name;  ///< stem: members are name0, name1, …; just `name` where count is not given
  DeviceKind kind = DeviceKind::Gpu;
  std::optional<std::uint32_t> count;        ///< absent: one device, without a number
  std::optional<ProcessorSpec> processor{};  ///< of CPUs
  NicSpec nic{};                             ///< of NICs
  std::optional<PciIds> pci_ids{};           ///< of PCIe switches
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
  std::uint32_t count = 1;   ///< parallel links per pair
  std::uint16_t bonded = 1;  ///< the maker's links in each parallel link: 18 in NV18
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
  std::vector<MemoryLevelSpec> gpu_memory;  ///< what is inside each of its GPUs; may be empty
  std::optional<HostMemorySpec> host_memory;
  /// Of its GPUs, as CUDA counts it, times ten: 90 for 9.0. Absent: not NVIDIA's, or not told.
  std::optional<std::uint32_t> compute_capability;
  /// The cost parameters that suit its GPUs, by name: of a cluster that names none. For simulations of
  /// NCCL's kernels; nothing of the topology depends on it.
  std::optional<std::string> parameters;
  bool gpudirect = true;  ///< its GPUs let NICs read and write their memory; for NCCL's choices
  /// The number that CUDA gives each GPU on its host, for NCCL's choices; empty: in order.
  std::vector<std::uint32_t> cuda_devices;
  /// Machines with an operating system of their own, of which the node is made (a rack of trays on
  /// one NVLink); CPUs, GPUs and NICs are dealt to them in order.
  std::uint32_t hosts = 1;
};

enum class FabricKind : std::uint8_t {
  None,
  SingleSwitch,
  LeafSpine,      ///< leaves take whole nodes, spines join the leaves
  FatTree,        ///< the same with any number of tiers
  RailOptimized,  ///< leaf r of a group takes NIC r of each of its nodes
  Dragonfly,      ///< groups of switches that are all joined, groups joined by global links
  Torus,          ///< a switch a node, joined with its neighbours in 1 to 3 dimensions
};

enum class RoutingKind : std::uint8_t {
  Fixed,  ///< "static": the uplink is the destination's index within its leaf, modulo the uplinks
  Spray,  ///< "spray": equal split over all shortest paths
  Ecmp,   ///< "ecmp": each connection takes one of the shortest paths by a hash
};

/// By which NICs of a node a GPU's bytes leave, and enter (`fabric.nic_choice`).
enum class NicChoice : std::uint8_t {
  Nearest,      ///< the nearest one; of equals, the lowest index
  Balanced,     ///< of L equally near ones and G GPUs that share them, ceil(L / G) each, striped
  RailAligned,  ///< as balanced, but out by the NICs of the receiver's rail, over NVLink to the GPU
                ///< that owns them (PXN)
};

/// A cable of the fabric.
struct FabricLinkSpec {
  LinkKind kind = LinkKind::Generic;
  Bandwidth bandwidth;
  Duration latency{};
};

/// `fabric.leaf`, `.spine`, `.core`, `.tiers[t]` or `.switch`: the switches at one height.
struct TierSpec {
  std::optional<std::uint32_t> ports;  ///< down and up together
  std::optional<std::uint32_t> down;   ///< instead of `ports` and the next tier's oversubscription
  std::optional<std::uint32_t> up;
  std::optional<std::uint32_t> count;  ///< switches that join a group of the tier below
  std::uint32_t oversubscription = 1;  ///< of the switches below: ports down for each one up
  Duration latency{};                  ///< forwarding; added to every link that leaves the switch
  FabricLinkSpec link;                 ///< to what is below; of the first tier: to the NICs
  bool own_link = false;  ///< whether `link` stands with the tier, not as fabric.link or .uplink
};

/// The part of a dragonfly (Kim et al., ISCA 2008) that is not its switches.
struct DragonflySpec {
  std::uint32_t switches = 1;      ///< `fabric.group.switches`: a in the paper
  std::uint32_t spread = 1;        ///< `fabric.switch.spread`: switches that NICs go to by turns
  std::uint32_t local_links = 1;   ///< `fabric.local.count`: for each pair of switches of a group
  std::uint32_t global_links = 1;  ///< `fabric.global.count`: for each pair of groups
  FabricLinkSpec local;
  FabricLinkSpec global;
};

/// `fabric`.
struct FabricSpec {
  FabricKind kind = FabricKind::None;
  RoutingKind routing = RoutingKind::Fixed;
  std::uint32_t seed = 0;  ///< of the hash of `ecmp`
  NicChoice nic_choice = NicChoice::Nearest;
  std::uint32_t nic_ports = 1;         ///< cables of each NIC, to as many leaves or planes
  std::uint32_t planes = 1;            ///< separate fabrics, over which the NICs' ports spread
  std::optional<std::uint32_t> rails;  ///< absent: as many as a node has NICs
  std::vector<TierSpec> tiers;         ///< from the NICs up; dragonfly and torus have one
  DragonflySpec dragonfly;
  std::vector<std::uint32_t> dimensions;  ///< of a torus
  FabricLinkSpec torus_link;              ///< between neighbours
  /// The cost parameters of its software, by name. For simulations of NCCL's programs.
  std::optional<std::string> parameters;
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

/// `nodes[i]`, where not all nodes are alike.
struct NodeGroupSpec {
  std::uint32_t count = 1;
  NodeSpec node;
};

/// `environment`: a variable that is set for every process, as text.
struct EnvironmentVariable {
  std::string name;
  std::string value;
};

/// A whole cluster description.
struct ClusterSpec {
  std::string name;
  std::string description;
  std::uint32_t nodes = 1;  ///< like `node`; with an explicit graph: all
  NodeSpec node;
  std::vector<NodeGroupSpec> more_nodes;  ///< others behind them
  FabricSpec fabric;
  std::optional<ExplicitGraphSpec> graph;
  std::vector<EnvironmentVariable> environment;
  std::optional<std::string> parameters;  ///< as those of the node, and before them
  std::vector<Provenance> values;         ///< every value in force, in document order
  bool changed = false;  ///< by settings, other than those of `name` and `description`
};

}  // namespace collsim
