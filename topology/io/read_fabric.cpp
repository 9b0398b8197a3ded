#include "topology/io/read_fabric.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr IntegerRange switch_ports{2, 1U << 16};
constexpr IntegerRange ports_one_way{1, 1U << 16};
constexpr IntegerRange oversubscriptions{1, 1U << 16};
constexpr IntegerRange switch_counts{1, 1U << 20};
constexpr IntegerRange cables{1, 4096};
constexpr IntegerRange any_number{0, 0xFFFFFFFF};

constexpr std::array<Choice<LinkKind>, 7> link_kind_names{{{"generic", LinkKind::Generic},
                                                           {"nvlink", LinkKind::Nvlink},
                                                           {"xgmi", LinkKind::Xgmi},
                                                           {"pcie", LinkKind::Pcie},
                                                           {"socket", LinkKind::Socket},
                                                           {"infiniband", LinkKind::Infiniband},
                                                           {"ethernet", LinkKind::Ethernet}}};
constexpr std::array<Choice<FabricKind>, 7> fabric_kinds{
    {{"none", FabricKind::None},
     {"single-switch", FabricKind::SingleSwitch},
     {"leaf-spine", FabricKind::LeafSpine},
     {"fat-tree", FabricKind::FatTree},
     {"rail-optimized", FabricKind::RailOptimized},
     {"dragonfly", FabricKind::Dragonfly},
     {"torus", FabricKind::Torus}}};
constexpr std::array<Choice<RoutingKind>, 3> routings{
    {{"static", RoutingKind::Fixed}, {"spray", RoutingKind::Spray}, {"ecmp", RoutingKind::Ecmp}}};
constexpr std::array<Choice<NicChoice>, 3> nic_choices{{{"nearest", NicChoice::Nearest},
                                                        {"balanced", NicChoice::Balanced},
                                                        {"rail-aligned", NicChoice::RailAligned}}};

enum class SwitchReduction : std::uint8_t { None, Sharp };
constexpr std::array<Choice<SwitchReduction>, 2> reductions{
    {{"none", SwitchReduction::None}, {"sharp", SwitchReduction::Sharp}}};

const std::vector<std::string> fabric_keys{
    "kind",   "routing",    "seed",  "nic_choice", "nic_ports",  "planes",   "rails",
    "switch", "leaf",       "spine", "core",       "tiers",      "group",    "local",
    "global", "dimensions", "link",  "uplink",     "parameters", "reduction"};

/// The keys that a kind takes besides `kind`.
std::vector<std::string> keys_of(FabricKind kind) {
  std::vector<std::string> keys{"routing", "seed", "nic_choice", "parameters"};
  const auto add = [&keys](std::initializer_list<const char*> more) {
    keys.insert(keys.end(), more.begin(), more.end());
  };
  switch (kind) {
    case FabricKind::None:
      return {};
    case FabricKind::SingleSwitch:
      add({"switch", "link", "reduction"});
      break;
    case FabricKind::LeafSpine:
      add({"nic_ports", "planes", "leaf", "spine", "link", "uplink", "reduction"});
      break;
    case FabricKind::FatTree:
      add({"nic_ports", "planes", "tiers", "link", "uplink", "reduction"});
      break;
    case FabricKind::RailOptimized:
      add({"nic_ports", "planes", "rails", "leaf", "spine", "core", "link", "uplink", "reduction"});
      break;
    case FabricKind::Dragonfly:
      add({"switch", "group", "local", "global", "link", "uplink"});
      break;
    case FabricKind::Torus:
      add({"switch", "dimensions", "link", "uplink"});
      break;
  }
  return keys;
}

std::string name_of(FabricKind kind) {
  std::string name;
  for (const Choice<FabricKind>& known : fabric_kinds) {
    if (known.value == kind) {
      name = known.name;
    }
  }
  return name;
}

