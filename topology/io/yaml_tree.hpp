#pragma once

// YAML text as a tree of located nodes, before anything is known about its meaning.
//
// What a description does not need is refused, so that nothing is silently dropped or guessed:
// duplicate keys, merge keys (<<), tags, keys that are not text, more than one document. Aliases
// are copied. Depth, number of nodes and keys per mapping are bounded, so hostile text (deep
// nesting, alias bombs) ends in an error after little work.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/ids.hpp"
#include "topology/io/source.hpp"

namespace collsim {

using YamlId = Id<struct YamlTag>;  ///< position in a YamlTree

struct YamlEntry {
  std::string key;
  Position position;  ///< of the key
  YamlId value;
};

struct YamlNode {
  enum class Kind : std::uint8_t { Null, Plain, Quoted, Sequence, Mapping };

  Kind kind = Kind::Null;
  /// Where it begins; of a null value, the place of its key; of an alias, the place of the alias.
  Position position;
  std::string text;  ///< of a plain or quoted scalar
  std::vector<YamlId> items;
  std::vector<YamlEntry> entries;  ///< in document order

  [[nodiscard]] bool is_scalar() const { return kind == Kind::Plain || kind == Kind::Quoted; }
};

/// The nodes of all texts of a description, and the texts.
class YamlTree {
 public:
  [[nodiscard]] const Sources& sources() const { return sources_; }
  [[nodiscard]] Sources& sources() { return sources_; }
  [[nodiscard]] const YamlNode& node(YamlId id) const { return nodes_[id.index()]; }
  [[nodiscard]] YamlNode& node(YamlId id) { return nodes_[id.index()]; }
  /// The value of a key; absent if there is none or the node is no mapping.
  [[nodiscard]] std::optional<YamlId> find(YamlId mapping, std::string_view key) const;
  /// Throws: InputError when there are too many.
  YamlId add(YamlNode node);
  /// Gives a key of a mapping a value, new or instead of the one it has.
  void assign(YamlId mapping, YamlEntry entry);
  void erase(YamlId mapping, std::string_view key);

 private:
  Sources sources_;
  std::vector<YamlNode> nodes_;
};

/// Parses one of the tree's texts and returns its root, null if there is nothing. Throws: InputError with a location.
/// Complexity: O(size of the text), at most 2^19 nodes.
[[nodiscard]] YamlId parse_yaml(YamlTree& tree, std::uint32_t source);

}  // namespace collsim
