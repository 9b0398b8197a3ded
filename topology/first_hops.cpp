#include "topology/first_hops.hpp"

namespace collsim::detail {

namespace {

/// The only link of a NIC that leads to other NICs, by way of a switch. What leads into its node does not.
std::optional<LinkId> only_link_out(const Graph& graph, DeviceId nic) {
  std::optional<LinkId> only;
  for (const LinkId id : graph.links_out(nic)) {
    const Device& target = graph.device(graph.link(id).target);
    if (target.node && target.kind != DeviceKind::Nic) {
      continue;
    }
    if (only || target.kind != DeviceKind::NetworkSwitch) {
      return std::nullopt;
    }
    only = id;
  }
  return only;
}

/// Whether all that comes to a NIC from outside its node comes from one device.
bool is_reached_from(const Graph& graph, DeviceId nic, DeviceId device) {
  for (const LinkId id : graph.links_in(nic)) {
    const DeviceId source = graph.link(id).source;
    if (!graph.device(source).node && source != device) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<FirstHop> first_hops(const Graph& graph) {
  std::vector<FirstHop> hops;
  hops.reserve(graph.devices().size());
  std::vector<std::optional<LinkId>> first_of_switch(graph.devices().size());
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    const DeviceId device(i);
    hops.push_back({device, std::nullopt});
    if (graph.device(device).kind != DeviceKind::Nic) {
      continue;
    }
    const std::optional<LinkId> link = only_link_out(graph, device);
    if (!link || !is_reached_from(graph, device, graph.link(*link).target)) {
      continue;
    }
    auto& first = first_of_switch[graph.link(*link).target.index()];
    first = first.value_or(*link);
    if (graph.link(*first).bandwidth == graph.link(*link).bandwidth) {
      hops.back() = {graph.link(*first).source, link};
    }
  }
  return hops;
}

}  // namespace collsim::detail
