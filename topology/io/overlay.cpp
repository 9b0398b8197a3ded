#include "topology/io/overlay.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "topology/error.hpp"
#include "topology/io/yaml_reader.hpp"

namespace collsim {

namespace {

constexpr std::string_view option = "--set";
constexpr std::size_t most_segments = 16;

/// A key, or the number of an item.
using Segment = std::variant<std::string, std::size_t>;

std::optional<std::size_t> item_number(std::string_view text) {
  constexpr std::size_t most_digits = 9;
  if (text.empty() || text.size() > most_digits) {
    return std::nullopt;
  }
  std::size_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    number = number * 10 + static_cast<std::size_t>(c - '0');
  }
  return number;
}

/// "node.links[0].bandwidth" → node, links, 0, bandwidth; absent if it is no path.
std::optional<std::vector<Segment>> segments_of(std::string_view path) {
  std::vector<Segment> segments;
  while (!path.empty()) {
    if (path.front() == '[') {
      const std::size_t end = path.find(']');
      if (end == std::string_view::npos || segments.empty()) {
        return std::nullopt;
      }
      const std::optional<std::size_t> number = item_number(path.substr(1, end - 1));
      if (!number) {
        return std::nullopt;
      }
      segments.emplace_back(*number);
      path.remove_prefix(end + 1);
    } else {
      if (!segments.empty()) {
        if (path.front() != '.') {
          return std::nullopt;
        }
        path.remove_prefix(1);
      }
      const std::size_t length = std::min(path.find_first_of(".[]"), path.size());
      if (length == 0) {
        return std::nullopt;
      }
      segments.emplace_back(std::string(path.substr(0, length)));
      path.remove_prefix(length);
    }
  }
  if (segments.empty() || segments.size() > most_segments) {
    return std::nullopt;
  }
  return segments;
}

[[noreturn]] void refuse_path(std::string_view path) {
  throw InputError(in_quotes(path) + " is not a path such as \"node.links[0].bandwidth\"",
                   std::string(option));
}

std::string joined(const std::string& path, const Segment& segment) {
  if (const auto* number = std::get_if<std::size_t>(&segment)) {
    return path + "[" + std::to_string(*number) + "]";
  }
  return (path.empty() ? "" : path + ".") + std::get<std::string>(segment);
}

/// The places that a path leads through, from the root down.
class Walk {
 public:
  Walk(YamlTree& tree, YamlId root, Position setting) : tree_(tree), at_(root), setting_(setting) {}

  [[nodiscard]] YamlId at() const { return at_; }

  /// Goes to what the segment names; creates a mapping or list (what `next` needs) if nothing is
  /// there.
  void enter(const Segment& segment, const Segment& next) {
    const std::optional<YamlId> existing = child(segment);
    if (existing && tree_.node(*existing).kind != YamlNode::Kind::Null) {
      at_ = *existing;
    } else {
      const auto kind = std::holds_alternative<std::size_t>(next) ? YamlNode::Kind::Sequence
                                                                  : YamlNode::Kind::Mapping;
      const YamlId created = tree_.add(YamlNode{kind, setting_, {}, {}, {}});
      put(segment, created);
      at_ = created;
    }
    path_ = joined(path_, segment);
  }

  void put(const Segment& segment, YamlId value) {
    static_cast<void>(child(segment));  // refuses what the place cannot have
    if (const auto* key = std::get_if<std::string>(&segment)) {
      tree_.assign(at_, YamlEntry{*key, setting_, value});
      return;
    }
    std::vector<YamlId>& items = tree_.node(at_).items;
    const std::size_t number = std::get<std::size_t>(segment);
    if (number == items.size()) {
      items.push_back(value);
    } else {
      items[number] = value;
    }
  }

