#include "tools/topology_outline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "tools/format_text.hpp"
#include "topology/parts.hpp"

namespace collsim {

namespace {

// Clusters whose nodes have more devices together are not shown whole.
constexpr std::size_t most_devices_shown = 40;
// Of more switches, or whole nodes, side by side, some are counted.
constexpr std::size_t most_switches = 8;
constexpr std::size_t switches_before_more = 4;
constexpr std::size_t most_boxes = 4;
// Of a node with more GPUs, some are counted.
constexpr std::size_t most_gpus_shown = 16;
constexpr std::size_t gpus_before_more = 4;
// Nodes of different makes shown one by one.
constexpr std::size_t most_makes = 3;

std::string counted(std::uint64_t count, const std::string& what, const std::string& more) {
  return grouped(count) + " " + (count == 1 ? what : more);
}

/// Two nodes with the same make have devices of the same kinds with the same links between them.
using Make = std::vector<std::tuple<int, std::size_t, std::size_t, LinkKind, Bandwidth>>;

class OutlineBuilder {
 public:
  OutlineBuilder(const Graph& graph, OutlineExtent extent)
      : graph_(&graph),
        divisions_(divisions(graph)),
        item_of_(graph.devices().size(), nothing),
        member_of_(graph.devices().size(), 0),
        unlimited_(extent == OutlineExtent::Whole) {
    const auto in_nodes = static_cast<std::size_t>(std::ranges::count_if(
        graph.devices(), [](const Device& device) { return device.node.has_value(); }));
    whole_ = extent == OutlineExtent::Whole || in_nodes <= most_devices_shown;
    for (const Division& division : divisions_) {
      parts_.push_back(parts_of(division));
    }
  }

  Outline build() && {
    const std::size_t level = divisions_.size() - 1;
    outline_.whole = block(level, divisions_[level].part_of[graph_->gpus().front().index()]);
    add_lines();
    return std::move(outline_);
  }

 private:
  static constexpr std::size_t nothing = std::numeric_limits<std::size_t>::max();

  /// Devices by part.
  static std::vector<std::vector<DeviceId>> parts_of(const Division& division) {
    std::vector<std::vector<DeviceId>> parts;
    for (std::size_t i = 0; i < division.part_of.size(); ++i) {
      const std::uint32_t part = division.part_of[i];
      parts.resize(std::max<std::size_t>(parts.size(), part + 1));
      parts[part].emplace_back(i);
    }
    return parts;
  }

  std::size_t add_item(OutlineItem item) {
    outline_.items.push_back(std::move(item));
    return outline_.items.size() - 1;
  }

  std::size_t add_device(DeviceId id) {
    const Device& device = graph_->device(id);
    item_of_[id.index()] = add_item({graph_->name_in_node(id), "", device.kind, 1});
    return item_of_[id.index()];
  }

  std::size_t add_together(OutlineItem item, const std::vector<DeviceId>& devices) {
    const std::size_t number = add_item(std::move(item));
    for (const DeviceId id : devices) {
      item_of_[id.index()] = number;
    }
    outline_.devices_left_out += devices.size();
    return number;
  }

  /// A part of one level, shown. Levels at which it is one part of the level before are skipped.
  OutlineBlock block(std::size_t level, std::uint32_t part) {
    if (level == 0) {
      return node_block(part);
    }
    const std::vector<std::uint32_t> inner = inner_parts(level, part);
    const std::vector<DeviceId> own = own_devices(level, part);
    if (inner.size() == 1 && own.empty()) {
      return block(level - 1, inner.front());
    }
    OutlineBlock result;
    if (divisions_[level].parts > 1) {
      result.title = name_of_part(level, part);
    }
    std::vector<std::uint32_t> rest;
    for (std::size_t i = 0; i < inner.size(); ++i) {
      if (is_shown(level - 1, inner[i], i)) {
        result.blocks.push_back(block(level - 1, inner[i]));
      } else {
        rest.push_back(inner[i]);
      }
    }
    add_boxes(result, level - 1, rest);
    add_switches(result, own);
    return result;
  }

  OutlineBlock node_block(std::uint32_t part) {
    OutlineBlock result;
    result.is_node = true;
    const std::vector<DeviceId>& devices = parts_[0][part];
    if (const auto node = graph_->device(devices.front()).node; node && graph_->nodes() > 1) {
      result.title = "node" + std::to_string(node->value());
    }
    std::map<DeviceKind, std::vector<DeviceId>> kinds;
    for (const DeviceId id : devices) {
      kinds[graph_->device(id).kind].push_back(id);
    }
    result.devices.emplace_back();
    for (const auto& [kind, members] : kinds) {
      const std::size_t single = shown_of_kind(members.size(), kinds[DeviceKind::Gpu].size());
      for (std::size_t i = 0; i < single; ++i) {
        result.devices.front().push_back(add_device(members[i]));
      }
      if (single < members.size()) {
        result.devices.front().push_back(add_more(members, single));
      }
    }
    return result;
  }

