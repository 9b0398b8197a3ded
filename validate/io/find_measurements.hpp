#pragma once

// Files of measurements by name: `measurements/NAME.json` in the folders of descriptions, as clusters are found.

#include <string>
#include <vector>

#include "topology/io/load.hpp"

namespace collsim {

/// What can be named, sorted. A file that cannot be read stands in the list with the reason as its description; else
/// that tells the GPU and how many tables there are.
[[nodiscard]] std::vector<ConfigEntry> list_measurements(const ConfigPath& path);

/// The file that a text means: a path if it has a slash or a dot, else a name to look up; a file of
/// the current folder, if no name is known that reads so.
/// Throws: InputError for a name that is not known, with those that are.
[[nodiscard]] std::string find_measurements(const ConfigPath& path, const std::string& name);

}  // namespace collsim
