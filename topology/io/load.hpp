#pragma once

// From text to a cluster description: finds the files by name, parses them, applies --set, checks
// every value. Reads files; knows no environment variables and no options but those it is given.

#include <string>
#include <string_view>
#include <vector>

#include "topology/cluster.hpp"
#include "topology/io/source.hpp"
#include "topology/spec.hpp"

namespace collsim {

/// One --set: a YAML path of the effective document and a YAML value.
struct Setting {
  std::string path;
  std::string value;
};

/// "fabric.spine.oversubscription=4". Throws: InputError with the path "--set".
[[nodiscard]] Setting parse_setting(std::string_view text);

/// Where names are looked up, in order of precedence. Each directory has clusters/, nodes/, …
struct ConfigPath {
  std::vector<std::string> directories;
};

struct LoadedCluster {
  ClusterSpec spec;
  /// Of the effective description: every value in force but those that no result depends on
  /// (descriptions, the template's name, numbers of bonded links, the memory inside its GPUs), after --set. Does not depend on files, comments, order of keys, or on whether a default is
  /// written out.
  std::string digest;
  SourceMap source_map;  ///< gives a location to errors of the model about `spec`
};

/// Loads a cluster by name or, if the text has a slash or ends in ".yaml", by path.
/// Throws: InputError for an unknown name (with the nearest known one), a file that cannot be read,
/// and everything that is wrong in the description.
[[nodiscard]] LoadedCluster load_cluster(const std::string& name_or_path,
                                         const std::vector<Setting>& settings,
                                         const ConfigPath& path);

/// The same for a text; `file_name` stands in messages, and its folder is where relative paths of
/// node files begin.
[[nodiscard]] LoadedCluster parse_cluster(std::string_view text, const std::string& file_name,
                                          const std::vector<Setting>& settings,
                                          const ConfigPath& path);

/// Builds the model. Throws: InputError, with a location in the files it came from.
[[nodiscard]] Cluster build_cluster(const LoadedCluster& loaded);

struct ConfigEntry {
  std::string name;
  std::string description;
  std::string file;
};

/// What can be named, sorted; of equal names the one that load_cluster takes. A file that is not
/// readable stands in the list with the reason as its description.
[[nodiscard]] std::vector<ConfigEntry> list_clusters(const ConfigPath& path);
[[nodiscard]] std::vector<ConfigEntry> list_nodes(const ConfigPath& path);
[[nodiscard]] std::vector<ConfigEntry> list_gpus(const ConfigPath& path);

}  // namespace collsim