void refuse_other_keys(const MappingReader& fabric, FabricKind kind) {
  const std::vector<std::string> taken = keys_of(kind);
  for (const std::string& key : fabric_keys) {
    if (key == "kind" || !fabric.has(key) || std::ranges::find(taken, key) != taken.end()) {
      continue;
    }
    fabric.refuse_key(key, "does not apply to a fabric of kind \"" + name_of(kind) + "\"",
                      taken.empty() ? "" : "it takes " + one_of(taken));
  }
}

/// A cable whose keys that are not there are as in another one.
struct DefaultLink {
  FabricLinkSpec link;
  std::string path;
};

FabricLinkSpec read_cable(const MappingReader& reader, const DefaultLink& otherwise) {
  const std::string origin = "default (as " + otherwise.path + ")";
  FabricLinkSpec link;
  link.kind = reader.choice("kind", link_kinds(), Default<LinkKind>{otherwise.link.kind, origin});
  link.bandwidth =
      reader.bandwidth("bandwidth", Default<Bandwidth>{otherwise.link.bandwidth, origin});
  link.latency = reader.duration("latency", Default<Duration>{otherwise.link.latency, origin});
  return link;
}

FabricLinkSpec read_cable(const MappingReader& owner, const std::string& key,
                          const DefaultLink& otherwise) {
  return read_cable(owner.mapping(key, {"kind", "bandwidth", "latency"}), otherwise);
}

FabricLinkSpec read_nic_cable(const MappingReader& fabric) {
  if (!fabric.has("link")) {
    fabric.refuse_missing("link");
  }
  const MappingReader reader = fabric.mapping("link", {"kind", "bandwidth", "latency"});
  FabricLinkSpec link;
  link.kind = reader.choice("kind", link_kinds(), Default<LinkKind>{LinkKind::Generic});
  link.bandwidth = reader.bandwidth("bandwidth");
  link.latency = reader.duration("latency");
  return link;
}

std::optional<std::uint32_t> read_optional(const MappingReader& reader, const std::string& key,
                                           IntegerRange range) {
  return reader.has(key) ? std::optional(reader.integer(key, range)) : std::nullopt;
}

/// The keys of a tier; `lowest` has no tier below to be joined.
std::vector<std::string> tier_keys(bool lowest) {
  if (lowest) {
    return {"ports", "down", "up", "latency"};
  }
  return {"ports", "down", "up", "oversubscription", "count", "latency", "link"};
}

/// `below`: the tiers read so far.
TierSpec read_tier(const MappingReader& reader, const std::vector<TierSpec>& below,
                   const std::string& path_below, const DefaultLink& cable) {
  TierSpec tier;
  tier.ports = read_optional(reader, "ports", switch_ports);
  tier.down = read_optional(reader, "down", ports_one_way);
  tier.up = read_optional(reader, "up", ports_one_way);
  if (below.empty()) {
    tier.latency = reader.duration("latency", Default<Duration>{Duration{}});
    tier.link = cable.link;
    return tier;
  }
  const bool counted = below.back().down || below.back().up;
  if (counted && reader.has("oversubscription")) {
    reader.refuse_key("oversubscription",
                      "does not apply where " + path_below + " has `down` and `up`");
  }
  if (!counted) {
    tier.oversubscription =
        reader.integer("oversubscription", oversubscriptions, Default<std::uint32_t>{1});
  }
  tier.count = read_optional(reader, "count", switch_counts);
  tier.latency = reader.duration(
      "latency",
      Default<Duration>{below.back().latency, "default (as " + path_below + ".latency)"});
  tier.own_link = reader.has("link");
  tier.link = tier.own_link ? read_cable(reader, "link", cable) : cable.link;
  return tier;
}

void require_leaf_ports(const MappingReader& leaf) {
  if (!leaf.has("ports") && !leaf.has("down") && !leaf.has("up")) {
    leaf.refuse_missing("ports");
  }
}

