#include "topology/io/yaml_tree.hpp"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <new>
#include <sstream>
#include <utility>

namespace collsim {

namespace {

constexpr std::size_t most_nodes = std::size_t{1} << 19;
constexpr std::size_t deepest = 64;
// Values, and characters of text and keys, that aliases copy in all.
constexpr std::size_t most_copied = std::size_t{1} << 18;
// Duplicates are looked for one by one.
constexpr std::size_t most_keys = 256;
constexpr const char* bad_key = "a key must be text";

/// Builds the tree from the parser's events.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(YamlTree& tree, std::uint32_t source) : tree_(tree), source_(source) {}

  [[nodiscard]] std::optional<YamlId> root() const { return root_; }

  /// Throws what was found wrong and held back.
  void finish() const {
    if (held_back_) {
      throw InputError(*held_back_);
    }
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (held_back_) {
      return;
    }
    if (root_) {
      refuse(mark, "more than one YAML document in a file");
    }
  }
  void OnDocumentEnd() override {}
  void OnAnchor(const YAML::Mark& /*mark*/, const std::string& /*name*/) override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (held_back_) {
      return;
    }
    if (expects_key()) {
      refuse(mark, bad_key);
    }
    // The mark of a value that is not there lies behind it, perhaps lines later.
    const Position position = frames_.empty()      ? at(mark)
                              : frames_.back().key ? frames_.back().key->position
                                                   : tree_.node(frames_.back().node).position;
    attach(add(YamlNode{YamlNode::Kind::Null, position, {}, {}, {}}, anchor));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (held_back_) {
      return;
    }
    refuse_tag(mark, tag);
    if (expects_key()) {
      begin_entry(mark, value);
      return;
    }
    // yaml-cpp tells plain text from quoted by the tag that it supplies.
    const auto kind = tag == "!" ? YamlNode::Kind::Quoted : YamlNode::Kind::Plain;
    attach(add(YamlNode{kind, at(mark), value, {}, {}}, anchor));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (held_back_) {
      return;
    }
    if (expects_key()) {
      refuse(mark, "a key must be text, not an alias");
    }
    const std::optional<YamlId> target =
        anchor < anchors_.size() ? anchors_[anchor] : std::optional<YamlId>();
    if (!target) {
      refuse(mark, "an alias of something that is not a value");
    }
    for (const Frame& frame : frames_) {
      if (frame.node == *target) {
        refuse(mark, "an alias inside of what it stands for");
      }
    }
    const YamlId copied = copy(*target, frames_.size(), mark);
    tree_.node(copied).position = at(mark);
    attach(copied);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    begin_collection(mark, tag, anchor, style, YamlNode::Kind::Sequence);
  }
  void OnSequenceEnd() override { end_collection(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    begin_collection(mark, tag, anchor, style, YamlNode::Kind::Mapping);
  }
  void OnMapEnd() override { end_collection(); }

  /// yaml-cpp counts from 0, and bytes.
  [[nodiscard]] Position at(const YAML::Mark& mark) const {
    if (mark.is_null()) {
      return Position{source_, 0, 0};
    }
    // Further to the right nobody counts, and counting each time would take long.
    constexpr int most_counted = 1'000;
    const auto line = static_cast<std::uint32_t>(mark.line) + 1;
    if (mark.column > most_counted) {
      return Position{source_, line, static_cast<std::uint32_t>(mark.column) + 1};
    }
    const std::string_view before =
        tree_.sources().at(source_).line(line).substr(0, static_cast<std::size_t>(mark.column));
    const auto characters = std::count_if(before.begin(), before.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    });
    return Position{source_, line, static_cast<std::uint32_t>(characters) + 1};
  }

  /// At the end of the text yaml-cpp's columns are 0, but its positions hold.
  [[noreturn]] void refuse_syntax(YAML::Mark mark, const std::string& message) const {
    if (!mark.is_null()) {
      const std::string_view text = tree_.sources().at(source_).text();
      const std::string_view before = text.substr(0, static_cast<std::size_t>(mark.pos));
      const std::size_t line_end = before.find_last_of('\n');
      mark.column =
          static_cast<int>(before.size() - (line_end == std::string_view::npos ? 0 : line_end + 1));
    }
    constexpr std::size_t most_shown = 200;
    refuse(mark, "not valid YAML: " + printable(message, most_shown));
  }

