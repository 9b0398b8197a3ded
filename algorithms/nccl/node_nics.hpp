#pragma once
// The NICs of a node of a description as network devices of NCCL's: one device a NIC, with what the
// description says of it (`speed`, `latency`, `gpudirect`, `collnet`, `card`, `guid`, `port`,
// `number`), and from the cables of the fabric what it does not.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "algorithms/nccl/machine.hpp"
#include "topology/graph.hpp"
#include "topology/spec.hpp"

namespace collsim::nccl {

/// Mb/s.
[[nodiscard]] int megabits(Bandwidth bandwidth);

class NodeNics {
 public:
  NodeNics(const collsim::Graph& graph, NodeId node, const NodeSpec& spec);

  /// The device at the end of a link of the node to it: a cluster without fabric does not tell what
  /// its NICs can do, and they get the highest usual speed that this link carries.
  [[nodiscard]] MachineNet net(const Link& to_nic) const;
  /// Of PCI: by the network it is in.
  [[nodiscard]] std::string device_class(DeviceId nic) const;
  /// That it shares with others.
  [[nodiscard]] std::optional<std::uint32_t> card(DeviceId nic) const {
    return specs_[index_of(nic)].card;
  }
  /// Links of a device to the NICs of one card, in order. Throws: InputError if others of the card
  /// are linked to another device.
  [[nodiscard]] std::vector<LinkId> links_to_card(DeviceId from, std::uint32_t card) const;

 private:
  [[nodiscard]] std::size_t index_of(DeviceId nic) const;
  [[nodiscard]] std::string guid_of(std::size_t index) const;

  const collsim::Graph& graph_;
  NodeId node_;
  std::vector<NicSpec> specs_{};           ///< by index
  std::set<std::uint64_t> given_guids_{};  ///< the others' are made up beside them
};

}  // namespace collsim::nccl
