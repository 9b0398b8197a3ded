#pragma once

// An experiment from YAML, expanded and checked in full: whatever is wrong with the file is said at its place before
// anything is simulated. docs/sweep.md is the reference of its keys.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "study/experiment.hpp"
#include "topology/error.hpp"
#include "topology/io/load.hpp"

namespace collsim {

struct LoadedExperiment {
  Experiment experiment;
  std::vector<SweepPoint> points;  ///< at least one
  std::map<std::string, SourceLocation>
      base_places;  ///< where the value of each key of `base` stands
  std::string file;
};

/// Loads an experiment by name or, if the text has a slash or ends in ".yaml", by path.
/// Throws: InputError for an unknown name, a file that cannot be read, and everything that is wrong in it.
[[nodiscard]] LoadedExperiment load_experiment(const std::string& name_or_path,
                                               const ConfigPath& path);

/// The same for a text; `file_name` stands in messages, and its folder is where relative paths begin.
[[nodiscard]] LoadedExperiment parse_experiment(std::string_view text,
                                                const std::string& file_name);

/// What can be named, sorted; as list_clusters.
[[nodiscard]] std::vector<ConfigEntry> list_experiments(const ConfigPath& path);

}  // namespace collsim
