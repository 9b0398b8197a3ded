#pragma once

// Descriptions that several tests build clusters from.

#include <cstdint>
#include <string>
#include <utility>

#include "topology/cluster.hpp"
#include "topology/error.hpp"
#include "topology/units.hpp"

namespace collsim::test {

inline LinkSpec link(std::string from, std::string to, Bandwidth bandwidth, Duration latency,
                     LinkKind kind = LinkKind::Generic) {
  LinkSpec spec;
  spec.from = std::move(from);
  spec.to = std::move(to);
  spec.kind = kind;
  spec.bandwidth = bandwidth;
  spec.latency = latency;
  return spec;
}

inline constexpr Bandwidth textbook_bandwidth = Bandwidth::bytes_per_second(50'000'000'000);

/// GPUs on one switch: 50 GB/s and 500 ns each way.
inline ClusterSpec star(std::uint32_t gpus) {
  ClusterSpec spec;
  spec.name = "textbook-star";
  spec.node.gpus = gpus;
  spec.node.devices = {{"switch", DeviceKind::Nvswitch, std::nullopt}};
  spec.node.links = {link("gpu", "switch", textbook_bandwidth, std::chrono::nanoseconds(500))};
  return spec;
}

/// A direct link of 50 GB/s and 1 us between every ordered pair of GPUs.
inline ClusterSpec mesh(std::uint32_t gpus) {
  ClusterSpec spec;
  spec.name = "textbook-mesh";
  spec.node.gpus = gpus;
  spec.node.links = {link("gpu", "gpu", textbook_bandwidth, std::chrono::microseconds(1))};
  spec.node.links[0].connect = Connect::Mesh;
  return spec;
}

/// Nodes of 4 GPUs and a NIC on one switch, joined by one network switch.
inline ClusterSpec textbook_nodes(std::uint32_t nodes) {
  ClusterSpec spec = star(4);
  spec.name = "textbook-2x4";
  spec.nodes = nodes;
  spec.node.devices.push_back({"nic", DeviceKind::Nic, std::nullopt});
  const Bandwidth network = Bandwidth::bytes_per_second(12'500'000'000);
  spec.node.links.push_back(link("nic", "switch", network, std::chrono::microseconds(1)));
  spec.fabric.kind = FabricKind::SingleSwitch;
  spec.fabric.tiers.resize(1);
  spec.fabric.tiers[0].link = {LinkKind::Generic, network, std::chrono::microseconds(1)};
  return spec;
}

/// Eight GPUs on an NVSwitch; a PCIe switch for two GPUs and two NICs each; two sockets.
inline ClusterSpec dgx(std::uint32_t nodes) {
  ClusterSpec spec;
  spec.name = "dgx";
  spec.nodes = nodes;
  spec.node.gpus = 8;
  spec.node.devices = {{"nvswitch", DeviceKind::Nvswitch, std::nullopt},
                       {"pcie", DeviceKind::PcieSwitch, 4},
                       {"cpu", DeviceKind::Cpu, 2},
                       {"nic", DeviceKind::Nic, 8}};
  const auto gbps = [](std::int64_t value) {
    return Bandwidth::bytes_per_second(value * 1'000'000'000);
  };
  const auto ns = [](std::int64_t value) { return std::chrono::nanoseconds(value); };
  spec.node.links = {link("gpu", "nvswitch", gbps(450), ns(250), LinkKind::Nvlink),
                     link("gpu", "pcie", gbps(64), ns(150), LinkKind::Pcie),
                     link("nic", "pcie", gbps(64), ns(150), LinkKind::Pcie),
                     link("pcie", "cpu", gbps(64), ns(150), LinkKind::Pcie),
                     link("cpu0", "cpu1", gbps(96), ns(200), LinkKind::Socket)};
  for (const std::size_t grouped : {1U, 2U, 3U}) {
    spec.node.links[grouped].connect = Connect::Grouped;
  }
  spec.fabric.tiers.resize(1);
  spec.fabric.tiers[0].link = {LinkKind::Infiniband, gbps(50), ns(30)};
  spec.fabric.tiers[0].latency = ns(230);
  spec.fabric.kind = nodes > 1 ? FabricKind::SingleSwitch : FabricKind::None;
  return spec;
}

/// Puts the nodes of a single switch on leaves, and spines above them, with the same cables.
inline void make_leaf_spine(ClusterSpec& spec, std::uint32_t ports,
                            std::uint32_t oversubscription = 1) {
  spec.fabric.kind = FabricKind::LeafSpine;
  spec.fabric.tiers.resize(1);
  spec.fabric.tiers[0].ports = ports;
  TierSpec spine;
  spine.link = spec.fabric.tiers[0].link;
  spine.oversubscription = oversubscription;
  spec.fabric.tiers.push_back(spine);
}

/// As dgx, but on leaves of `ports` ports.
inline ClusterSpec dgx_leaf_spine(std::uint32_t nodes, std::uint32_t ports,
                                  std::uint32_t oversubscription, RoutingKind routing) {
  ClusterSpec spec = dgx(nodes);
  make_leaf_spine(spec, ports, oversubscription);
  spec.fabric.routing = routing;
  spec.fabric.tiers[1].latency = std::chrono::nanoseconds(240);
  return spec;
}

/// A star of 4 GPUs with two more switches, sw0 and sw1, and one more entry of links.
inline ClusterSpec with_link(Connect connect, const std::string& from, const std::string& to,
                             Duplex duplex = Duplex::BothWays) {
  ClusterSpec spec = star(4);
  spec.node.devices.push_back({"sw", DeviceKind::PcieSwitch, 2});
  spec.node.links.push_back(link(from, to, textbook_bandwidth, Duration(1)));
  spec.node.links.back().connect = connect;
  spec.node.links.back().duplex = duplex;
  return spec;
}

/// Path, message and hint of the error that building gives; "none" if there is none.
inline std::string error_of(const ClusterSpec& spec) {
  try {
    static_cast<void>(build_graph(spec));
  } catch (const InputError& error) {
    return error.path() + ": " + error.message() +
           (error.hint().empty() ? "" : "\nhint: " + error.hint());
  }
  return "none";
}

inline DeviceId device(const Graph& graph, const std::string& name) {
  const auto found = graph.find_device(name);
  COLLSIM_ENSURE(found.has_value(), "no device " + name);
  return *found;
}

}  // namespace collsim::test
