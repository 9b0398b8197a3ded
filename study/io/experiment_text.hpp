#pragma once

// What the parts of an experiment's file have in common: names, formulas, single values, each refused at its place.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "study/expression.hpp"
#include "topology/io/yaml_reader.hpp"
#include "topology/io/yaml_tree.hpp"

namespace collsim {

/// A single value as it is written. Throws: InputError for a list, a mapping, nothing, or more than a line.
[[nodiscard]] std::string single_value(const YamlTree& tree, const LocatedNode& located);

/// The entries of a mapping in their order, with their paths. Throws: InputError for anything else.
struct LocatedEntry {
  std::string key;
  Position position;  ///< of the key
  LocatedNode value;
};
[[nodiscard]] std::vector<LocatedEntry> entries_of(const YamlTree& tree,
                                                   const LocatedNode& located);

/// A formula, refused at the character that is wrong.
[[nodiscard]] Expression formula(const YamlTree& tree, const LocatedNode& located,
                                 const KnownNames& known, Expression::Gives gives);

/// Names that formulas can use: letters, digits and _, no word of theirs, given once.
class NameRegister {
 public:
  /// Refuses a name that is no name, or given before. `what` is what it names: "an axis".
  void add(const YamlTree& tree, const LocatedEntry& entry, const std::string& what);
  /// A name that is taken from the beginning.
  void reserve(const std::string& name, const std::string& what);

 private:
  std::map<std::string, std::string> taken_;
};

/// Refuses a text that is none of the accepted ones.
void require_known(const YamlTree& tree, const LocatedNode& located, const std::string& what,
                   const std::string& text, const std::vector<std::string>& accepted);

}  // namespace collsim
