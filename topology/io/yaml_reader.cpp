#include "topology/io/yaml_reader.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "topology/error.hpp"
#include "topology/quantity_text.hpp"

namespace collsim {

namespace {

// Room to add up a few links; sums over a set of devices are checked where they are made.
constexpr Bandwidth greatest_bandwidth = Bandwidth::bytes_per_second(1'000'000'000'000'000);
// Room to add up the links of a path. Light needs 20 minutes to Mars.
constexpr Duration greatest_latency = std::chrono::hours(1);

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A key as the reference has them; others are shown in quotes.
bool is_plain_key(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-' || c == '_';
  });
}

/// The whole number that the text is in plain decimal; absent if it is none or above 2^32 - 1.
/// YAML 1.1 reads 010 as 8, so a leading zero is not accepted.
std::optional<std::uint32_t> whole_number(std::string_view text) {
  constexpr std::size_t most_digits = 10;
  if (text.empty() || text.size() > most_digits || (text.size() > 1 && text.front() == '0')) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) {
      return std::nullopt;
    }
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (value > UINT32_MAX) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(value);
}

/// "a.b", and a key that is no plain word in quotes.
std::string joined(const std::string& path, std::string_view key) {
  return (path.empty() ? "" : path + ".") + (is_plain_key(key) ? std::string(key) : in_quotes(key));
}

}  // namespace

void refuse_at(const YamlTree& tree, Position position, const std::string& path,
               const std::string& message, const std::string& hint) {
  throw InputError(message, path, hint, tree.sources().location(position));
}

std::string found_text(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::Null:
      return "nothing";
    case YamlNode::Kind::Sequence:
      return "a list";
    case YamlNode::Kind::Mapping:
      return "a mapping";
    case YamlNode::Kind::Plain:
    case YamlNode::Kind::Quoted:
      break;
  }
  return in_quotes(node.text);
}

MappingReader::MappingReader(ReadContext context, Position position, std::string path)
    : context_(context), position_(position), path_(std::move(path)) {}

MappingReader::MappingReader(ReadContext context, const LocatedNode& located,
                             std::vector<std::string> accepted)
    : context_(context),
      node_(located.id),
      position_(context.tree.node(located.id).position),
      path_(located.path),
      accepted_(std::move(accepted)) {
  const YamlNode& node = context_.tree.node(located.id);
  if (node.kind != YamlNode::Kind::Mapping) {
    refuse_at(context_.tree, position_, path_, "expected a mapping, got " + found_text(node),
              "keys: " + one_of(accepted_));
  }
  for (const YamlEntry& entry : node.entries) {
    if (std::find(accepted_.begin(), accepted_.end(), entry.key) != accepted_.end()) {
      continue;
    }
    const std::string close = did_you_mean(entry.key.substr(0, 64), accepted_);
    refuse_key(entry.key, "unknown key" + (close.empty() ? close : ", " + close),
               "accepted: " + one_of(accepted_));
  }
}

std::string MappingReader::path_of(std::string_view key) const { return joined(path_, key); }

std::optional<LocatedNode> MappingReader::find(std::string_view key) const {
  if (!node_) {
    return std::nullopt;
  }
  const std::optional<YamlId> value = context_.tree.find(*node_, key);
  if (!value) {
    return std::nullopt;
  }
  return LocatedNode{*value, path_of(key)};
}

std::vector<LocatedNode> MappingReader::items(const std::string& key) const {
  const std::optional<LocatedNode> list = find(key);
  if (!list) {
    return {};
  }
  const YamlNode& node = context_.tree.node(list->id);
  if (node.kind != YamlNode::Kind::Sequence) {
    refuse(key, "expected a list, got " + found_text(node));
  }
  std::vector<LocatedNode> items;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    items.push_back(LocatedNode{node.items[i], list->path + "[" + std::to_string(i) + "]"});
  }
  return items;
}

MappingReader MappingReader::mapping(const std::string& key,
                                     std::vector<std::string> accepted) const {
  const std::optional<LocatedNode> value = find(key);
  if (!value) {
    return MappingReader(context_, position_, path_of(key));
  }
  return MappingReader(context_, *value, std::move(accepted));
}

void MappingReader::refuse(const std::string& key, const std::string& message,
                           const std::string& hint) const {
  const std::optional<LocatedNode> value = find(key);
  const Position position = value ? context_.tree.node(value->id).position : position_;
  refuse_at(context_.tree, position, path_of(key), message, hint);
}

void MappingReader::refuse_key(const std::string& key, const std::string& message,
                               const std::string& hint) const {
  Position position = position_;
  if (node_) {
    for (const YamlEntry& entry : context_.tree.node(*node_).entries) {
      if (entry.key == key) {
        position = entry.position;
      }
    }
  }
  refuse_at(context_.tree, position, path_of(key), message, hint);
}

