#pragma once

// The ladders of one or several clusters, as `hierarchy` prints and draws them.

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "study/hierarchy.hpp"

namespace collsim {

/// What is timed on every rung.
constexpr std::array<Bytes, 2> hierarchy_sizes{Bytes(std::int64_t{1} << 20U),
                                               Bytes(std::int64_t{1} << 30U)};

/// A cluster and its ladder; both live elsewhere.
struct Ladder {
  const Cluster* cluster = nullptr;
  std::string input_digest;
  Hierarchy hierarchy;
};

[[nodiscard]] std::string render_hierarchy_table(std::span<const Ladder> ladders);
/// collsim/hierarchy/1; docs/output.md lists the fields.
[[nodiscard]] std::string render_hierarchy_json(std::span<const Ladder> ladders);
/// A line a rung.
[[nodiscard]] std::string render_hierarchy_csv(std::span<const Ladder> ladders);
/// An SVG: bandwidths and the times of a load, side by side, a row a rung.
/// Requires: 1 to Svg::series_colours ladders.
[[nodiscard]] std::string plot_hierarchy(std::span<const Ladder> ladders);

}  // namespace collsim
