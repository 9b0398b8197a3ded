#include "topology/check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace collsim {

namespace {

enum class Direction : std::uint8_t { Along, Against };

/// What one device reaches (along links), or what reaches it (against them). GPUs are reached but
/// not passed.
class Reach {
 public:
  Reach(const Graph& graph, GpusRelay relay)
      : graph_(&graph), relay_(relay), seen_in_(graph.devices().size(), 0) {}

  void search(DeviceId start, Direction direction) {
    ++search_;
    queue_.assign(1, start);
    seen_in_[start.index()] = search_;
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const DeviceId device = queue_[i];
      if (device != start && relay_ == GpusRelay::No &&
          graph_->device(device).kind == DeviceKind::Gpu) {
        continue;
      }
      const bool along = direction == Direction::Along;
      for (const LinkId id : along ? graph_->links_out(device) : graph_->links_in(device)) {
        const DeviceId other = along ? graph_->link(id).target : graph_->link(id).source;
        if (seen_in_[other.index()] == search_) {
          continue;
        }
        seen_in_[other.index()] = search_;
        queue_.push_back(other);
      }
    }
  }

  [[nodiscard]] bool contains(DeviceId device) const { return seen_in_[device.index()] == search_; }
  /// What the last search found, in the order found.
  [[nodiscard]] const std::vector<DeviceId>& found() const { return queue_; }

 private:
  const Graph* graph_;
  GpusRelay relay_;
  std::vector<std::uint32_t> seen_in_;  ///< by device: the last search that found it
  std::uint32_t search_ = 0;
  std::vector<DeviceId> queue_;
};

bool holds_all_gpus(const Graph& graph, const Reach& reach) {
  return std::ranges::all_of(graph.gpus(), [&](DeviceId gpu) { return reach.contains(gpu); });
}

/// Looks for a hub: a device that all GPUs reach and that reaches all. It lies on a path from the
/// first GPU to the last; the candidates are tried in order, skipping those that an earlier one has
/// decided (both reach each other, so they reach the same).
bool has_hub(const Graph& graph, Reach& forward, Reach& backward) {
  constexpr int most_tries = 8;
  forward.search(graph.gpus().front(), Direction::Along);
  backward.search(graph.gpus().back(), Direction::Against);
  std::vector<DeviceId> candidates;
  for (const DeviceId device : forward.found()) {
    if (graph.device(device).kind != DeviceKind::Gpu && backward.contains(device)) {
      candidates.push_back(device);
    }
  }
  for (int i = 0; i < most_tries && !candidates.empty(); ++i) {
    forward.search(candidates.front(), Direction::Along);
    backward.search(candidates.front(), Direction::Against);
    if (holds_all_gpus(graph, forward) && holds_all_gpus(graph, backward)) {
      return true;
    }
    std::erase_if(candidates, [&](DeviceId device) {
      return forward.contains(device) && backward.contains(device);
    });
  }
  return false;
}

bool same_targets(const Graph& graph, DeviceId a, DeviceId b) {
  return std::ranges::equal(graph.links_out(a), graph.links_out(b), [&](LinkId x, LinkId y) {
    return graph.link(x).target == graph.link(y).target;
  });
}

}  // namespace

std::optional<std::pair<DeviceId, DeviceId>> unreachable_pair(const Graph& graph, GpusRelay relay) {
  Reach forward(graph, relay);
  Reach backward(graph, relay);
  if (has_hub(graph, forward, backward)) {
    return std::nullopt;
  }
  const auto gpus = graph.gpus();
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    // Two GPUs with links to the same devices, and both reach all others: these devices reach all
    // GPUs. So does the next GPU with links to them.
    if (i >= 2 && same_targets(graph, gpus[i], gpus[i - 1]) &&
        same_targets(graph, gpus[i], gpus[i - 2])) {
      continue;
    }
    forward.search(gpus[i], Direction::Along);
    for (const DeviceId to : gpus) {
      if (!forward.contains(to)) {
        return std::pair(gpus[i], to);
      }
    }
  }
  return std::nullopt;
}

}  // namespace collsim
