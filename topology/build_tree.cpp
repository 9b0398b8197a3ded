// Trees of switches: one switch, leaves and spines, fat trees of any height, rail-optimised ones, in one
// or several planes.
//
// A tree is built from blocks (an extended generalised fat tree, Öhring et al., IPPS 1995). A block of
// height 0 is a leaf with its ports up. A block of height t joins as many blocks of height t - 1 as the
// ports down of its `count` switches hold: port q (up) of each of them has a cable to switch q mod count.
// The ports up of its switches, switch by switch, are the block's own. The highest tier is one block.

#include <algorithm>
#include <string>

#include "topology/build.hpp"
#include "topology/error.hpp"
#include "topology/tree_ports.hpp"

namespace collsim::detail {

namespace {

/// A tier with its ports counted.
struct Tier {
  std::optional<std::uint32_t> down;    ///< absent: as many as needed
  std::uint64_t up = 0;                 ///< of each switch
  std::uint64_t switches_in_block = 1;  ///< of this height
  std::uint64_t ports_of_block = 0;     ///< up
  std::uint64_t blocks_below = 1;       ///< that a block joins
  std::uint64_t blocks = 0;             ///< in a plane
};

/// Where a port of a NIC goes: which plane, and which of the leaves of its group.
struct LeafPort {
  std::uint32_t plane = 0;
  std::uint32_t leaf = 0;
};

class Tree : public Fabric {
 public:
  Tree(const FabricSpec& spec, const NodeList& nodes)
      : spec_(&spec), nodes_(&nodes), siblings_(spec.planes == 1 ? spec.nic_ports : 1) {
    require_count(spec.planes, "fabric.planes");
    require_count(spec.nic_ports, "fabric.nic_ports");
    if (spec.planes != 1 && spec.planes % spec.nic_ports != 0) {
      throw InputError("expected 1 plane or a multiple of " + std::to_string(spec.nic_ports) +
                           ", the ports of a NIC, got " + std::to_string(spec.planes),
                       "fabric.planes");
    }
    const std::uint32_t ports = std::max(1U, nodes.most_nics() * spec.nic_ports);
    const std::uint32_t ports_in_plane = (ports - 1) / spec.planes + 1;
    rails_ = spec.kind == FabricKind::RailOptimized
                 ? spec.rails.value_or(std::max(1U, ports_in_plane / siblings_))
                 : 1;
    require_count(rails_, "fabric.rails");
    for (std::size_t tier = 0; tier < spec.tiers.size(); ++tier) {
      const TierPorts counted = count_ports(spec, tier);
      tiers_.push_back({counted.down, counted.up});
    }
    place_nodes();
    for (std::size_t tier = 1; tier < tiers_.size(); ++tier) {
      join_blocks(tier);
    }
  }

  [[nodiscard]] std::uint64_t switches() const override {
    std::uint64_t switches = 0;
    for (const Tier& tier : tiers_) {
      switches += spec_->planes * tier.blocks * tier.switches_in_block;
    }
    return switches;
  }

  [[nodiscard]] std::uint64_t links() const override {
    std::uint64_t cables = nodes_->nics() * spec_->nic_ports;
    for (std::size_t tier = 1; tier < tiers_.size(); ++tier) {
      cables += cables_up(tier - 1);
    }
    return 2 * cables;
  }

  /// The tier whose cables up are more than the links of all nodes, if there is one.
  [[nodiscard]] std::string size_path() const override {
    const std::uint64_t of_nodes = nodes_->links() / 2 + nodes_->nics() * spec_->nic_ports;
    for (std::size_t tier = 1; tier < tiers_.size(); ++tier) {
      if (cables_up(tier - 1) > of_nodes) {
        return tier_path(*spec_, tier - 1);
      }
    }
    return "nodes";
  }

