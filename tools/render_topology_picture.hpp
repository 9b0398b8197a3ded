#pragma once

// A cluster as a picture: nodes inside, fabric outside.

#include <string>

#include "tools/topology_outline.hpp"
#include "topology/cluster.hpp"

namespace collsim {

/// A graph in the language DOT, for Graphviz: a cluster of DOT for each node and group.
[[nodiscard]] std::string render_topology_dot(const Cluster& cluster, OutlineExtent extent);

/// A drawing. Throws: InputError if the whole is asked for and has more than `most_drawn` devices.
[[nodiscard]] std::string render_topology_svg(const Cluster& cluster, OutlineExtent extent);

/// Devices that a drawing may show one by one.
inline constexpr std::size_t most_drawn = 500;

/// "2 x 25 GB/s", "50 GB/s".
[[nodiscard]] std::string line_text(const OutlineLine& line);
/// Of a line on paper: grows with the logarithm of the bandwidth, from 1.2 for 10 GB/s and less.
[[nodiscard]] double line_width(double bytes_per_second);

}  // namespace collsim
