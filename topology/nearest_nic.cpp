#include "topology/nearest_nic.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "topology/path_search.hpp"
#include "topology/units.hpp"

namespace collsim::detail {

/// Walks from the NICs of a node, against the links, to its GPUs: layer by layer, a layer being the
/// devices with as many links to their nearest NICs.
class NicWalk {
 public:
  NicWalk(const Graph& graph, NearestNics& result)
      : graph_(&graph), result_(&result), way_(graph.devices().size()) {}

  void walk_from(NodeId node) {
    known_.clear();
    reaches_.clear();
    layer_.clear();
    met_.clear();
    for (const DeviceId nic : graph_->nics(node)) {
      way_[nic.index()] = {0, static_cast<std::uint32_t>(reaches_.size()), 0};
      reaches_.push_back({{nic, Bandwidth::from_units(std::numeric_limits<std::int64_t>::max())}});
      layer_.push_back(nic);
      met_.push_back(nic);
    }
    for (std::uint32_t links = 1; !layer_.empty(); ++links) {
      step_back(links, node);
    }
    finish();
  }

 private:
  static constexpr std::uint32_t unmet = std::numeric_limits<std::uint32_t>::max();

  /// A NIC, and the widest of the shortest ways to it.
  struct WayTo {
    DeviceId nic;
    Bandwidth width;
  };
  /// The NICs to which the fewest links are left, in order of id.
  using Reach = std::vector<WayTo>;
  /// A neighbour's reach, a position in reaches_, and the width of the link to it.
  using Step = std::pair<std::uint32_t, Bandwidth>;

  struct Way {
    std::uint32_t links = unmet;
    std::uint32_t reach = 0;
    std::uint32_t place = 0;  ///< in the layer that is being found
  };
  /// A device of the next layer, with the steps to the layer before it.
  struct Found {
    DeviceId device;
    std::vector<Step> steps;
  };

  /// What these steps reach. Devices with the same steps, as all those on one switch, have the same.
  std::uint32_t reach_by(std::vector<Step> steps) {
    std::ranges::sort(steps);
    const auto doubles = std::ranges::unique(steps);
    steps.erase(doubles.begin(), doubles.end());
    const auto [known, is_new] =
        known_.emplace(std::move(steps), static_cast<std::uint32_t>(reaches_.size()));
    if (is_new) {
      std::map<DeviceId, Bandwidth> widest;
      for (const auto& [reach, width] : known->first) {
        for (const WayTo& way : reaches_[reach]) {
          Bandwidth& best = widest[way.nic];
          best = std::max(best, std::min(way.width, width));
        }
      }
      Reach united;
      for (const auto& [nic, width] : widest) {
        united.push_back({nic, width});
      }
      reaches_.push_back(std::move(united));
    }
    return known->second;
  }

  /// From a layer to the next.
  void step_back(std::uint32_t links, NodeId node) {
    std::vector<Found> next;
    for (const DeviceId device : layer_) {
      if (graph_->device(device).kind == DeviceKind::Gpu) {
        continue;  // forwards nothing
      }
      const std::uint32_t reach = way_[device.index()].reach;
      for (const LinkId id : graph_->links_in(device)) {
        const Link& link = graph_->link(id);
        if (!admits(link.source, node)) {
          continue;
        }
        Way& way = way_[link.source.index()];
        if (way.links == unmet) {
          way.links = links;
          way.place = static_cast<std::uint32_t>(next.size());
          next.push_back({link.source, {}});
          met_.push_back(link.source);
        }
        if (way.links == links) {
          next[way.place].steps.emplace_back(reach, link.bandwidth);
        }
      }
    }
    layer_.clear();
    for (Found& found : next) {
      way_[found.device.index()].reach = reach_by(std::move(found.steps));
      layer_.push_back(found.device);
    }
  }

  [[nodiscard]] bool admits(DeviceId id, NodeId node) const {
    const Device& device = graph_->device(id);
    const bool own_gpu = device.kind == DeviceKind::Gpu && device.node == node;
    return own_gpu || Scope::within(node).admits(device);
  }

  /// Of a reach, the NICs over the widest way.
  [[nodiscard]] std::vector<DeviceId> widest_of(std::uint32_t reach) const {
    Bandwidth width;
    for (const WayTo& way : reaches_[reach]) {
      width = std::max(width, way.width);
    }
    std::vector<DeviceId> nics;
    for (const WayTo& way : reaches_[reach]) {
      if (way.width == width) {
        nics.push_back(way.nic);
      }
    }
    return nics;
  }

  /// Keeps what GPUs need and forgets the rest: switches of no node are met from other nodes again.
  void finish() {
    struct Kept {
      NearestNics::Range range;
      std::uint32_t gpus = 0;
    };
    std::map<std::uint32_t, std::vector<DeviceId>> nics_of_reach;
    std::map<std::vector<DeviceId>, Kept> kept;
    std::vector<DeviceId> gpus;
    for (const DeviceId device : met_) {
      if (graph_->device(device).kind == DeviceKind::Gpu) {
        gpus.push_back(device);
      }
    }
    std::ranges::sort(gpus);
    const auto kept_for = [&](DeviceId gpu) -> Kept& {
      std::vector<DeviceId>& nics = nics_of_reach[way_[gpu.index()].reach];
      if (nics.empty()) {
        nics = widest_of(way_[gpu.index()].reach);
      }
      return kept[nics];
    };
    for (const DeviceId gpu : gpus) {
      Kept& own = kept_for(gpu);
      if (own.gpus == 0) {
        const std::vector<DeviceId>& nics = nics_of_reach[way_[gpu.index()].reach];
        own.range.begin = static_cast<std::uint32_t>(result_->nics_.size());
        result_->nics_.insert(result_->nics_.end(), nics.begin(), nics.end());
        own.range.end = static_cast<std::uint32_t>(result_->nics_.size());
      }
      result_->range_[gpu.index()] = own.range;
      result_->sharing_[gpu.index()].position = own.gpus++;
    }
    for (const DeviceId gpu : gpus) {
      result_->sharing_[gpu.index()].gpus = kept_for(gpu).gpus;
    }
    for (const DeviceId device : met_) {
      way_[device.index()] = {};
    }
  }

  const Graph* graph_;
  NearestNics* result_;
  std::vector<Way> way_;         ///< by device
  std::vector<DeviceId> layer_;  ///< of the walk under way
  std::vector<DeviceId> met_;    ///< devices that have a way
  std::map<std::vector<Step>, std::uint32_t> known_;
  std::vector<Reach> reaches_;
};

NearestNics::NearestNics(const Graph& graph)
    : range_(graph.devices().size()), sharing_(graph.devices().size()) {
  NicWalk walk(graph, *this);
  for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
    walk.walk_from(NodeId(node));
  }
}

std::span<const DeviceId> NearestNics::of(DeviceId gpu) const {
  const Range range = range_[gpu.index()];
  return {nics_.data() + range.begin, range.end - range.begin};
}

}  // namespace collsim::detail