  [[nodiscard]] std::vector<Provenance> derived() const override {
    std::vector<Provenance> values;
    const auto add = [&values](const std::string& path, std::uint64_t value) {
      values.push_back({path, std::to_string(value), "derived"});
    };
    if (spec_->kind == FabricKind::RailOptimized && !spec_->rails) {
      add("fabric.rails", rails_);
    }
    if (spec_->kind == FabricKind::SingleSwitch && !spec_->tiers.front().ports) {
      add("fabric.switch.ports", nodes_->nics());
    }
    for (std::size_t i = 0; i < tiers_.size() && !is_single(); ++i) {
      const TierSpec& spec = spec_->tiers[i];
      const std::string path = tier_path(*spec_, i);
      if (!spec.down && tiers_[i].down) {
        add(path + ".down", *tiers_[i].down);
      }
      if (!spec.up && i + 1 < tiers_.size()) {
        add(path + ".up", tiers_[i].up);
      }
      if (!spec.count && i > 0) {
        add(path + ".count", tiers_[i].switches_in_block);
      }
    }
    return values;
  }

  void add(GraphBuilder& builder) const override {
    std::vector<std::vector<DeviceId>> below;  // by plane
    for (std::size_t tier = 0; tier < tiers_.size(); ++tier) {
      const std::uint32_t stem =
          builder.add_stem(switch_stem(stem_of(tier), *nodes_), !is_single());
      const FabricCable cable{
          spec_->tiers[tier].link, tier == 0 ? Duration::zero() : spec_->tiers[tier - 1].latency,
          spec_->tiers[tier].latency, builder.add_level(is_single() ? "leaf" : tier_name(tier))};
      const auto in_plane = tiers_[tier].blocks * tiers_[tier].switches_in_block;
      const std::vector<DeviceId> all = add_switches(builder, stem, spec_->planes * in_plane);
      std::vector<std::vector<DeviceId>> planes;
      for (std::uint32_t plane = 0; plane < spec_->planes; ++plane) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(plane * in_plane);
        planes.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(in_plane));
        number_switches(builder, tier, planes.back());
      }
      if (tier == 0) {
        attach_nodes(builder, cable, planes);
      } else {
        for (std::uint32_t plane = 0; plane < spec_->planes; ++plane) {
          join(builder, cable, tier, below[plane], planes[plane]);
        }
      }
      below = std::move(planes);
    }
  }

 private:
  [[nodiscard]] bool is_single() const { return spec_->kind == FabricKind::SingleSwitch; }

  /// From the switches of a tier to those of the next one.
  [[nodiscard]] std::uint64_t cables_up(std::size_t tier) const {
    return spec_->planes * tiers_[tier].blocks * tiers_[tier].ports_of_block;
  }

  [[nodiscard]] std::string tier_name(std::size_t tier) const {
    return detail::tier_name(*spec_, tier);
  }

  /// Of the switches' names: "leaf", but "tier3_", as a number follows.
  [[nodiscard]] std::string stem_of(std::size_t tier) const {
    return tier_name(tier) + (tier > 2 ? "_" : "");
  }

  /// The leaf within its group: port p of NIC i is number e = i · nic_ports + p of its node; the planes
  /// take them in turn, and within a plane the rails.
  [[nodiscard]] LeafPort leaf_port(std::uint32_t nic, std::uint32_t port) const {
    const std::uint32_t number = nic * spec_->nic_ports + port;
    COLLSIM_ENSURE(spec_->planes > 0 && siblings_ > 0 && rails_ > 0, "checked by the constructor");
    const std::uint32_t rail = number / spec_->planes / siblings_ % rails_;
    return {number % spec_->planes, rail * siblings_ + (siblings_ > 1 ? port : 0)};
  }

  [[nodiscard]] std::uint32_t leaves_in_group() const { return rails_ * siblings_; }

