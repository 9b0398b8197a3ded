#pragma once

// Which way static routing goes in a torus: along x until that is right, then y, then z (dimension
// order). Half way around a ring both directions are as short; then destinations at an even place of
// that ring are reached upwards, those at an odd one downwards. So all that is on the way to one
// destination goes one way, and in an all-to-all both directions carry the same where the ring's length
// is a multiple of 4. Internal to the router.
//
// Ignored: virtual channels, which such networks have against deadlocks; routes around failures.

#include <cstddef>
#include <optional>
#include <span>

#include "topology/graph.hpp"

namespace collsim::detail {

/// The position of the next link among `choices`, all of them from `here` and on shortest paths to
/// `destination`; absent where not all of these are switches of a torus. Requires: a choice.
[[nodiscard]] std::optional<std::size_t> torus_choice(const Graph& graph, DeviceId here,
                                                      DeviceId destination,
                                                      std::span<const LinkId> choices);

}  // namespace collsim::detail
