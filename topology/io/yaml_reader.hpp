#pragma once

// Typed reading of a located tree: values by key, with units and ranges, and every value that was
// read (or defaulted) noted with its origin. Mistakes end in an InputError that carries the place,
// the path in the document, what was found and what is accepted.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "topology/io/yaml_tree.hpp"
#include "topology/spec.hpp"
#include "topology/units.hpp"

namespace collsim {

/// Throws InputError at a value of the tree.
[[noreturn]] void refuse_at(const YamlTree& tree, Position position, const std::string& path,
                            const std::string& message, const std::string& hint = {});

/// "a list", "nothing", `"450"`: what a message says was found.
[[nodiscard]] std::string found_text(const YamlNode& node);

/// One word of a fixed set, and what it stands for.
template <class Value>
struct Choice {
  std::string_view name;
  Value value{};
};

/// The least and greatest whole number accepted.
struct IntegerRange {
  std::uint32_t least = 0;
  std::uint32_t greatest = 0;
};

/// How many devices a node may have of a kind, and a cluster of nodes.
inline constexpr IntegerRange device_counts{1, 1U << 20};

/// What takes the place of a key that is not there, and what `origin` says of it.
template <class Value>
struct Default {
  Value value;
  std::string origin = "default";
};

/// A value of the document, of any kind, with its path.
struct LocatedNode {
  YamlId id;
  std::string path;
};

/// What reading shares: the tree that is read and the list of values in force that grows.
struct ReadContext {
  const YamlTree& tree;
  std::vector<Provenance>& values;
};

/// Reads one mapping by its keys.
class MappingReader {
 public:
  /// Refuses what is not a mapping, and keys that are not `accepted`.
  MappingReader(ReadContext context, const LocatedNode& located, std::vector<std::string> accepted);

  [[nodiscard]] bool has(std::string_view key) const { return find(key).has_value(); }

  // Each throws InputError if the value is not of the kind, or is missing and there is no default.

  /// One line of text; not empty, unless the default is.
  [[nodiscard]] std::string text(const std::string& key,
                                 const std::optional<Default<std::string>>& otherwise = {}) const;
  [[nodiscard]] std::uint32_t integer(
      const std::string& key, IntegerRange range,
      const std::optional<Default<std::uint32_t>>& otherwise = {}) const;
  [[nodiscard]] Duration duration(const std::string& key,
                                  const std::optional<Default<Duration>>& otherwise = {}) const;
  [[nodiscard]] Bandwidth bandwidth(const std::string& key,
                                    const std::optional<Default<Bandwidth>>& otherwise = {}) const;
  /// What a device can hold, at most `most`; for values without a default.
  [[nodiscard]] Bytes bytes(const std::string& key, Bytes most) const;
  template <class Value>
  [[nodiscard]] Value choice(
      const std::string& key, std::span<const Choice<Value>> choices,
      const std::optional<Default<std::type_identity_t<Value>>>& otherwise = {}) const;

  /// The value of a key, whatever it is; absent if there is none.
  [[nodiscard]] std::optional<LocatedNode> find(std::string_view key) const;
  /// The items of a list; none if the key is absent.
  [[nodiscard]] std::vector<LocatedNode> items(const std::string& key) const;
  /// An item of a list, as a mapping.
  [[nodiscard]] MappingReader item(const LocatedNode& located,
                                   std::vector<std::string> accepted) const {
    return MappingReader(context_, located, std::move(accepted));
  }
  /// A mapping inside this one. If the key is absent, it reads as an empty mapping: every key of it
  /// has its default.
  [[nodiscard]] MappingReader mapping(const std::string& key,
                                      std::vector<std::string> accepted) const;

  /// Throws InputError at the key's value or, if there is none, at the mapping.
  [[noreturn]] void refuse(const std::string& key, const std::string& message,
                           const std::string& hint = {}) const;
  /// Throws InputError at the mapping, which lacks the key.
  [[noreturn]] void refuse_missing(const std::string& key, const std::string& hint = {}) const;
  /// Throws InputError at the key itself.
  [[noreturn]] void refuse_key(const std::string& key, const std::string& message,
                               const std::string& hint = {}) const;

 private:
  MappingReader(ReadContext context, Position position, std::string path);

  [[nodiscard]] std::string path_of(std::string_view key) const;
  /// The text of a scalar; absent if the key is. `expected` is for the message.
  [[nodiscard]] std::optional<std::string> scalar(const std::string& key,
                                                  const std::string& expected) const;
  /// Which of `names` the key's value is; absent if the key is.
  [[nodiscard]] std::optional<std::size_t> chosen(const std::string& key,
                                                  const std::vector<std::string>& names) const;
  void note(const std::string& key, std::string value) const;
  void note_default(const std::string& key, std::string value, const std::string& origin) const;
  template <class Quantity, class Parse>
  [[nodiscard]] Quantity quantity(const std::string& key, const std::string& expected, Parse parse,
                                  Quantity most,
                                  const std::optional<Default<Quantity>>& otherwise) const;

  ReadContext context_;
  std::optional<YamlId> node_;
  Position position_;  ///< of the mapping or, where that is absent, of the nearest one around it
  std::string path_;
  std::vector<std::string> accepted_;
};

template <class Value>
Value MappingReader::choice(
    const std::string& key, std::span<const Choice<Value>> choices,
    const std::optional<Default<std::type_identity_t<Value>>>& otherwise) const {
  std::vector<std::string> names;
  for (const Choice<Value>& choice : choices) {
    names.emplace_back(choice.name);
  }
  if (const std::optional<std::size_t> index = chosen(key, names)) {
    note(key, names[*index]);
    return choices[*index].value;
  }
  if (!otherwise) {
    refuse_missing(key);
  }
  for (const Choice<Value>& choice : choices) {
    if (choice.value != otherwise->value) {
      continue;
    }
    note_default(key, std::string(choice.name), otherwise->origin);
    break;
  }
  return otherwise->value;
}

}  // namespace collsim