void MappingReader::refuse_missing(const std::string& key, const std::string& hint) const {
  refuse_at(context_.tree, position_, path_, "missing key \"" + key + "\"", hint);
}

std::optional<std::string> MappingReader::scalar(const std::string& key,
                                                 const std::string& expected) const {
  const std::optional<LocatedNode> value = find(key);
  if (!value) {
    return std::nullopt;
  }
  const YamlNode& node = context_.tree.node(value->id);
  if (!node.is_scalar()) {
    refuse(key, "expected " + expected + ", got " + found_text(node));
  }
  return node.text;
}

void MappingReader::note(const std::string& key, std::string value) const {
  const Position position = context_.tree.node(find(key)->id).position;
  context_.values.push_back(
      Provenance{path_of(key), std::move(value), context_.tree.sources().origin(position)});
}

void MappingReader::note_default(const std::string& key, std::string value,
                                 const std::string& origin) const {
  context_.values.push_back(Provenance{path_of(key), std::move(value), origin});
}

std::string MappingReader::text(const std::string& key,
                                const std::optional<Default<std::string>>& otherwise) const {
  std::optional<std::string> value = scalar(key, "text");
  if (value) {
    // A block of text (> or |) ends in a line break.
    while (value->ends_with('\n')) {
      value->pop_back();
    }
    const bool one_line = printable(*value, value->size()) == *value;
    if (!one_line || (value->empty() && !(otherwise && otherwise->value.empty()))) {
      refuse(key, "expected a line of text, got " + in_quotes(*value));
    }
    note(key, *value);
    return *std::move(value);
  }
  if (!otherwise) {
    refuse_missing(key);
  }
  note_default(key, otherwise->value, otherwise->origin);
  return otherwise->value;
}

std::uint32_t MappingReader::integer(const std::string& key, IntegerRange range,
                                     const std::optional<Default<std::uint32_t>>& otherwise) const {
  const std::string expected = "a whole number from " + std::to_string(range.least) + " to " +
                               std::to_string(range.greatest);
  const std::optional<std::string> text = scalar(key, expected);
  if (text) {
    const bool plain = context_.tree.node(find(key)->id).kind == YamlNode::Kind::Plain;
    const std::optional<std::uint32_t> value = plain ? whole_number(*text) : std::nullopt;
    if (!value || *value < range.least || *value > range.greatest) {
      refuse(key,
             "expected " + expected + ", got " + (plain ? "" : "the text ") + in_quotes(*text));
    }
    note(key, *text);
    return *value;
  }
  if (!otherwise) {
    refuse_missing(key);
  }
  note_default(key, std::to_string(otherwise->value), otherwise->origin);
  return otherwise->value;
}

template <class Quantity, class Parse>
Quantity MappingReader::quantity(const std::string& key, const std::string& expected, Parse parse,
                                 Quantity most,
                                 const std::optional<Default<Quantity>>& otherwise) const {
  const std::optional<std::string> text = scalar(key, expected);
  if (!text) {
    if (!otherwise) {
      refuse_missing(key);
    }
    note_default(key, to_text(otherwise->value), otherwise->origin);
    return otherwise->value;
  }
  Quantity value{};
  try {
    value = parse(*text);
  } catch (const InputError& error) {
    refuse(key, error.message(), error.hint());
  }
  if (value > most) {
    refuse(key, "expected at most " + to_text(most) + ", got " + in_quotes(*text));
  }
  note(key, to_text(value));
  return value;
}

Duration MappingReader::duration(const std::string& key,
                                 const std::optional<Default<Duration>>& otherwise) const {
  return quantity(key, "a duration such as \"1.2 us\"", parse_duration, greatest_latency,
                  otherwise);
}

Bandwidth MappingReader::bandwidth(const std::string& key,
                                   const std::optional<Default<Bandwidth>>& otherwise) const {
  return quantity(key, "a bandwidth such as \"450 GB/s\"", parse_bandwidth, greatest_bandwidth,
                  otherwise);
}

Bytes MappingReader::bytes(const std::string& key, Bytes most) const {
  return quantity(key, "a size such as \"64 MiB\"", parse_bytes, most,
                  std::optional<Default<Bytes>>{});
}

std::optional<std::size_t> MappingReader::chosen(const std::string& key,
                                                 const std::vector<std::string>& names) const {
  const std::optional<std::string> text = scalar(key, one_of(names));
  if (!text) {
    return std::nullopt;
  }
  const auto found = std::find(names.begin(), names.end(), *text);
  if (found == names.end()) {
    refuse(key, "expected " + one_of(names) + ", got " + in_quotes(*text),
           did_you_mean(text->substr(0, 64), names));
  }
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace collsim
