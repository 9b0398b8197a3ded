#pragma once

// What the routes from one GPU to many are like, without finding each of them.
//
// The figures of a route follow from the shortest ways of its legs (see path_sweep.hpp) where these
// leave no choice that matters: all of one latency and level, one NIC at each end, and a rate that a
// single path or a link common to all paths sets. That is so for nearly every route of a real cluster,
// and then a cluster of 100,000 GPUs takes a few walks of it. Other routes are found one by one. Where
// that is too much work, routes that have the same known figures are looked at in part, evenly chosen,
// and each of the others is assumed to be like the one looked at before it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topology/cluster.hpp"

namespace collsim {

struct RouteFigures {
  std::size_t links = 0;  ///< as path_length() tells
  Duration latency{};
  LevelId level;  ///< the outermost that it crosses
  Rate rate;      ///< as Route::full_rate; nothing without SurveyRates::Yes
  /// The legs do not tell them: found from the route itself. That of another GPU whose legs tell the
  /// same may have other figures.
  bool searched = false;
  bool assumed = false;  ///< those of a route of the same kind
};

enum class SurveyRates : std::uint8_t { No, Yes };

/// Links that the searches of routes one by one may look at: about a second.
inline constexpr std::uint64_t survey_links = 1U << 24U;

/// One entry for each of `to`. Where a route cannot be told from its legs, it is found; beyond about
/// `most_links` links looked at, only some. Requires: no `to` is `from`; routes to all.
/// Throws: as Router::route, Route::full_rate. Complexity: O(links) for each NIC of the node of `from`.
[[nodiscard]] std::vector<RouteFigures> survey_routes(const Cluster& cluster, DeviceId from,
                                                      std::span<const DeviceId> to,
                                                      SurveyRates rates,
                                                      std::uint64_t most_links = survey_links);

/// The links that the bytes of a route cross one after the other, on the longest of its paths.
[[nodiscard]] std::size_t path_length(const Graph& graph, const Route& route);

}  // namespace collsim
