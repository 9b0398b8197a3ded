// Dragonflies (Kim et al., ISCA 2008): NICs in order fill switches, switches fill groups. The switches of
// a group are all joined; so are the groups, by global links. With a spread of s, NICs fill s switches at
// once, going to them by turns, so that those of a node are on several.
//
// Where a global link ends: seen from a group, the group d places on (modulo their number g) is joined by
// its ports number d - 1 + l · (g - 1), for link l of the pair; port k belongs to switch k mod a. So the
// links to the groups that follow spread evenly over the switches.

#include <string>

#include "topology/build.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

class Dragonfly : public Fabric {
 public:
  Dragonfly(const FabricSpec& spec, const NodeList& nodes)
      : spec_(&spec), nodes_(&nodes), shape_(spec.dragonfly) {
    const TierSpec& tier = spec.tiers.front();
    if (!tier.down) {
      throw InputError("expected the number of NICs on a switch, got none", "fabric.switch.down");
    }
    require_count(*tier.down, "fabric.switch.down");
    require_count(shape_.switches, "fabric.group.switches");
    require_count(shape_.spread, "fabric.switch.spread");
    if (shape_.switches % shape_.spread != 0) {
      throw InputError("expected a divisor of the group's " + std::to_string(shape_.switches) +
                           " switches, got " + std::to_string(shape_.spread),
                       "fabric.switch.spread");
    }
    require_count(shape_.local_links, "fabric.local.count");
    require_count(shape_.global_links, "fabric.global.count");
    const std::uint64_t used =
        nodes.nics() == 0 ? 1 : switch_of(nodes.nics() - 1) / shape_.spread * shape_.spread + 1;
    groups_ = (used - 1) / shape_.switches + 1;
    const std::uint64_t global = std::uint64_t{shape_.global_links} * (groups_ - 1);
    ports_needed_ = *tier.down + std::uint64_t{shape_.switches - 1} * shape_.local_links +
                    (global + shape_.switches - 1) / shape_.switches;
    if (tier.ports && *tier.ports < ports_needed_) {
      throw InputError("expected at least " + std::to_string(ports_needed_) + " ports (" +
                           std::to_string(*tier.down) + " NICs, " +
                           std::to_string(std::uint64_t{shape_.switches - 1} * shape_.local_links) +
                           " local links and a share of the " + std::to_string(global) +
                           " global links of a group), got " + std::to_string(*tier.ports),
                       "fabric.switch.ports");
    }
  }

  [[nodiscard]] std::uint64_t switches() const override { return groups_ * shape_.switches; }
  [[nodiscard]] std::uint64_t links() const override {
    return 2 * (nodes_->nics() + local_cables() + global_cables());
  }
  /// Inside groups there are more links than nodes ask for; between them they go by the nodes.
  [[nodiscard]] std::string size_path() const override {
    const std::uint64_t others = nodes_->links() / 2 + nodes_->nics() + global_cables();
    if (local_cables() <= others) {
      return "nodes";
    }
    const bool alone = local_cables() / shape_.local_links > others;
    return alone ? "fabric.group.switches" : "fabric.local.count";
  }

  [[nodiscard]] std::vector<Provenance> derived() const override {
    if (spec_->tiers.front().ports) {
      return {};
    }
    return {{"fabric.switch.ports", std::to_string(ports_needed_), "derived"}};
  }

  void add(GraphBuilder& builder) const override {
    const TierSpec& tier = spec_->tiers.front();
    const std::uint32_t stem = builder.add_stem(switch_stem("switch", *nodes_), true);
    const std::vector<DeviceId> all = add_switches(builder, stem, switches());
    for (std::size_t i = 0; i < all.size(); ++i) {
      builder.set_group(all[i], static_cast<std::uint32_t>(i / shape_.switches));
    }
    const FabricCable down{tier.link, Duration::zero(), tier.latency, builder.add_level("leaf")};
    std::uint64_t endpoint = 0;
    nodes_->for_each([&](NodeId, DeviceId first, const NodeTemplate& node) {
      for (const std::uint32_t nic : node.nics) {
        down.add(builder, DeviceId(first.value() + nic), all[switch_of(endpoint++)]);
      }
    });
    add_local(builder, all);
    add_global(builder, all);
  }

 private:
  [[nodiscard]] std::uint64_t local_cables() const {
    const std::uint64_t pairs = std::uint64_t{shape_.switches} * (shape_.switches - 1) / 2;
    return groups_ * pairs * shape_.local_links;
  }
  [[nodiscard]] std::uint64_t global_cables() const {
    return groups_ * (groups_ - 1) / 2 * shape_.global_links;
  }

  /// Of a NIC, counted over all nodes.
  [[nodiscard]] std::uint64_t switch_of(std::uint64_t endpoint) const {
    const std::uint64_t filled_at_once = std::uint64_t{*spec_->tiers.front().down} * shape_.spread;
    return endpoint / filled_at_once * shape_.spread + endpoint % shape_.spread;
  }

  void add_local(GraphBuilder& builder, const std::vector<DeviceId>& all) const {
    const Duration latency = spec_->tiers.front().latency;
    const FabricCable cable{shape_.local, latency, latency, builder.add_level("local")};
    for (std::uint64_t group = 0; group < groups_; ++group) {
      const std::uint64_t first = group * shape_.switches;
      for (std::uint32_t a = 0; a < shape_.switches; ++a) {
        for (std::uint32_t b = a + 1; b < shape_.switches; ++b) {
          for (std::uint32_t link = 0; link < shape_.local_links; ++link) {
            cable.add(builder, all[first + a], all[first + b]);
          }
        }
      }
    }
  }

  void add_global(GraphBuilder& builder, const std::vector<DeviceId>& all) const {
    const Duration latency = spec_->tiers.front().latency;
    const FabricCable cable{shape_.global, latency, latency, builder.add_level("global")};
    const auto end = [&](std::uint64_t group, std::uint64_t distance, std::uint32_t link) {
      const std::uint64_t port = distance - 1 + link * (groups_ - 1);
      return all[group * shape_.switches + port % shape_.switches];
    };
    for (std::uint64_t i = 0; i < groups_; ++i) {
      for (std::uint64_t j = i + 1; j < groups_; ++j) {
        for (std::uint32_t link = 0; link < shape_.global_links; ++link) {
          cable.add(builder, end(i, j - i, link), end(j, groups_ - (j - i), link));
        }
      }
    }
  }

  const FabricSpec* spec_;
  const NodeList* nodes_;
  DragonflySpec shape_;
  std::uint64_t groups_ = 1;
  std::uint64_t ports_needed_ = 0;
};

}  // namespace

std::unique_ptr<Fabric> plan_dragonfly(const FabricSpec& spec, const NodeList& nodes) {
  return std::make_unique<Dragonfly>(spec, nodes);
}

}  // namespace collsim::detail
