#include "topology/tree_ports.hpp"

#include "topology/build.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

/// Those of a switch that has `ports`, so that `oversubscription` go down for each one up.
TierPorts divide(std::uint32_t ports, std::uint32_t oversubscription, const std::string& path) {
  const std::uint64_t shares = std::uint64_t{oversubscription} + 1;
  if (ports == 0 || ports % shares != 0) {
    const std::uint64_t up = ports / shares;
    const std::string fewer = std::to_string(up * shares) + " ports are " +
                              std::to_string(up * oversubscription) + " down and " +
                              std::to_string(up) + " up";
    throw InputError("expected a multiple of " + std::to_string(shares) +
                         " ports (an oversubscription of " + std::to_string(oversubscription) +
                         " takes " + std::to_string(oversubscription) +
                         " down for each one up), got " + std::to_string(ports),
                     path + ".ports", up == 0 ? std::string() : fewer);
  }
  const std::uint64_t up = ports / shares;
  return {static_cast<std::uint32_t>(ports - up), up};
}

}  // namespace

TierPorts count_ports(const FabricSpec& spec, std::size_t tier) {
  const TierSpec& own = spec.tiers[tier];
  const std::string path = tier_path(spec, tier);
  if (own.ports && (own.down || own.up)) {
    throw InputError("expected either `ports` or `down` and `up`, got both", path + ".ports");
  }
  if (tier + 1 == spec.tiers.size()) {
    if (own.up) {
      throw InputError(
          "expected no ports up from the highest switches, got " + std::to_string(*own.up),
          path + ".up");
    }
    return {own.ports ? own.ports : own.down, 0};
  }
  if (own.down || own.up) {
    if (!own.down || !own.up) {
      throw InputError("expected both `down` and `up`, got one", path);
    }
    require_count(*own.down, path + ".down");
    require_count(*own.up, path + ".up");
    return {own.down, *own.up};
  }
  if (!own.ports) {
    throw InputError("expected the number of ports of a " + tier_name(spec, tier) + ", got none",
                     path + ".ports");
  }
  const std::uint32_t oversubscription = spec.tiers[tier + 1].oversubscription;
  require_count(oversubscription, tier_path(spec, tier + 1) + ".oversubscription");
  return divide(*own.ports, oversubscription, path);
}

std::string tier_name(const FabricSpec& spec, std::size_t tier) {
  if (spec.kind == FabricKind::SingleSwitch) {
    return "switch";
  }
  switch (tier) {
    case 0:
      return "leaf";
    case 1:
      return "spine";
    case 2:
      return "core";
    default:
      return "tier" + std::to_string(tier);
  }
}

std::string ports_path(const FabricSpec& spec, std::size_t tier) {
  return tier_path(spec, tier) + (spec.tiers[tier].down ? ".down" : ".ports");
}

}  // namespace collsim::detail