 private:
  /// What the segment names now. Refuses a key of what is no mapping, an item of what is no list,
  /// and an item beyond the next new one.
  [[nodiscard]] std::optional<YamlId> child(const Segment& segment) const {
    const YamlNode& node = tree_.node(at_);
    if (const auto* key = std::get_if<std::string>(&segment)) {
      if (node.kind != YamlNode::Kind::Mapping) {
        refuse_at(tree_, setting_, path_,
                  "has no key " + in_quotes(*key) + ": it is " + found_text(node));
      }
      return tree_.find(at_, *key);
    }
    const std::size_t number = std::get<std::size_t>(segment);
    if (node.kind != YamlNode::Kind::Sequence) {
      refuse_at(tree_, setting_, path_,
                "has no item [" + std::to_string(number) + "]: it is " + found_text(node));
    }
    if (number > node.items.size()) {
      refuse_at(tree_, setting_, path_,
                "has no item [" + std::to_string(number) + "]: it has " +
                    std::to_string(node.items.size()),
                "items count from 0; [" + std::to_string(node.items.size()) + "] adds one");
    }
    return number < node.items.size() ? std::optional<YamlId>(node.items[number]) : std::nullopt;
  }

  YamlTree& tree_;
  YamlId at_;
  Position setting_;
  std::string path_;
};

bool is_key(const Segment& segment, std::string_view key) {
  const auto* text = std::get_if<std::string>(&segment);
  return text != nullptr && *text == key;
}

}  // namespace

Setting parse_setting(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw InputError("expected PATH=VALUE such as \"nodes=4\", got " + in_quotes(text),
                     std::string(option));
  }
  if (!segments_of(text.substr(0, equals))) {
    refuse_path(text.substr(0, equals));
  }
  return Setting{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

void apply_setting(YamlTree& tree, YamlId root, const Setting& setting,
                   const IncludeNode& include_node) {
  std::optional<std::vector<Segment>> segments = segments_of(setting.path);
  if (!segments) {
    refuse_path(setting.path);
  }
  const std::string name =
      std::string(option) + " " + printable(setting.path) + "=" + printable(setting.value);
  const std::uint32_t source = tree.sources().add_setting(name, setting.value);
  const YamlId value = parse_yaml(tree, source);

  const bool of_node = is_key(segments->front(), "node");
  const std::optional<YamlId> nodes = tree.find(root, "nodes");
  if (of_node && nodes && tree.node(*nodes).kind == YamlNode::Kind::Sequence) {
    refuse_at(tree, Position{source, 0, 0}, "node",
              "does not apply where the nodes are a list of groups",
              "name a group, as --set nodes[0]." + printable(setting.path) + "=" +
                  printable(setting.value));
  }
  if (of_node && segments->size() == 2 && is_key(segments->back(), "gpus")) {
    segments->erase(segments->begin());
  } else if (of_node && segments->size() == 1 && tree.find(value, "gpus")) {
    tree.erase(root, "gpus");
  } else if ((of_node && segments->size() > 1) || is_key(segments->front(), "nodes")) {
    include_node(tree, root);
  }
  Walk walk(tree, root, Position{source, 0, 0});
  for (std::size_t i = 0; i + 1 < segments->size(); ++i) {
    walk.enter((*segments)[i], (*segments)[i + 1]);
  }
  walk.put(segments->back(), value);
}

void move_gpus_into_node(YamlTree& tree, YamlId root) {
  const std::optional<YamlId> gpus = tree.find(root, "gpus");
  const std::optional<YamlId> node = tree.find(root, "node");
  if (!gpus || !node || tree.find(root, "graph")) {
    return;
  }
  if (tree.node(*node).kind != YamlNode::Kind::Mapping) {
    return;
  }
  // What it takes the place of must be right as well.
  if (const std::optional<YamlId> replaced = tree.find(*node, "gpus")) {
    std::vector<Provenance> ignored;
    const YamlId only =
        tree.add(YamlNode{YamlNode::Kind::Mapping, tree.node(*node).position, {}, {}, {}});
    tree.assign(only, YamlEntry{"gpus", tree.node(*replaced).position, *replaced});
    const MappingReader reader({tree, ignored}, LocatedNode{only, "node"}, {"gpus"});
    static_cast<void>(reader.integer("gpus", device_counts));
  }
  const Position position = tree.node(*gpus).position;
  tree.assign(*node, YamlEntry{"gpus", position, *gpus});
  tree.erase(root, "gpus");
}

}  // namespace collsim
