#include "sim/host_paths.hpp"

#include <algorithm>

#include "topology/error.hpp"

namespace collsim::detail {

HostPaths::HostPaths(const Graph& graph, Network& network, const CostParameters* costs)
    : graph_(&graph), network_(&network) {
  if (costs != nullptr) {
    rate_ = costs->rate(CostItem::HostRate);
    loss_ = costs->share(CostItem::HostLoss);
  }
}

Bandwidth HostPaths::capacity(std::size_t senders) const {
  constexpr std::int64_t whole = 1'000'000;
  const std::int64_t further = std::max<std::int64_t>(static_cast<std::int64_t>(senders) - 1, 0);
  const U128 units =
      static_cast<U128>(rate_->units()) * whole / static_cast<U128>(whole + loss_ * further);
  return Bandwidth::from_units(std::max<std::int64_t>(static_cast<std::int64_t>(units), 1));
}

HostPaths::Host& HostPaths::host_at(DeviceId cpu) {
  const std::uint32_t node = graph_->device(cpu).node.value_or(NodeId(0)).value();
  const auto [place, added] = hosts_.try_emplace(node);
  if (added) {
    place->second.resource = network_->add_resource(*rate_);
    nodes_.emplace(place->second.resource.value(), node);
  }
  return place->second;
}

std::optional<LinkId> HostPaths::enter(DeviceId cpu, DeviceId sender) {
  if (!rate_) {
    return std::nullopt;
  }
  Host& host = host_at(cpu);
  if (++host.connections[sender.value()] == 1 && loss_ != 0) {
    network_->set_capacity(host.resource, capacity(host.connections.size()));
  }
  return host.resource;
}

void HostPaths::leave(LinkId resource, DeviceId sender) {
  Host& host = hosts_.at(nodes_.at(resource.value()));
  const auto connections = host.connections.find(sender.value());
  COLLSIM_ENSURE(connections != host.connections.end(), "a connection left that never entered");
  if (--connections->second == 0) {
    host.connections.erase(connections);
    if (loss_ != 0) {
      network_->set_capacity(host.resource, capacity(host.connections.size()));
    }
  }
}

}  // namespace collsim::detail