  /// Of a node with very many GPUs four are shown, and of its other devices as many as go with them.
  [[nodiscard]] std::size_t shown_of_kind(std::size_t members, std::size_t gpus) const {
    if (unlimited_ || gpus <= most_gpus_shown || members <= most_switches) {
      return members;
    }
    return std::max<std::size_t>(1, members * gpus_before_more / gpus);
  }

  /// The box of what follows the first devices of a kind.
  std::size_t add_more(const std::vector<DeviceId>& devices, std::size_t first) {
    const std::vector<DeviceId> more(devices.begin() + static_cast<std::ptrdiff_t>(first),
                                     devices.end());
    for (std::size_t i = 0; i < more.size(); ++i) {
      member_of_[more[i].index()] = static_cast<std::uint32_t>(i);
    }
    return add_together(
        {"× " + grouped(more.size()) + " more", "", graph_->device(more.front()).kind, more.size()},
        more);
  }

  [[nodiscard]] std::vector<std::uint32_t> inner_parts(std::size_t level,
                                                       std::uint32_t part) const {
    std::set<std::uint32_t> found;
    const Division& inner = divisions_[level - 1];
    for (const DeviceId id : parts_[level][part]) {
      if (inner.part_of[id.index()] < inner.parts) {
        found.insert(inner.part_of[id.index()]);
      }
    }
    return {found.begin(), found.end()};
  }

  [[nodiscard]] std::vector<DeviceId> own_devices(std::size_t level, std::uint32_t part) const {
    std::vector<DeviceId> own;
    const Division& inner = divisions_[level - 1];
    std::ranges::copy_if(parts_[level][part], std::back_inserter(own),
                         [&](DeviceId id) { return inner.part_of[id.index()] >= inner.parts; });
    return own;
  }

  /// Whether a part is shown one by one: the first of all, and nodes of a make not seen before.
  bool is_shown(std::size_t level, std::uint32_t part, std::size_t position) {
    if (whole_) {
      return true;
    }
    if (level > 0) {
      return position == 0;
    }
    if (position > 0 && makes_.size() == most_makes) {
      return false;
    }
    return makes_.insert(make_of(parts_[0][part])).second || position == 0;
  }

  [[nodiscard]] Make make_of(const std::vector<DeviceId>& devices) const {
    Make make;
    const auto place = [&](DeviceId id) {
      return static_cast<std::size_t>(std::ranges::lower_bound(devices, id) - devices.begin());
    };
    for (const DeviceId id : devices) {
      make.emplace_back(static_cast<int>(graph_->device(id).kind), 0, 0, LinkKind::Generic,
                        Bandwidth());
      for (const LinkId link_id : graph_->links_out(id)) {
        const Link& link = graph_->link(link_id);
        if (std::ranges::binary_search(devices, link.target)) {
          make.emplace_back(-1, place(id), place(link.target), link.kind, link.bandwidth);
        }
      }
    }
    return make;
  }

  /// Whole nodes or groups: each in a box, or if there are many the first and the rest.
  void add_boxes(OutlineBlock& block, std::size_t level, const std::vector<std::uint32_t>& parts) {
    const std::size_t single = parts.size() < most_boxes ? parts.size() : 1;
    for (std::size_t i = 0; i < single; ++i) {
      block.boxes.push_back(add_together(
          {name_of_part(level, parts[i]), contents(parts_[level][parts[i]]), std::nullopt, 1},
          parts_[level][parts[i]]));
    }
    if (parts.size() == single) {
      return;
    }
    std::vector<DeviceId> devices;
    for (std::size_t i = single; i < parts.size(); ++i) {
      for (const DeviceId id : parts_[level][parts[i]]) {
        devices.push_back(id);
        member_of_[id.index()] = static_cast<std::uint32_t>(i);
      }
    }
    const std::size_t left = parts.size() - single;
    const std::string what = level == 0 ? "nodes" : divisions_[level].name + " groups";
    block.boxes.push_back(add_together(
        {"× " + grouped(left) + " more " + what, contents(devices), std::nullopt, left}, devices));
  }

  [[nodiscard]] std::string name_of_part(std::size_t level, std::uint32_t part) const {
    if (level > 0) {
      return divisions_[level].name + " group " + std::to_string(part);
    }
    const auto node = graph_->device(parts_[0][part].front()).node;
    return "node" + std::to_string(node ? node->value() : part);
  }

