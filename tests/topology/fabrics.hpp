#pragma once

// Clusters on fabrics of every kind, for tests.

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/topology/clusters.hpp"

namespace collsim::test {

/// Nodes of `nics` GPUs with a NIC each, joined inside by an NVSwitch, and a fabric to be chosen.
inline ClusterSpec rail_nodes(std::uint32_t nodes, std::uint32_t nics) {
  ClusterSpec spec;
  spec.name = "rails";
  spec.nodes = nodes;
  spec.node.gpus = nics;
  spec.node.devices = {{"nvswitch", DeviceKind::Nvswitch, std::nullopt},
                       {"nic", DeviceKind::Nic, nics}};
  spec.node.links = {
      link("gpu", "nvswitch", textbook_bandwidth * 9, std::chrono::nanoseconds(250),
           LinkKind::Nvlink),
      link("gpu", "nic", textbook_bandwidth, std::chrono::nanoseconds(470), LinkKind::Pcie)};
  spec.node.links[1].connect = Connect::OneToOne;
  return spec;
}

inline TierSpec tier(std::optional<std::uint32_t> ports) {
  TierSpec tier;
  tier.ports = ports;
  tier.latency = std::chrono::nanoseconds(200);
  tier.link = {LinkKind::Infiniband, textbook_bandwidth, std::chrono::nanoseconds(30)};
  return tier;
}

/// Rails on leaves, spines and perhaps cores of 64 ports.
inline ClusterSpec rail_optimized(std::uint32_t nodes, std::uint32_t nics, std::size_t tiers,
                                  std::uint32_t ports = 64) {
  ClusterSpec spec = rail_nodes(nodes, nics);
  spec.fabric.kind = FabricKind::RailOptimized;
  spec.fabric.tiers.assign(tiers, tier(ports));
  return spec;
}

inline ClusterSpec dragonfly(std::uint32_t nodes, std::uint32_t nics, std::uint32_t down,
                             std::uint32_t switches, std::uint32_t global_links) {
  ClusterSpec spec = rail_nodes(nodes, nics);
  spec.fabric.kind = FabricKind::Dragonfly;
  spec.fabric.tiers.assign(1, tier(std::nullopt));
  spec.fabric.tiers[0].down = down;
  spec.fabric.dragonfly.switches = switches;
  spec.fabric.dragonfly.global_links = global_links;
  spec.fabric.dragonfly.local = spec.fabric.dragonfly.global = spec.fabric.tiers[0].link;
  return spec;
}

inline ClusterSpec torus(std::vector<std::uint32_t> dimensions) {
  std::uint32_t nodes = 1;
  for (const std::uint32_t dimension : dimensions) {
    nodes *= dimension;
  }
  ClusterSpec spec = rail_nodes(nodes, 1);
  spec.fabric.kind = FabricKind::Torus;
  spec.fabric.tiers.assign(1, tier(std::nullopt));
  spec.fabric.torus_link = spec.fabric.tiers[0].link;
  spec.fabric.dimensions = std::move(dimensions);
  return spec;
}

}  // namespace collsim::test
