// Which of the fabric's switches have traffic to carry.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <ranges>
#include <set>
#include <vector>

#include "topology/path_search.hpp"
#include "topology/plausibility_subject.hpp"

namespace collsim::detail {

namespace {

// Links that all walks together may look at: about half a second.
constexpr std::uint64_t most_links = 1U << 24U;

using Group = std::optional<std::uint32_t>;

/// A device of a node, one of each class, and the switch's group to which it is attached.
struct Start {
  DeviceId device;
  Group group;
};

std::vector<Start> starts(const Graph& graph, const SymmetryClasses& symmetry) {
  std::set<std::uint32_t> seen;
  std::vector<Start> found;
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    if (!graph.devices()[i].node) {
      continue;
    }
    for (const LinkId id : graph.links_out(DeviceId(i))) {
      const Device& beyond = graph.device(graph.link(id).target);
      if (!beyond.node && seen.insert(symmetry.of_device[i]).second) {
        found.push_back({DeviceId(i), beyond.group});
      }
    }
  }
  return found;
}

std::vector<Group> groups_of(const Graph& graph) {
  std::set<std::uint32_t> numbers;
  for (const Device& device : graph.devices()) {
    if (device.group) {
      numbers.insert(*device.group);
    }
  }
  if (numbers.empty()) {
    return {std::nullopt};
  }
  return {numbers.begin(), numbers.end()};
}

/// Walks over the fabric, and marks the classes of the devices between two ends.
class Marking {
 public:
  Marking(const Graph& graph, const SymmetryClasses& symmetry)
      : graph_(&graph),
        symmetry_(&symmetry),
        distance_(graph.devices().size(), unmet),
        leads_(graph.devices().size(), false),
        between_(symmetry.device_classes, true) {
    for (std::size_t i = 0; i < graph.devices().size(); ++i) {
      if (!graph.devices()[i].node && between_[symmetry.of_device[i]]) {
        between_[symmetry.of_device[i]] = false;
        ++left_;
      }
    }
  }

  /// Of the shortest paths from a device to all those of nodes that are attached to a group.
  void walk(const Start& start, Group to) {
    const Scope scope = Scope::fabric(start.group, to);
    spread(start.device, scope);
    for (const DeviceId device : met_ | std::views::reverse) {
      // Switches of other groups are met where the walk ends, and are many.
      if (scope.admits(graph_->device(device)) && leads_on(device, start.device, to)) {
        leads_[device.index()] = true;
        const std::uint32_t alike = symmetry_->of_device[device.index()];
        left_ -= between_[alike] ? 0U : 1U;
        between_[alike] = true;
      }
    }
    for (const DeviceId device : met_) {
      distance_[device.index()] = unmet;
      leads_[device.index()] = false;
    }
    met_.clear();
  }

  [[nodiscard]] std::uint64_t looked_at() const { return looked_at_; }
  /// Whether every switch is known to lie between two ends.
  [[nodiscard]] bool all_found() const { return left_ == 0; }
  [[nodiscard]] bool between(DeviceId device) const {
    return between_[symmetry_->of_device[device.index()]];
  }

 private:
  static constexpr std::uint32_t unmet = std::numeric_limits<std::uint32_t>::max();

  /// Meets all devices that are reached, in order of their distance.
  void spread(DeviceId from, Scope scope) {
    meet(from, 0);
    // NOLINTNEXTLINE(modernize-loop-convert): it grows meanwhile
    for (std::size_t i = 0; i < met_.size(); ++i) {
      const DeviceId device = met_[i];
      if (device != from && !scope.admits(graph_->device(device))) {
        continue;
      }
      for (const LinkId id : graph_->links_out(device)) {
        ++looked_at_;
        const DeviceId beyond = graph_->link(id).target;
        const bool own = device == from && graph_->device(beyond).node.has_value();
        if (!own && distance_[beyond.index()] == unmet) {
          meet(beyond, distance_[device.index()] + 1);
        }
      }
    }
  }

  void meet(DeviceId device, std::uint32_t distance) {
    distance_[device.index()] = distance;
    met_.push_back(device);
  }

  /// Whether a switch is next to an end, or to a switch that leads to one, on a shortest path.
  [[nodiscard]] bool leads_on(DeviceId device, DeviceId from, Group to) {
    if (graph_->device(device).node) {
      return false;
    }
    return std::ranges::any_of(graph_->links_out(device), [&](LinkId id) {
      ++looked_at_;
      const DeviceId beyond = graph_->link(id).target;
      if (beyond == from || distance_[beyond.index()] != distance_[device.index()] + 1) {
        return false;
      }
      const bool end = graph_->device(beyond).node && graph_->device(device).group == to;
      return end || leads_[beyond.index()];
    });
  }

  const Graph* graph_;
  const SymmetryClasses* symmetry_;
  std::vector<std::uint32_t> distance_;  ///< by device
  std::vector<bool> leads_;              ///< by device: to an end
  std::vector<bool> between_;            ///< by class; true of those of nodes
  std::size_t left_ = 0;                 ///< classes that are not known to be between
  std::vector<DeviceId> met_;
  std::uint64_t looked_at_ = 0;
};

}  // namespace

std::vector<bool> lies_between_nodes(const Graph& graph, const SymmetryClasses& symmetry) {
  std::vector<bool> may(graph.devices().size(), true);
  Marking marking(graph, symmetry);
  const std::vector<Group> groups = groups_of(graph);
  for (const Start& start : starts(graph, symmetry)) {
    for (const Group group : groups) {
      if (marking.all_found() || marking.looked_at() > most_links) {
        return may;
      }
      marking.walk(start, group);
    }
  }
  for (std::size_t i = 0; i < may.size(); ++i) {
    may[i] = graph.devices()[i].node || marking.between(DeviceId(i));
  }
  return may;
}

}  // namespace collsim::detail
