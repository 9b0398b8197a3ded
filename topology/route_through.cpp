// Routes by way of given devices.

#include <algorithm>
#include <vector>

#include "topology/error.hpp"
#include "topology/path_search.hpp"
#include "topology/routing.hpp"

namespace collsim {

using detail::Scope;

Scope Router::scope_between(DeviceId from, DeviceId to) const {
  const Device& source = graph_->device(from);
  const Device& target = graph_->device(to);
  if (source.kind == DeviceKind::Nic && target.kind == DeviceKind::Nic) {
    return fabric_between(from, to);
  }
  if (source.kind == DeviceKind::Gpu && target.kind == DeviceKind::Gpu) {
    return Scope::without_nics();
  }
  return Scope::within(source.node);
}

Route Router::route_through(DeviceId from, DeviceId to, std::span<const DeviceId> stops,
                            std::uint32_t connection, LegMemory* memory) const {
  Route route;
  DeviceId here = from;
  const auto go_on_to = [&](DeviceId next) {
    if (next == here) {
      return;
    }
    if (!append_leg(route, {here, next, connection}, memory)) {
      throw InputError("there is no path from " + graph_->name(here) + " to " + graph_->name(next));
    }
    here = next;
  };
  std::ranges::for_each(stops, go_on_to);
  go_on_to(to);
  return route;
}

std::optional<DeviceId> Router::cpu_of(DeviceId gpu) const {
  const auto node = graph_->device(gpu).node;
  std::vector<DeviceId> met{gpu};
  for (std::size_t i = 0; i < met.size(); ++i) {
    const DeviceId here = met[i];
    const DeviceKind kind = graph_->device(here).kind;
    if (kind == DeviceKind::Cpu) {
      return here;
    }
    if (here != gpu && (kind == DeviceKind::Gpu || kind == DeviceKind::Nic)) {
      continue;
    }
    for (const LinkId link : graph_->links_out(here)) {
      const DeviceId next = graph_->link(link).target;
      if (graph_->device(next).node == node && std::ranges::find(met, next) == met.end()) {
        met.push_back(next);
      }
    }
  }
  return std::nullopt;
}

}  // namespace collsim
