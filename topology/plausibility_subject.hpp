#pragma once

// What the checks of plausibility.hpp look at, and where they report.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/plausibility.hpp"
#include "topology/symmetry.hpp"

namespace collsim::detail {

/// A sum of bandwidths, in their units: no cluster's links together exceed it.
using BandwidthSum = U128;

class Examination {
 public:
  explicit Examination(const Cluster& cluster);

  [[nodiscard]] const Cluster& cluster() const { return *cluster_; }
  [[nodiscard]] const Graph& graph() const { return cluster_->graph(); }
  [[nodiscard]] const SymmetryClasses& symmetry() const { return symmetry_; }
  /// The first of the nodes that are alike inside and in their cables: what holds inside it holds inside
  /// all. Where they stand in the network does not count.
  [[nodiscard]] const std::vector<NodeId>& unlike_nodes() const { return unlike_nodes_; }
  /// Their GPUs.
  [[nodiscard]] const std::vector<DeviceId>& gpus() const { return gpus_; }
  [[nodiscard]] std::vector<DeviceId> gpus_of(NodeId node) const;

  /// Of the check that was begun last.
  void begin(std::string_view check) { check_ = check; }
  void report(std::string path, std::string message, std::string hint = {});
  [[nodiscard]] std::vector<Finding> take() && { return std::move(findings_); }

  // Places in the document.

  /// The value in force at a path; null if there is none.
  [[nodiscard]] const Provenance* value(const std::string& path) const;
  /// Whether a value belongs to the network rather than to a node.
  [[nodiscard]] bool is_of_network(const std::string& path) const;
  /// Where a link stands that begins in a node: its entry there, or fabric.link for a cable of a NIC.
  [[nodiscard]] std::string entry_of(LinkId link) const;
  /// The entry of the first link of a kind that leaves a device; where there is none, the list of links.
  [[nodiscard]] std::string entry_of_kind(DeviceId device, LinkKind kind) const;
  /// Devices of nodes by the description of their node, in order. Of an explicit graph, all are together.
  [[nodiscard]] std::vector<std::vector<DeviceId>> by_template(
      const std::vector<DeviceId>& devices) const;
  /// The place of the node's description in the list of them; 0 where there is one.
  [[nodiscard]] std::size_t template_of(NodeId node) const;
  /// The lists of links and devices that describe a node; without one, or of an explicit graph, the first.
  [[nodiscard]] std::string links_path(std::optional<NodeId> node = {}) const;
  [[nodiscard]] std::string devices_path(std::optional<NodeId> node = {}) const;
  [[nodiscard]] std::string network_path() const;

  // Texts.

  /// "gpu0 and 3 more".
  [[nodiscard]] std::string names(const std::vector<DeviceId>& devices) const;
  [[nodiscard]] static std::string text(BandwidthSum sum);

  // Sums.

  /// Of the links of a kind that leave a device.
  [[nodiscard]] BandwidthSum sum_of(DeviceId device, LinkKind kind) const;
  /// The widest link of a kind that leaves a device.
  [[nodiscard]] Bandwidth widest_of(DeviceId device, LinkKind kind) const;
  /// Of the parallel links from one device to another.
  [[nodiscard]] BandwidthSum sum_between(DeviceId from, DeviceId to) const;
  /// Of the links of no particular kind that lead to a NIC inside its node.
  [[nodiscard]] BandwidthSum slot_of(DeviceId nic) const;
  /// Of a NIC's links out of its node.
  [[nodiscard]] BandwidthSum cable_of(DeviceId nic) const;

 private:
  [[nodiscard]] std::string node_path(std::optional<NodeId> node) const;

  const Cluster* cluster_;
  SymmetryClasses symmetry_;
  std::vector<NodeId> unlike_nodes_;
  std::vector<DeviceId> gpus_;  ///< by node
  std::string_view check_;
  std::vector<Finding> findings_;
};

/// Twice what PCIe 6 has on 16 lanes.
inline constexpr Bandwidth implausible_pcie = Bandwidth::bytes_per_second(252'000'000'000);

// The checks, by what they look at. Values of the document:
void check_nic_speed(Examination& examination);
void check_cable_speed(Examination& examination);
void check_pcie_speed(Examination& examination);
void check_nvlink_speed(Examination& examination);
void check_latency(Examination& examination);
// The inside of a node:
void check_nvlink_below_pcie(Examination& examination);
void check_nvlink_asymmetry(Examination& examination);
void check_far_nic(Examination& examination);
void check_narrow_slot(Examination& examination);
void check_rails_speed(Examination& examination);
void check_rails_number(Examination& examination);
void check_rails_load(Examination& examination);
void check_no_path_in_node(Examination& examination);
// The whole:
void check_rails_share(Examination& examination);
void check_one_way(Examination& examination);
void check_networks_apart(Examination& examination);
void check_oversubscription(Examination& examination);
void check_unused(Examination& examination);

/// By device: whether it may lie on a shortest path between two devices of nodes, as far as it belongs to
/// none itself; true of all others. Looks at one device of each class of alike ones; where there are too
/// many, all may.
[[nodiscard]] std::vector<bool> lies_between_nodes(const Graph& graph,
                                                   const SymmetryClasses& symmetry);

}  // namespace collsim::detail
