#include "topology/nearest_nic.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "topology/path_search.hpp"

namespace collsim::detail {

namespace {

struct Way {
  std::uint32_t links = std::numeric_limits<std::uint32_t>::max();
  Bandwidth width;
};

bool better(const Way& a, const Way& b) {
  return a.links != b.links ? a.links < b.links : a.width > b.width;
}

/// Walks from the NICs of a node, against the links, to its GPUs, one NIC after the other. A walk
/// does not pass a device to which an earlier NIC has at least as good a way: whatever lies beyond,
/// that NIC is at least as near, as wide and comes first. So one walk does nearly all the work,
/// however many NICs there are.
class NicWalk {
 public:
  explicit NicWalk(const Graph& graph)
      : graph_(&graph),
        way_(graph.devices().size()),
        best_(graph.devices().size()),
        nic_(graph.devices().size()) {}

  void walk_from_all(NodeId node) {
    for (const DeviceId nic : graph_->nics(node)) {
      walk_from(nic);
    }
    // Switches that belong to no node are met again from other nodes.
    for (const DeviceId device : improved_) {
      best_[device.index()] = {};
    }
    improved_.clear();
  }

  [[nodiscard]] std::vector<std::optional<DeviceId>> take() && { return std::move(nic_); }

 private:
  void walk_from(DeviceId nic) {
    way_[nic.index()] = {0, Bandwidth::from_units(std::numeric_limits<std::int64_t>::max())};
    met_.assign(1, nic);
    // In the order met, that is by links: a device's way is final when its turn comes.
    // NOLINTNEXTLINE(modernize-loop-convert): it grows meanwhile
    for (std::size_t i = 0; i < met_.size(); ++i) {
      const DeviceId device = met_[i];
      if (!better(way_[device.index()], best_[device.index()])) {
        continue;
      }
      best_[device.index()] = way_[device.index()];
      improved_.push_back(device);
      if (graph_->device(device).kind == DeviceKind::Gpu) {
        nic_[device.index()] = nic;
      } else {
        step_back(device, nic);
      }
    }
    for (const DeviceId device : met_) {
      way_[device.index()] = {};
    }
  }

  void step_back(DeviceId from, DeviceId nic) {
    const auto node = graph_->device(nic).node;
    const std::uint32_t links = way_[from.index()].links + 1;
    for (const LinkId id : graph_->links_in(from)) {
      const Link& link = graph_->link(id);
      const Device& device = graph_->device(link.source);
      const bool own_gpu = device.kind == DeviceKind::Gpu && device.node == node;
      if (!own_gpu && !Scope::within(node).admits(device)) {
        continue;
      }
      Way& way = way_[link.source.index()];
      if (way.links > links) {
        way.links = links;
        met_.push_back(link.source);
      }
      if (way.links == links) {
        way.width = std::max(way.width, std::min(way_[from.index()].width, link.bandwidth));
      }
    }
  }

  const Graph* graph_;
  std::vector<Way> way_;            ///< by device, of the walk under way
  std::vector<DeviceId> met_;       ///< devices with such a way, by links
  std::vector<Way> best_;           ///< by device, of the walks of this node so far
  std::vector<DeviceId> improved_;  ///< devices with such a way, some more than once
  std::vector<std::optional<DeviceId>> nic_;
};

}  // namespace

std::vector<std::optional<DeviceId>> nearest_nics(const Graph& graph) {
  NicWalk walk(graph);
  for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
    walk.walk_from_all(NodeId(node));
  }
  return std::move(walk).take();
}

}  // namespace collsim::detail
