// The inside of a node: layers of devices by their kind.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "tools/picture_layering.hpp"
#include "tools/picture_layout.hpp"

namespace collsim {

namespace {

constexpr double box_gap = 12;
constexpr double layer_gap = 38;
// An arc goes the deeper the farther its ends are apart.
constexpr double least_arc = 20;
constexpr double deepest_arc = 120;
constexpr double arc_slope = 0.16;

enum class Height : std::uint8_t { Nvswitch, Gpu, PcieSwitch, UpperPcieSwitch, Cpu, Nic };

Height height_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::Nvswitch:
      return Height::Nvswitch;
    case DeviceKind::Gpu:
      return Height::Gpu;
    case DeviceKind::PcieSwitch:
    case DeviceKind::NetworkSwitch:
      return Height::PcieSwitch;
    case DeviceKind::Cpu:
      return Height::Cpu;
    case DeviceKind::Nic:
      return Height::Nic;
  }
  return Height::Gpu;
}

bool is_endpoint(const OutlineItem& item) {
  return item.kind == DeviceKind::Gpu || item.kind == DeviceKind::Nic;
}

class NodeLayout {
 public:
  NodeLayout(const Outline& outline, const std::vector<std::size_t>& items)
      : outline_(&outline), items_(&items), layering_(count_layers(), box_gap) {
    for (const std::size_t item : items) {
      layering_.add(item, layer_of_height_.at(height(item)), box_size(outline.items[item]));
    }
    for (std::size_t i = 0; i < outline.lines.size(); ++i) {
      sort_in(i);
    }
  }

  PictureArea run() && {
    layering_.place();
    std::vector<double> gaps(layer_of_height_.size(), layer_gap);
    gaps.front() = 0;
    for (const std::size_t line : level_) {
      const auto [a, b] = ends(line);
      if (!layering_.adjacent(a, b)) {
        double& gap = gaps[layering_.layer_of(a)];
        gap = std::max(gap, arc_depth(a, b));
      }
    }
    area_.height = layering_.stack(0, gaps);
    for (const std::size_t item : *items_) {
      area_.boxes[item] = layering_.box(item);
    }
    for (const auto& [line, way] : rising_) {
      const auto [a, b] = ends(line);
      add_rising_line(area_, layering_, {line, a, b}, way);
    }
    for (const std::size_t line : level_) {
      const auto [a, b] = ends(line);
      add_level_line(area_, layering_, {line, a, b}, BoxSide::Bottom, -arc_depth(a, b));
    }
    for (const auto& [item, way] : leaving_) {
      area_.trails[item] = layering_.points(way);
    }
    area_.width = layering_.right() - layering_.left();
    area_.shift(-layering_.left(), 0);
    return std::move(area_);
  }

 private:
  /// PCIe switches that join switches and CPUs only stand above those that have GPUs or NICs.
  [[nodiscard]] Height height(std::size_t item) const {
    const Height own = height_of(*outline_->items[item].kind);
    if (own != Height::PcieSwitch) {
      return own;
    }
    const bool has_endpoint = std::ranges::any_of(outline_->lines, [&](const OutlineLine& line) {
      return (line.from == item && is_endpoint(outline_->items[line.to])) ||
             (line.to == item && is_endpoint(outline_->items[line.from]));
    });
    return has_endpoint ? own : Height::UpperPcieSwitch;
  }

  std::size_t count_layers() {
    for (const std::size_t item : *items_) {
      layer_of_height_[height(item)] = 0;
    }
    std::size_t layer = 0;
    for (auto& [height, number] : layer_of_height_) {
      number = layer++;
    }
    return layer;
  }

  [[nodiscard]] std::pair<std::size_t, std::size_t> ends(std::size_t line) const {
    return {outline_->lines[line].from, outline_->lines[line].to};
  }

  /// Lines up and down, lines within a layer, and lines out of the node.
  void sort_in(std::size_t line) {
    const auto [a, b] = ends(line);
    if (layering_.has(a) && layering_.has(b)) {
      if (layering_.layer_of(a) == layering_.layer_of(b)) {
        level_.push_back(line);
      } else {
        rising_.emplace_back(line, layering_.join(a, b));
      }
      return;
    }
    for (const std::size_t item : {a, b}) {
      if (layering_.has(item) && !leaving_.contains(item)) {
        leaving_[item] = layering_.lead_out(item);
      }
    }
  }

  [[nodiscard]] double arc_depth(std::size_t a, std::size_t b) const {
    const double apart = std::abs(layering_.box(a).middle.x - layering_.box(b).middle.x);
    return std::min(deepest_arc, least_arc + arc_slope * apart);
  }

  const Outline* outline_;
  const std::vector<std::size_t>* items_;
  std::map<Height, std::size_t> layer_of_height_;
  PictureLayering layering_;
  std::vector<std::pair<std::size_t, PictureLayering::Way>> rising_;
  std::vector<std::size_t> level_;
  std::map<std::size_t, PictureLayering::Way> leaving_;
  PictureArea area_;
};

}  // namespace

PictureArea node_layout(const Outline& outline, const std::vector<std::size_t>& items) {
  return NodeLayout(outline, items).run();
}

}  // namespace collsim