  /// Ports that a node takes of each leaf of its group, by plane and leaf.
  [[nodiscard]] std::vector<std::uint32_t> ports_taken(const NodeTemplate& node) const {
    std::vector<std::uint32_t> taken(std::size_t{spec_->planes} * leaves_in_group(), 0);
    for (std::uint32_t nic = 0; nic < node.nics.size(); ++nic) {
      for (std::uint32_t port = 0; port < spec_->nic_ports; ++port) {
        const LeafPort to = leaf_port(nic, port);
        ++taken[std::size_t{to.plane} * leaves_in_group() + to.leaf];
      }
    }
    return taken;
  }

  /// There is no tier above to join several switches.
  [[noreturn]] void refuse_single_tier() const {
    throw InputError("expected at least " + std::to_string(nodes_->nics() * spec_->nic_ports) +
                         " ports, one for each NIC, got " + std::to_string(*tiers_.front().down),
                     ports_path(*spec_, 0));
  }

  /// Whole nodes go to a group of leaves as long as their ports hold.
  void place_nodes() {
    Tier& leaves = tiers_.front();
    std::vector<std::uint32_t> used;
    const NodeTemplate* last = nullptr;
    std::vector<std::uint32_t> taken;
    group_begin_.assign(1, 0);
    nodes_->for_each([&](NodeId node, DeviceId, const NodeTemplate& shape) {
      if (&shape != last) {
        last = &shape;
        taken = ports_taken(shape);
        require_room(taken);
      }
      used.resize(taken.size(), 0);
      if (leaves.down && !fits(used, taken, *leaves.down)) {
        group_begin_.push_back(node.value());
        used.assign(taken.size(), 0);
      }
      for (std::size_t i = 0; i < taken.size(); ++i) {
        used[i] += taken[i];
      }
    });
    leaves.blocks = group_begin_.size() * leaves_in_group();
    leaves.ports_of_block = leaves.up;
    if (tiers_.size() == 1 && leaves.blocks > 1) {
      refuse_single_tier();
    }
  }

