#pragma once

// The ports of a tree's switches, tier by tier: how many go down and how many up, as the description
// has it, before anything is joined. Internal to the builder of trees.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "topology/spec.hpp"

namespace collsim::detail {

struct TierPorts {
  std::optional<std::uint32_t> down;  ///< absent: as many as needed
  std::uint64_t up = 0;
};

/// Divides the ports of a tier's switches into those down and those up. Throws: InputError with the
/// path of what does not fit.
[[nodiscard]] TierPorts count_ports(const FabricSpec& spec, std::size_t tier);

/// "leaf", "spine", "core", "tier3"; "switch" where it is the only one.
[[nodiscard]] std::string tier_name(const FabricSpec& spec, std::size_t tier);

/// Where the description has the ports down of a tier: "fabric.leaf.ports", "fabric.tiers[2].down".
[[nodiscard]] std::string ports_path(const FabricSpec& spec, std::size_t tier);

}  // namespace collsim::detail
