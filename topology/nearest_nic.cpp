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

/// Walks from NICs, against the links, to the GPUs of their nodes.
class NicWalk {
 public:
  explicit NicWalk(const Graph& graph)
      : graph_(&graph),
        way_(graph.devices().size()),
        best_(graph.devices().size()),
        nic_(graph.devices().size()) {}

  void walk_from(DeviceId nic) {
    way_[nic.index()] = {0, Bandwidth::from_units(std::numeric_limits<std::int64_t>::max())};
    touched_.assign(1, nic);
    std::size_t begin = 0;
    for (std::uint32_t links = 1; begin < touched_.size(); ++links) {
      const std::size_t end = touched_.size();
      for (; begin < end; ++begin) {
        step_back(touched_[begin], nic, links);
      }
    }
    for (const DeviceId device : touched_) {
      offer(device, nic);
      way_[device.index()] = {};
    }
  }

  [[nodiscard]] std::vector<std::optional<DeviceId>> take() && { return std::move(nic_); }

 private:
  void step_back(DeviceId from, DeviceId nic, std::uint32_t links) {
    if (graph_->device(from).kind == DeviceKind::Gpu) {
      return;
    }
    const auto node = graph_->device(nic).node;
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
        touched_.push_back(link.source);
      }
      if (way.links == links) {
        way.width = std::max(way.width, std::min(way_[from.index()].width, link.bandwidth));
      }
    }
  }

  void offer(DeviceId device, DeviceId nic) {
    if (graph_->device(device).kind != DeviceKind::Gpu) {
      return;
    }
    if (!better(way_[device.index()], best_[device.index()])) {
      return;
    }
    best_[device.index()] = way_[device.index()];
    nic_[device.index()] = nic;
  }

  const Graph* graph_;
  std::vector<Way> way_;           ///< by device, of the walk under way
  std::vector<DeviceId> touched_;  ///< devices with a way, by links
  std::vector<Way> best_;          ///< by device, of the walks so far
  std::vector<std::optional<DeviceId>> nic_;
};

}  // namespace

std::vector<std::optional<DeviceId>> nearest_nics(const Graph& graph) {
  NicWalk walk(graph);
  for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
    for (const DeviceId nic : graph.nics(NodeId(node))) {
      walk.walk_from(nic);
    }
  }
  return std::move(walk).take();
}

}  // namespace collsim::detail
