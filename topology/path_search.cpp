#include "topology/path_search.hpp"

#include <algorithm>
#include <limits>

#include "topology/error.hpp"

namespace collsim::detail {

namespace {

constexpr std::uint32_t unseen = std::numeric_limits<std::uint32_t>::max();

}  // namespace

bool Scope::admits(const Device& device) const {
  if (device.kind == DeviceKind::Gpu) {
    return false;
  }
  switch (kind_) {
    case Kind::WithoutNics:
      return device.kind != DeviceKind::Nic;
    case Kind::WithinNode:
      return device.kind != DeviceKind::Nic &&
             (device.node ? device.node == node_ : device.kind != DeviceKind::NetworkSwitch);
    case Kind::Fabric:
      return !device.node &&
             (!device.group || device.group == from_group_ || device.group == to_group_);
    case Kind::Everywhere:
      return true;
  }
  COLLSIM_ENSURE(false, "unknown scope");
}

std::size_t DeviceNumbering::slot_of(DeviceId device) const {
  // Fibonacci hashing: neighbouring ids, the usual case, land far apart.
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = ((device.value() * std::uint64_t{0x9E3779B97F4A7C15}) >> 32) & mask;
  while (slots_[slot] != empty && devices_[slots_[slot]] != device) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

std::uint32_t DeviceNumbering::number(DeviceId device) {
  std::size_t slot = slot_of(device);
  if (slots_[slot] != empty) {
    return slots_[slot];
  }
  if (2 * (devices_.size() + 1) > slots_.size()) {
    grow();
    slot = slot_of(device);
  }
  slots_[slot] = static_cast<std::uint32_t>(devices_.size());
  devices_.push_back(device);
  return slots_[slot];
}

void DeviceNumbering::grow() {
  slots_.assign(2 * slots_.size(), empty);
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    slots_[slot_of(devices_[i])] = static_cast<std::uint32_t>(i);
  }
}

PathLayers::PathLayers(const Graph& graph, Scope scope, DeviceId from, DeviceId to)
    : graph_(&graph) {
  COLLSIM_ENSURE(from != to, "a path needs two ends");
  meet(from);
  meet(to);
  for (const std::size_t side : {0U, 1U}) {
    frontier_[side].push_back(side == 0 ? source() : target());
    distance_[side][frontier_[side].front()] = 0;
  }
  const auto direct = graph.links_between(from, to);
  if (direct.empty()) {
    search(scope);
  } else {
    found_ = true;
    Layer& layer = layers_[0].emplace_back();
    for (const LinkId link : direct) {
      layer.push_back({link, source(), target()});
    }
  }
  if (!found_) {
    return;
  }
  keep_widest();
  keep_complete();
}

std::span<const PathLink> PathLayers::layer(std::size_t distance) const {
  const std::size_t forward = layers_[0].size();
  return distance < forward ? layers_[0][distance] : layers_[1][length() - 1 - distance];
}

PathLayers::Layer& PathLayers::layer_at(std::size_t distance) {
  const std::size_t forward = layers_[0].size();
  return distance < forward ? layers_[0][distance] : layers_[1][length() - 1 - distance];
}

std::uint32_t PathLayers::meet(DeviceId device) {
  const std::uint32_t number = numbering_.number(device);
  if (number == distance_[0].size()) {
    for (auto& distances : distance_) {
      distances.push_back(unseen);
    }
  }
  return number;
}

void PathLayers::search(Scope scope) {
  while (!found_) {
    const std::size_t forward = frontier_links(Side::Forward);
    const std::size_t backward = frontier_links(Side::Backward);
    if (forward == 0 || backward == 0) {
      return;
    }
    found_ = expand(forward <= backward ? Side::Forward : Side::Backward, scope);
  }
}

std::size_t PathLayers::frontier_links(Side side) const {
  std::size_t links = 0;
  for (const std::uint32_t number : frontier_[static_cast<std::size_t>(side)]) {
    const DeviceId device = numbering_.device(number);
    links +=
        side == Side::Forward ? graph_->links_out(device).size() : graph_->links_in(device).size();
  }
  return links;
}

// Both searches go level by level, so a device that both have seen lies on a shortest path, and
// every shortest path has just one such device in the level where they meet.
bool PathLayers::expand(Side side, Scope scope) {
  const auto here = static_cast<std::size_t>(side);
  const std::size_t there = 1 - here;
  const auto level = static_cast<std::uint32_t>(layers_[here].size() + 1);
  std::vector<std::uint32_t> next;
  Layer layer;
  bool met = false;
  for (const std::uint32_t near : frontier_[here]) {
    const DeviceId device = numbering_.device(near);
    const auto links = side == Side::Forward ? graph_->links_out(device) : graph_->links_in(device);
    for (const LinkId id : links) {
      const Link& link = graph_->link(id);
      const DeviceId other = side == Side::Forward ? link.target : link.source;
      const bool is_end = other == numbering_.device(side == Side::Forward ? target() : source());
      if (!is_end && !scope.admits(graph_->device(other))) {
        continue;
      }
      const std::uint32_t far = meet(other);
      if (distance_[here][far] == unseen) {
        distance_[here][far] = level;
        next.push_back(far);
        met = met || distance_[there][far] != unseen;
      }
      if (distance_[here][far] != level) {
        continue;
      }
      layer.push_back(side == Side::Forward ? PathLink{id, near, far} : PathLink{id, far, near});
    }
  }
  layers_[here].push_back(std::move(layer));
  frontier_[here] = std::move(next);
  return met;
}

// Drops the links narrower than the widest path: what is left of the layers holds the paths whose
// narrowest link is as wide as can be, and no other complete path.
void PathLayers::keep_widest() {
  std::vector<Bandwidth> width(devices());
  width[source()] = Bandwidth::from_units(std::numeric_limits<std::int64_t>::max());
  for (std::size_t i = 0; i < length(); ++i) {
    for (const PathLink& link : layer(i)) {
      const Bandwidth through = std::min(width[link.source], graph_->link(link.link).bandwidth);
      width[link.target] = std::max(width[link.target], through);
    }
  }
  const Bandwidth widest = width[target()];
  for (std::size_t i = 0; i < length(); ++i) {
    std::erase_if(layer_at(i),
                  [&](const PathLink& link) { return graph_->link(link.link).bandwidth < widest; });
  }
}

// Drops the links that do not lead from the source all the way to the target.
void PathLayers::keep_complete() {
  std::vector<bool> reached(devices());
  reached[source()] = true;
  for (std::size_t i = 0; i < length(); ++i) {
    std::erase_if(layer_at(i), [&](const PathLink& link) { return !reached[link.source]; });
    for (const PathLink& link : layer(i)) {
      reached[link.target] = true;
    }
  }
  std::vector<bool> leads(devices());
  leads[target()] = true;
  for (std::size_t i = length(); i-- > 0;) {
    Layer& layer = layer_at(i);
    std::erase_if(layer, [&](const PathLink& link) { return !leads[link.target]; });
    for (const PathLink& link : layer) {
      leads[link.source] = true;
    }
    std::ranges::sort(layer, {}, &PathLink::link);
  }
}

}  // namespace collsim::detail
