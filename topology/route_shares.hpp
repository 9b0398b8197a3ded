#pragma once

// Parts of a route's bytes as exact fractions. Internal to the router.

#include <cstdint>
#include <vector>

#include "topology/routing.hpp"

namespace collsim::detail {

/// Over how many paths a route may be sprayed: shares with such denominators are added, and multiplied
/// with bandwidths, in 64 bits.
inline constexpr std::uint64_t most_sprayed_paths = std::uint64_t{1} << 19U;

/// The largest number stands for more than can be counted. Throws: RangeError at `fabric.routing` if a
/// route may not be sprayed over so many.
void require_sprayable(std::uint64_t paths);

/// part / whole of the bytes, in lowest terms. Requires: the whole is sprayable.
[[nodiscard]] RouteHop hop_with_share(LinkId link, std::uint64_t part, std::uint64_t whole);

/// Routes that carry equal parts of the bytes, as one. Links in order of the distance at which a route
/// meets them first, then by route. Requires: at least one.
[[nodiscard]] Route side_by_side(const std::vector<Route>& routes);

/// The same route with each link once: one that is crossed twice carries twice the bytes. Links in the
/// order in which they are met first.
[[nodiscard]] Route each_link_once(const Route& route);

}  // namespace collsim::detail