void read_named_tiers(const MappingReader& reader, FabricSpec& fabric) {
  const MappingReader leaf = reader.mapping("leaf", tier_keys(true));
  require_leaf_ports(leaf);
  const FabricLinkSpec nic_cable = read_nic_cable(reader);
  fabric.tiers.push_back(read_tier(leaf, fabric.tiers, "", {nic_cable, "fabric.link"}));
  const FabricLinkSpec uplink = read_cable(reader, "uplink", {nic_cable, "fabric.link"});
  fabric.tiers.push_back(read_tier(reader.mapping("spine", tier_keys(false)), fabric.tiers,
                                   "fabric.leaf", {uplink, "fabric.uplink"}));
  if (reader.has("core")) {
    fabric.tiers.push_back(read_tier(reader.mapping("core", tier_keys(false)), fabric.tiers,
                                     "fabric.spine", {uplink, "fabric.uplink"}));
  }
}

void read_listed_tiers(const MappingReader& reader, FabricSpec& fabric) {
  constexpr std::size_t most_tiers = 8;
  const FabricLinkSpec nic_cable = read_nic_cable(reader);
  const FabricLinkSpec uplink = read_cable(reader, "uplink", {nic_cable, "fabric.link"});
  const std::vector<LocatedNode> items = reader.items("tiers");
  if (items.empty() && reader.has("tiers")) {
    reader.refuse("tiers", "expected at least one tier, got none");
  }
  if (items.empty()) {
    reader.refuse_missing("tiers", "a list of tiers of switches, from the NICs up");
  }
  if (items.size() > most_tiers) {
    reader.refuse("tiers", "expected at most " + std::to_string(most_tiers) + " tiers, got " +
                               std::to_string(items.size()));
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const MappingReader tier = reader.item(items[i], tier_keys(i == 0));
    if (i + 1 < items.size()) {
      require_leaf_ports(tier);
    }
    const DefaultLink cable =
        i == 0 ? DefaultLink{nic_cable, "fabric.link"} : DefaultLink{uplink, "fabric.uplink"};
    const std::string below = i == 0 ? "" : items[i - 1].path;
    fabric.tiers.push_back(read_tier(tier, fabric.tiers, below, cable));
  }
}

void read_planes(const MappingReader& reader, FabricSpec& fabric) {
  fabric.nic_ports = reader.integer("nic_ports", cables, Default<std::uint32_t>{1});
  fabric.planes = reader.integer("planes", cables, Default<std::uint32_t>{1});
  if (fabric.kind == FabricKind::RailOptimized) {
    fabric.rails = read_optional(reader, "rails", cables);
  }
}

void read_dragonfly(const MappingReader& reader, FabricSpec& fabric) {
  const FabricLinkSpec nic_cable = read_nic_cable(reader);
  const MappingReader switches = reader.mapping("switch", {"ports", "down", "spread", "latency"});
  if (!switches.has("down")) {
    switches.refuse_missing("down", "how many NICs go to a switch");
  }
  fabric.tiers.push_back(read_tier(switches, {}, "", {nic_cable, "fabric.link"}));
  const DefaultLink uplink{read_cable(reader, "uplink", {nic_cable, "fabric.link"}),
                           "fabric.uplink"};
  DragonflySpec& dragonfly = fabric.dragonfly;
  dragonfly.spread = switches.integer("spread", cables, Default<std::uint32_t>{1});
  dragonfly.switches = reader.mapping("group", {"switches"}).integer("switches", switch_counts);
  const MappingReader local = reader.mapping("local", {"count", "link"});
  dragonfly.local_links = local.integer("count", cables, Default<std::uint32_t>{1});
  dragonfly.local = read_cable(local, "link", uplink);
  const MappingReader global = reader.mapping("global", {"count", "link"});
  dragonfly.global_links = global.integer("count", cables, Default<std::uint32_t>{1});
  dragonfly.global = read_cable(global, "link", uplink);
}

