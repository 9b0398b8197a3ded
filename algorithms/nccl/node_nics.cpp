#include "algorithms/nccl/node_nics.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "algorithms/nccl/hex_text.hpp"
#include "algorithms/nccl/machine_text.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr std::string_view infiniband_class = "0x020700";
constexpr std::string_view ethernet_class = "0x020000";
constexpr std::int64_t megabyte = 1'000'000;
constexpr std::int64_t bits_in_byte = 8;

/// The highest usual speed of a NIC, Mb/s, that a PCIe link carries.
int usual_speed(Bandwidth pcie) {
  constexpr std::array<int, 7> usual{800'000, 400'000, 200'000, 100'000, 50'000, 25'000, 10'000};
  const auto* const found =
      std::ranges::find_if(usual, [&](int speed) { return speed <= megabits(pcie); });
  return found == usual.end() ? usual.back() : *found;
}

}  // namespace

int megabits(Bandwidth bandwidth) {
  const std::int64_t bytes = bandwidth.units() / Bandwidth::units_per_byte_per_second;
  return static_cast<int>(
      std::min<std::int64_t>(bytes * bits_in_byte / megabyte, std::numeric_limits<int>::max()));
}

NodeNics::NodeNics(const collsim::Graph& graph, NodeId node, const NodeSpec& spec)
    : graph_(graph), node_(node) {
  for (const DeviceGroupSpec& group : spec.devices) {
    if (group.kind == DeviceKind::Nic) {
      specs_.insert(specs_.end(), group.count.value_or(1), group.nic);
      if (group.nic.guid) {
        given_guids_.insert(asic_of_guid(*group.nic.guid));
      }
    }
  }
}

std::size_t NodeNics::index_of(DeviceId nic) const {
  const auto nics = graph_.nics(node_);
  return static_cast<std::size_t>(std::ranges::find(nics, nic) - nics.begin());
}

std::string NodeNics::guid_of(std::size_t index) const {
  if (specs_[index].guid) {
    return *specs_[index].guid;
  }
  constexpr std::uint32_t first = 0x100;
  std::uint32_t guid = first + static_cast<std::uint32_t>(index);
  while (given_guids_.contains(guid)) {
    guid += static_cast<std::uint32_t>(specs_.size());
  }
  return "0x" + hex(guid, 4);
}

std::string NodeNics::device_class(DeviceId nic) const {
  const bool ethernet = std::ranges::any_of(graph_.links_out(nic), [&](LinkId id) {
    const Link& link = graph_.link(id);
    return graph_.device(link.target).node != node_ && link.kind == LinkKind::Ethernet;
  });
  return std::string(ethernet ? ethernet_class : infiniband_class);
}

MachineNet NodeNics::net(const Link& to_nic) const {
  const std::size_t index = index_of(to_nic.target);
  const NicSpec& spec = specs_[index];
  std::int64_t speed = 0;
  if (spec.speed) {
    speed = megabits(*spec.speed);
  } else {
    for (const LinkId id : graph_.links_out(to_nic.target)) {
      const Link& link = graph_.link(id);
      speed += graph_.device(link.target).node == node_ ? 0 : megabits(link.bandwidth);
    }
  }
  constexpr double picoseconds_in_microsecond = 1e6;
  MachineNet net;
  net.name = graph_.name_in_node(to_nic.target);
  net.dev = static_cast<int>(spec.number.value_or(static_cast<std::uint32_t>(index)));
  net.speed = speed > 0
                  ? static_cast<int>(std::min<std::int64_t>(speed, std::numeric_limits<int>::max()))
                  : usual_speed(to_nic.bandwidth);
  net.latency =
      static_cast<float>(static_cast<double>(spec.latency.count()) / picoseconds_in_microsecond);
  net.port = static_cast<int>(spec.port);
  net.guid = guid_of(index);
  net.gdr = spec.gpudirect;
  net.collective = spec.collnet;
  return net;
}

std::vector<LinkId> NodeNics::links_to_card(DeviceId from, std::uint32_t card) const {
  std::vector<LinkId> links;
  std::set<DeviceId> reached;
  for (const LinkId id : graph_.links_out(from)) {
    const Link& link = graph_.link(id);
    if (link.kind == LinkKind::Pcie && graph_.device(link.target).kind == DeviceKind::Nic &&
        this->card(link.target) == card && reached.insert(link.target).second) {
      links.push_back(id);
    }
  }
  for (const DeviceId nic : graph_.nics(node_)) {
    if (this->card(nic) == card && !reached.contains(nic)) {
      throw InputError(graph_.name_in_node(nic) + " is of card " + std::to_string(card) +
                           ", and not linked over PCIe to " + graph_.name_in_node(from) +
                           " as others of the card",
                       {},
                       "NICs of one card are one PCIe device: give them links to the same device");
    }
  }
  return links;
}

}  // namespace collsim::nccl
