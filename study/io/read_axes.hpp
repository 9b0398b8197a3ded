#pragma once

// `base` and `axes` of an experiment: which keys of the job have which values.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "study/experiment.hpp"
#include "study/io/experiment_text.hpp"
#include "topology/error.hpp"

namespace collsim {

/// Reads them into the experiment, and sees to it that no key has two values at a point. Throws: InputError.
class GridReader {
 public:
  GridReader(const YamlTree& tree, Experiment& experiment)
      : tree_(&tree), experiment_(&experiment) {}

  /// Returns where the value of each key stands.
  std::map<std::string, SourceLocation> read_base(const LocatedNode& located);
  void read_axes(const LocatedNode& located, NameRegister& names);
  /// Refuses an experiment in which a key that each job needs is nowhere. `root` is the document.
  void require_complete(const LocatedNode& root) const;

 private:
  void read_axis(const LocatedEntry& entry);
  [[nodiscard]] std::vector<LocatedNode> listed_values(const LocatedNode& located) const;
  [[nodiscard]] std::vector<AxisValue> range(const MappingReader& reader,
                                             const LocatedNode& located,
                                             const std::string& key) const;
  [[nodiscard]] AxisValue axis_value(const LocatedNode& located, const std::string& key) const;
  [[nodiscard]] AxisValue bundle(const LocatedNode& located) const;
  /// `skipped` are keys of the mapping that are not the job's.
  /// `places`, if given, gets where the values stand.
  [[nodiscard]] std::vector<Assignment> assignments(
      const LocatedNode& located, const std::vector<std::string>& skipped,
      std::map<std::string, SourceLocation>* places = nullptr) const;
  [[nodiscard]] Assignment assignment(const std::string& key, const LocatedNode& value) const;
  void claim(const std::set<std::string>& keys, const LocatedEntry& axis);

  const YamlTree* tree_;
  Experiment* experiment_;
  std::map<std::string, std::string> owners_;  ///< of keys: "base", "the axis nodes"
};

}  // namespace collsim