  static bool fits(const std::vector<std::uint32_t>& used, const std::vector<std::uint32_t>& taken,
                   std::uint32_t down) {
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (std::uint64_t{used[i]} + taken[i] > down) {
        return false;
      }
    }
    return true;
  }

  void require_room(const std::vector<std::uint32_t>& taken) const {
    const Tier& leaves = tiers_.front();
    const std::uint32_t most = *std::ranges::max_element(taken);
    if (!leaves.down || most <= *leaves.down) {
      return;
    }
    if (tiers_.size() == 1) {
      refuse_single_tier();
    }
    throw InputError("expected enough ports for a whole node, " + std::to_string(most) +
                         " down, got " + std::to_string(*leaves.down) + " down and " +
                         std::to_string(leaves.up) + " up",
                     ports_path(*spec_, 0));
  }

  /// As few switches as have ports enough to join all of the tier below; where the number of their
  /// ports is open, one cable from each switch below to each.
  [[nodiscard]] std::uint64_t fewest_switches(std::size_t number) const {
    const Tier& below = tiers_[number - 1];
    const std::uint64_t ports = below.ports_of_block;
    const auto& down = tiers_[number].down;
    if (!down || number + 1 < tiers_.size()) {
      return ports;
    }
    std::uint64_t switches = std::min(ports, (below.blocks * ports - 1) / std::max(1U, *down) + 1);
    while (ports % switches != 0 ||
           (below.blocks * (ports / switches) > *down && switches < ports)) {
      ++switches;
    }
    return switches;
  }

  void join_blocks(std::size_t number) {
    Tier& tier = tiers_[number];
    const Tier& below = tiers_[number - 1];
    const std::string path = tier_path(*spec_, number);
    const std::string noun = number == 1 ? "leaf" : "group below";
    const std::uint64_t ports = below.ports_of_block;
    const auto& count = spec_->tiers[number].count;
    tier.switches_in_block = count ? *count : fewest_switches(number);
    if (tier.switches_in_block == 0 || ports % tier.switches_in_block != 0) {
      throw InputError("expected a divisor of the " + std::to_string(ports) +
                           " ports up that each " + noun + " has, got " +
                           std::to_string(tier.switches_in_block),
                       path + ".count");
    }
    const std::uint64_t cables =
        ports / tier.switches_in_block;  // of each block below to each switch
    const bool highest = number + 1 == tiers_.size();
    if (highest) {
      tier.blocks_below = below.blocks;
      if (tier.down && *tier.down < below.blocks * cables) {
        throw InputError("expected at least " + std::to_string(below.blocks * cables) + " ports, " +
                             (cables == 1 ? "one" : std::to_string(cables)) + " for each " + noun +
                             ", got " + std::to_string(*tier.down),
                         ports_path(*spec_, number));
      }
    } else {
      tier.blocks_below = *tier.down / cables;
      if (tier.blocks_below == 0) {
        throw InputError("expected at least " + std::to_string(cables) +
                             " ports down, as many as cables from each " + noun + ", got " +
                             std::to_string(*tier.down),
                         ports_path(*spec_, number));
      }
    }
    tier.blocks = (below.blocks - 1) / tier.blocks_below + 1;
    tier.ports_of_block = tier.switches_in_block * tier.up;
    require_sizes(tier.blocks * tier.switches_in_block, tier.blocks * tier.ports_of_block, path);
  }

  void attach_nodes(GraphBuilder& builder, const FabricCable& cable,
                    const std::vector<std::vector<DeviceId>>& leaves) const {
    std::size_t group = 0;
    nodes_->for_each([&](NodeId node, DeviceId first, const NodeTemplate& shape) {
      if (group + 1 < group_begin_.size() && node.value() == group_begin_[group + 1]) {
        ++group;
      }
      for (std::uint32_t nic = 0; nic < shape.nics.size(); ++nic) {
        for (std::uint32_t port = 0; port < spec_->nic_ports; ++port) {
          const LeafPort to = leaf_port(nic, port);
          cable.add(builder, DeviceId(first.value() + shape.nics[nic]),
                    leaves[to.plane][group * leaves_in_group() + to.leaf]);
        }
      }
    });
  }

  /// Tells the router where the switches of a plane stand.
  void number_switches(GraphBuilder& builder, std::size_t number,
                       const std::vector<DeviceId>& switches) const {
    const std::uint64_t joined = number + 1 < tiers_.size() ? tiers_[number + 1].blocks_below : 1;
    for (std::size_t i = 0; i < switches.size(); ++i) {
      const std::uint64_t block = i / tiers_[number].switches_in_block;
      builder.set_tree_place(switches[i], {static_cast<std::uint32_t>(number),
                                           static_cast<std::uint32_t>(block % joined)});
    }
  }

  /// Joins the blocks of a plane: `below` and `above` are its switches of two tiers, block by block.
  void join(GraphBuilder& builder, const FabricCable& cable, std::size_t number,
            const std::vector<DeviceId>& below, const std::vector<DeviceId>& above) const {
    const Tier& tier = tiers_[number];
    const Tier& lower = tiers_[number - 1];
    for (std::uint64_t block = 0; block < lower.blocks; ++block) {
      const std::uint64_t first = block / tier.blocks_below * tier.switches_in_block;
      for (std::uint64_t port = 0; port < lower.ports_of_block; ++port) {
        cable.add(builder, below[block * lower.switches_in_block + port / lower.up],
                  above[first + port % tier.switches_in_block]);
      }
    }
  }

  const FabricSpec* spec_;
  const NodeList* nodes_;
  std::uint32_t siblings_;  ///< leaves that take the ports of one NIC (dual ToR)
  std::uint32_t rails_ = 1;
  std::vector<Tier> tiers_;
  std::vector<std::uint32_t> group_begin_;  ///< the first node of each group of leaves
};

}  // namespace

std::unique_ptr<Fabric> plan_tree(const FabricSpec& spec, const NodeList& nodes) {
  return std::make_unique<Tree>(spec, nodes);
}

}  // namespace collsim::detail
