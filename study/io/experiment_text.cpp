#include "study/io/experiment_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "topology/error.hpp"

namespace collsim {

namespace {

bool is_name(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && is_letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

/// Where a character of a single value stands; the beginning of the value if it is folded over lines or escaped.
Position place_in(const YamlTree& tree, const YamlNode& node, std::size_t offset) {
  const std::string_view line = tree.sources().at(node.position.source).line(node.position.line);
  const std::size_t begin = line.find(node.text);
  Position place = node.position;
  if (begin == std::string_view::npos || node.text.empty()) {
    return place;
  }
  const std::string_view before = line.substr(0, begin + offset);
  // Columns count characters.
  place.column = 1 + static_cast<std::uint32_t>(std::ranges::count_if(before, [](char c) {
                   return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
                 }));
  return place;
}

}  // namespace

std::string single_value(const YamlTree& tree, const LocatedNode& located) {
  const YamlNode& node = tree.node(located.id);
  if (!node.is_scalar() || node.text.empty()) {
    refuse_at(tree, node.position, located.path, "expected a value, got " + found_text(node));
  }
  if (printable(node.text, node.text.size()) != node.text) {
    refuse_at(tree, node.position, located.path,
              "expected a line of text, got " + in_quotes(node.text));
  }
  return node.text;
}

std::vector<LocatedEntry> entries_of(const YamlTree& tree, const LocatedNode& located) {
  const YamlNode& node = tree.node(located.id);
  if (node.kind != YamlNode::Kind::Mapping) {
    refuse_at(tree, node.position, located.path, "expected a mapping, got " + found_text(node));
  }
  std::vector<LocatedEntry> entries;
  for (const YamlEntry& entry : node.entries) {
    const std::string path = (located.path.empty() ? "" : located.path + ".") + entry.key;
    entries.push_back({entry.key, entry.position, {entry.value, path}});
  }
  return entries;
}

Expression formula(const YamlTree& tree, const LocatedNode& located, const KnownNames& known,
                   Expression::Gives gives) {
  const std::string text = single_value(tree, located);
  try {
    return Expression::parse(text, known, gives);
  } catch (const ExpressionError& error) {
    refuse_at(tree, place_in(tree, tree.node(located.id), error.offset()), located.path,
              error.message(), error.hint());
  }
}

void NameRegister::add(const YamlTree& tree, const LocatedEntry& entry, const std::string& what) {
  if (!is_name(entry.key) || entry.key == "and" || entry.key == "or" || entry.key == "not") {
    refuse_at(tree, entry.position, entry.value.path,
              "expected a name of letters, digits and _, got " + in_quotes(entry.key),
              "formulas use it");
  }
  const auto [known, is_new] = taken_.emplace(entry.key, what);
  if (!is_new) {
    refuse_at(tree, entry.position, entry.value.path,
              in_quotes(entry.key) + " is the name of " + known->second, "choose another name");
  }
}

void NameRegister::reserve(const std::string& name, const std::string& what) {
  taken_.emplace(name, what);
}

void require_known(const YamlTree& tree, const LocatedNode& located, const std::string& what,
                   const std::string& text, const std::vector<std::string>& accepted) {
  if (std::ranges::find(accepted, text) != accepted.end()) {
    return;
  }
  const std::string close = did_you_mean(text.substr(0, 64), accepted);
  refuse_at(tree, tree.node(located.id).position, located.path,
            "unknown " + what + " " + in_quotes(text) + (close.empty() ? "" : ", " + close),
            accepted.empty() ? "there are none" : "known: " + one_of(accepted));
}

}  // namespace collsim