  [[nodiscard]] std::string contents(const std::vector<DeviceId>& devices) const {
    std::uint64_t gpus = 0;
    std::uint64_t nics = 0;
    std::set<NodeId> nodes;
    for (const DeviceId id : devices) {
      const Device& device = graph_->device(id);
      gpus += device.kind == DeviceKind::Gpu ? 1 : 0;
      nics += device.kind == DeviceKind::Nic ? 1 : 0;
      if (device.node) {
        nodes.insert(*device.node);
      }
    }
    std::string text = counted(gpus, "GPU", "GPUs");
    if (nodes.size() > 1) {
      return counted(nodes.size(), "node", "nodes") + ", " + text;
    }
    return nics == 0 ? text : text + ", " + counted(nics, "NIC", "NICs");
  }

  /// The switches of a group in tiers, by how far they are from what has a box already.
  void add_switches(OutlineBlock& block, const std::vector<DeviceId>& own) {
    std::vector<DeviceId> left = own;
    while (!left.empty()) {
      std::vector<DeviceId> tier;
      std::vector<DeviceId> beyond;
      for (const DeviceId id : left) {
        (touches_shown(id) ? tier : beyond).push_back(id);
      }
      if (tier.empty()) {
        std::swap(tier, beyond);  // nothing leads to them
      }
      add_tier(block, tier);
      left = std::move(beyond);
    }
  }

  [[nodiscard]] bool touches_shown(DeviceId id) const {
    return std::ranges::any_of(graph_->links_out(id),
                               [&](LinkId link) {
                                 return item_of_[graph_->link(link).target.index()] != nothing;
                               }) ||
           std::ranges::any_of(graph_->links_in(id), [&](LinkId link) {
             return item_of_[graph_->link(link).source.index()] != nothing;
           });
  }

  void add_tier(OutlineBlock& block, const std::vector<DeviceId>& tier) {
    std::vector<std::size_t>& items = block.devices.emplace_back();
    const bool all = unlimited_ || tier.size() <= most_switches;
    const std::size_t single = all ? tier.size() : switches_before_more;
    for (std::size_t i = 0; i < single; ++i) {
      items.push_back(add_device(tier[i]));
    }
    if (single == tier.size()) {
      return;
    }
    items.push_back(add_more(tier, single));
  }

  struct Bundle {
    std::uint64_t forth = 0;
    std::uint64_t back = 0;
    Bandwidth narrowest;
    double forth_bps = 0;
    double back_bps = 0;
    std::vector<std::uint64_t> members;  ///< pairs of things in the two boxes, one for each link
  };

  void add_lines() {
    std::map<std::tuple<std::size_t, std::size_t, LinkKind>, Bundle> bundles;
    for (const Link& link : graph_->links()) {
      const std::size_t from = item_of_[link.source.index()];
      const std::size_t to = item_of_[link.target.index()];
      if (from == to) {
        continue;
      }
      Bundle& bundle = bundles[{std::min(from, to), std::max(from, to), link.kind}];
      const bool first = bundle.forth + bundle.back == 0;
      bundle.narrowest = first ? link.bandwidth : std::min(bundle.narrowest, link.bandwidth);
      (from < to ? bundle.forth : bundle.back) += 1;
      (from < to ? bundle.forth_bps : bundle.back_bps) += link.bandwidth.as_bytes_per_second();
      const DeviceId low = from < to ? link.source : link.target;
      const DeviceId high = from < to ? link.target : link.source;
      bundle.members.push_back((std::uint64_t{member_of_[low.index()]} << 32U) |
                               member_of_[high.index()]);
    }
    for (auto& [ends, bundle] : bundles) {
      const auto& [low, high, kind] = ends;
      const bool backwards = bundle.forth == 0;
      outline_.lines.push_back({backwards ? high : low, backwards ? low : high, kind,
                                std::max(bundle.forth, bundle.back), bundle.narrowest,
                                std::max(bundle.forth_bps, bundle.back_bps) / pairs_in(bundle),
                                bundle.forth == 0 || bundle.back == 0});
    }
  }

  /// How many pairs of one thing in a box and one in the other the links of a bundle join.
  static double pairs_in(Bundle& bundle) {
    std::ranges::sort(bundle.members);
    const auto rest = std::ranges::unique(bundle.members);
    return static_cast<double>(bundle.members.size() - rest.size());
  }

  const Graph* graph_;
  std::vector<Division> divisions_;
  std::vector<std::vector<std::vector<DeviceId>>> parts_;  ///< by division, then by part
  std::vector<std::size_t> item_of_;                       ///< by device
  std::vector<std::uint32_t> member_of_;                   ///< by device: which thing in its box
  bool whole_ = false;                                     ///< no node is put into a box
  bool unlimited_ = false;                                 ///< and no switch
  std::set<Make> makes_;
  Outline outline_;
};

}  // namespace

Outline outline_of(const Graph& graph, OutlineExtent extent) {
  return OutlineBuilder(graph, extent).build();
}

}  // namespace collsim