void read_torus(const MappingReader& reader, FabricSpec& fabric) {
  const FabricLinkSpec nic_cable = read_nic_cable(reader);
  fabric.tiers.push_back(
      read_tier(reader.mapping("switch", {"latency"}), {}, "", {nic_cable, "fabric.link"}));
  fabric.torus_link = read_cable(reader, "uplink", {nic_cable, "fabric.link"});
  const MappingReader dimensions = reader.mapping("dimensions", {"x", "y", "z"});
  fabric.dimensions.push_back(dimensions.integer("x", switch_counts));
  for (const std::string key : {"y", "z"}) {
    fabric.dimensions.push_back(dimensions.integer(key, switch_counts, Default<std::uint32_t>{1}));
  }
}

/// Switches of InfiniBand forward by destination, those of Ethernet by a hash. Requires: the cables are
/// read.
void read_routing(const MappingReader& reader, FabricSpec& fabric) {
  const bool ethernet = fabric.tiers.front().link.kind == LinkKind::Ethernet;
  fabric.routing =
      reader.choice("routing", choices(routings),
                    ethernet ? Default<RoutingKind>{RoutingKind::Ecmp, "default (for ethernet)"}
                             : Default<RoutingKind>{RoutingKind::Fixed});
  if (fabric.routing == RoutingKind::Ecmp) {
    fabric.seed = reader.integer("seed", any_number, Default<std::uint32_t>{0});
  } else if (reader.has("seed")) {
    reader.refuse_key("seed", "does not apply to this routing", "only ecmp draws a hash");
  }
}

}  // namespace

bool read_reduction(const MappingReader& cluster, const FabricSpec& fabric) {
  if (!cluster.has("fabric")) {
    return false;
  }
  const MappingReader reader = cluster.mapping("fabric", fabric_keys);
  if (!reader.has("reduction") ||
      reader.choice("reduction", choices(reductions)) == SwitchReduction::None) {
    return false;
  }
  if (fabric.tiers.front().link.kind != LinkKind::Infiniband) {
    reader.refuse_key("reduction", "needs cables of kind infiniband, whose switches have SHARP");
  }
  if (fabric.routing != RoutingKind::Fixed) {
    reader.refuse_key("reduction",
                      "needs static routing, by which all that goes to one NIC makes a tree");
  }
  return true;
}

std::span<const Choice<LinkKind>> link_kinds() { return link_kind_names; }

FabricSpec read_fabric(const MappingReader& cluster) {
  const MappingReader reader = cluster.mapping("fabric", fabric_keys);
  FabricSpec fabric;
  fabric.kind = cluster.has("fabric") ? reader.choice("kind", choices(fabric_kinds))
                                      : reader.choice("kind", choices(fabric_kinds),
                                                      Default<FabricKind>{FabricKind::None});
  refuse_other_keys(reader, fabric.kind);
  if (fabric.kind == FabricKind::None) {
    return fabric;
  }
  fabric.nic_choice =
      reader.choice("nic_choice", choices(nic_choices), Default<NicChoice>{NicChoice::Nearest});
  if (reader.has("parameters")) {
    fabric.parameters = reader.text("parameters");
  }
  switch (fabric.kind) {
    case FabricKind::None:
      break;
    case FabricKind::SingleSwitch:
      fabric.tiers.push_back(read_tier(reader.mapping("switch", {"ports", "latency"}), {}, "",
                                       {read_nic_cable(reader), "fabric.link"}));
      break;
    case FabricKind::LeafSpine:
    case FabricKind::RailOptimized:
      read_planes(reader, fabric);
      read_named_tiers(reader, fabric);
      break;
    case FabricKind::FatTree:
      read_planes(reader, fabric);
      read_listed_tiers(reader, fabric);
      break;
    case FabricKind::Dragonfly:
      read_dragonfly(reader, fabric);
      break;
    case FabricKind::Torus:
      read_torus(reader, fabric);
      break;
  }
  read_routing(reader, fabric);
  return fabric;
}

}  // namespace collsim
