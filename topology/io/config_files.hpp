#pragma once

// Which file a name of a cluster or node stands for.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "topology/io/load.hpp"
#include "topology/io/yaml_tree.hpp"

namespace collsim {

/// The files DIRECTORY/folder/NAME.yaml, or with another ending, by name; of equal names the first directory's.
[[nodiscard]] std::map<std::string, std::string> config_files(const ConfigPath& path,
                                                              std::string_view folder,
                                                              std::string_view ending = ".yaml");

/// The file that a reference means: a path (relative to `base`) if it has a slash or ends in
/// ".yaml", else a name to look up. Throws: InputError for a name that is not known, with those that
/// are, but for names that begin with `not_meant`.
[[nodiscard]] std::string find_config(const ConfigPath& path, std::string_view folder,
                                      const std::string& reference, const std::string& base,
                                      std::string_view not_meant = {});

/// Refuses a name that is none of those in the folder, with those that are and the nearest.
[[noreturn]] void refuse_config(std::string_view folder, const std::string& name,
                                const std::vector<std::string>& known);

/// The folder of the file that a value stands in, where relative paths begin; empty for a --set.
[[nodiscard]] std::string folder_of(const YamlTree& tree, Position position);

}  // namespace collsim
