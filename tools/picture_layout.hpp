#pragma once

// Where the boxes and lines of an outline stand. Inside a node in layers from NVSwitches at the
// bottom to NICs at the top; nodes side by side; the switches that join them above, tier by tier.
//
// Lines go up from the top of one box to the bottom of another, past the boxes on their way; those
// between boxes side by side are arcs.

#include <cstddef>
#include <vector>

#include "tools/picture_area.hpp"
#include "tools/topology_outline.hpp"

namespace collsim {

/// The finished layout: x to the right, y downwards, from (0, 0).
[[nodiscard]] PictureArea picture_layout(const Outline& outline);

// The steps of it.

/// How large a box must be for its words.
[[nodiscard]] SvgSize box_size(const OutlineItem& item);
/// A node's devices in layers, with the lines between them.
[[nodiscard]] PictureArea node_layout(const Outline& outline,
                                      const std::vector<std::size_t>& items);
/// Moves the ends of lines at one side of a box apart, in the order of where they go.
void spread_line_ends(PictureArea& area);

}  // namespace collsim