  [[noreturn]] void refuse_depth(const YAML::Mark& mark) const {
    refuse(mark, "nested more than " + std::to_string(deepest) + " levels deep");
  }

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& message) const {
    throw InputError(message, {}, {}, tree_.sources().location(at(mark)));
  }

 private:
  /// A collection that is open, and of a mapping the key whose value comes next.
  struct Frame {
    YamlId node;
    bool is_mapping = false;
    std::optional<YamlEntry> key;
  };

  [[nodiscard]] bool expects_key() const {
    return !frames_.empty() && frames_.back().is_mapping && !frames_.back().key;
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!") {
      refuse(mark, "tags such as !!str are not supported");
    }
  }

  void begin_entry(const YAML::Mark& mark, const std::string& key) {
    if (key == "<<") {
      refuse(mark, "merge keys (<<) are not supported: write the keys out");
    }
    const YamlNode& mapping = tree_.node(frames_.back().node);
    for (const YamlEntry& entry : mapping.entries) {
      if (entry.key != key) {
        continue;
      }
      refuse(mark, "duplicate key " + in_quotes(key) + ", first used in line " +
                       std::to_string(entry.position.line));
    }
    if (mapping.entries.size() == most_keys) {
      refuse(mark, "more than " + std::to_string(most_keys) + " keys in one mapping");
    }
    frames_.back().key = YamlEntry{key, at(mark), YamlId()};
  }

  void begin_collection(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                        YAML::EmitterStyle::value style, YamlNode::Kind kind) {
    if (held_back_) {
      return;
    }
    refuse_tag(mark, tag);
    if (expects_key()) {
      if (style != YAML::EmitterStyle::Flow) {
        refuse(mark, bad_key);
      }
      // Held back: yaml-cpp takes a bracket that is never closed for a key, too, and says so in the end.
      held_back_ = InputError(bad_key, {}, {}, tree_.sources().location(at(mark)));
      return;
    }
    if (frames_.size() == deepest) {
      refuse_depth(mark);
    }
    const YamlId id = add(YamlNode{kind, at(mark), {}, {}, {}}, anchor);
    attach(id);
    frames_.push_back(Frame{id, kind == YamlNode::Kind::Mapping, {}});
  }

  void end_collection() {
    if (!held_back_) {
      frames_.pop_back();
    }
  }

  YamlId add(YamlNode node, YAML::anchor_t anchor) {
    const YamlId id = tree_.add(std::move(node));
    if (anchor != 0) {
      if (anchors_.size() <= anchor) {
        anchors_.resize(anchor + 1);
      }
      anchors_[anchor] = id;
    }
    return id;
  }

  void attach(YamlId id) {
    if (frames_.empty()) {
      root_ = id;
    } else if (Frame& frame = frames_.back(); frame.is_mapping) {
      frame.key->value = id;
      tree_.node(frame.node).entries.push_back(*std::move(frame.key));
      frame.key.reset();
    } else {
      tree_.node(frame.node).items.push_back(id);
    }
  }

  /// Copies a subtree to `depth` below the root. By value: adding nodes moves the others.
  YamlId copy(YamlId id, std::size_t depth, const YAML::Mark& mark) {
    YamlNode node = tree_.node(id);
    const bool is_collection = !node.is_scalar() && node.kind != YamlNode::Kind::Null;
    if (is_collection && depth == deepest) {
      refuse_depth(mark);
    }
    copied_ += 1 + node.text.size();
    for (const YamlEntry& entry : node.entries) {
      copied_ += entry.key.size();
    }
    if (copied_ > most_copied) {
      refuse(mark, "aliases stand for more than " + std::to_string(most_copied) +
                       " values and characters");
    }
    for (YamlId& item : node.items) {
      item = copy(item, depth + 1, mark);
    }
    for (YamlEntry& entry : node.entries) {
      entry.value = copy(entry.value, depth + 1, mark);
    }
    return tree_.add(std::move(node));
  }

  YamlTree& tree_;
  std::uint32_t source_;
  std::vector<Frame> frames_;
  std::vector<std::optional<YamlId>> anchors_;  ///< by yaml-cpp's anchor number
  std::size_t copied_ = 0;
  /// A mistake that the parser may yet explain better; till then events are ignored.
  std::optional<InputError> held_back_;
  std::optional<YamlId> root_;
};

}  // namespace

std::optional<YamlId> YamlTree::find(YamlId mapping, std::string_view key) const {
  for (const YamlEntry& entry : node(mapping).entries) {
    if (entry.key == key) {
      return entry.value;
    }
  }
  return std::nullopt;
}

YamlId YamlTree::add(YamlNode node) {
  if (nodes_.size() == most_nodes) {
    throw InputError("more than " + std::to_string(most_nodes) + " values", {}, {},
                     sources_.location(Position{node.position.source, 0, 0}));
  }
  nodes_.push_back(std::move(node));
  return YamlId(nodes_.size() - 1);
}

void YamlTree::assign(YamlId mapping, YamlEntry entry) {
  for (YamlEntry& existing : node(mapping).entries) {
    if (existing.key != entry.key) {
      continue;
    }
    existing = std::move(entry);
    return;
  }
  node(mapping).entries.push_back(std::move(entry));
}

void YamlTree::erase(YamlId mapping, std::string_view key) {
  std::erase_if(node(mapping).entries, [&](const YamlEntry& entry) { return entry.key == key; });
}

YamlId parse_yaml(YamlTree& tree, std::uint32_t source) {
  // Without the space at its end, in which yaml-cpp overlooks that a quote is still open.
  const std::string& text = tree.sources().at(source).text();
  std::istringstream stream(text.substr(0, text.find_last_not_of(" \t\n") + 1));
  TreeBuilder builder(tree, source);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    builder.finish();
  } catch (const YAML::DeepRecursion& error) {
    builder.refuse_depth(error.mark);
  } catch (const YAML::Exception& error) {
    builder.refuse_syntax(error.mark, error.msg);
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    // Whatever else the parser's internals throw on strange text.
    builder.refuse_syntax(YAML::Mark::null_mark(), error.what());
  }
  if (!builder.root()) {
    return tree.add(YamlNode{YamlNode::Kind::Null, Position{source, 0, 0}, {}, {}, {}});
  }
  return *builder.root();
}

}  // namespace collsim
