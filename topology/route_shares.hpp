#pragma once

// Parts of a route's bytes as exact fractions. Internal to the router.

#include <cstdint>
#include <vector>

#include "topology/routing.hpp"

namespace collsim::detail {

/// Throws: InputError if so many paths cannot be counted exactly.
void require_countable(std::uint64_t paths);

/// part / whole of the bytes, in lowest terms. Requires: both countable.
[[nodiscard]] RouteHop hop_with_share(LinkId link, std::uint64_t part, std::uint64_t whole);

/// Routes that carry equal parts of the bytes, as one. Links in order of the distance at which a route
/// meets them first, then by route. Requires: at least one.
[[nodiscard]] Route side_by_side(const std::vector<Route>& routes);

}  // namespace collsim::detail
