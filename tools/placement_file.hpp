#pragma once

// A placement as a file: the name of a GPU a line, in rank order. Empty lines and lines that begin
// with # say nothing.

#include <string>
#include <vector>

#include "study/placement.hpp"

namespace collsim {

/// Throws: InputError naming --placement, with the place in the file where there is one, if it cannot be
/// read, is no text, or is larger than 32 MiB.
[[nodiscard]] std::vector<ListedGpu> read_placement(const std::string& path);

}  // namespace collsim
