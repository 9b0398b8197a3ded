#include "algorithms/nccl/io/xml_tree.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <pugixml.hpp>
#include <utility>

#include "topology/io/source.hpp"

namespace collsim::nccl {

namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 20U;
constexpr std::size_t most_levels = 64;
constexpr std::size_t most_elements = 65536;
constexpr std::size_t most_attributes = 64;
constexpr std::size_t most_name_bytes = 254;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// From byte offsets to lines and columns.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text), begins_{0} {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool lone_return = text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n');
      if (text[i] == '\n' || lone_return) {
        begins_.push_back(i + 1);
      }
    }
  }

  /// Goes on from the last place asked for, where that stands before in the line: a file may be one
  /// line.
  [[nodiscard]] XmlPlace place(std::size_t offset) {
    const auto next = std::upper_bound(begins_.begin(), begins_.end(), offset);
    const auto line = static_cast<std::uint32_t>(next - begins_.begin());
    if (line != last_.line || offset < last_offset_) {
      last_ = {line, 1};
      last_offset_ = begins_[line - 1];
    }
    for (; last_offset_ < std::min(offset, text_.size()); ++last_offset_) {
      // Bytes 10xxxxxx go on with a character of UTF-8.
      if ((static_cast<unsigned char>(text_[last_offset_]) & 0xC0U) != 0x80U) {
        ++last_.column;
      }
    }
    return last_;
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> begins_;
  XmlPlace last_{};
  std::size_t last_offset_{0};
};

class Converter {
 public:
  Converter(XmlTree& tree, Lines& lines) : tree_(tree), lines_(lines) {}

  XmlElement convert(const pugi::xml_node& node, std::size_t level) {
    XmlElement element;
    const auto offset = static_cast<std::size_t>(node.offset_debug());
    element.name = node.name();
    element.place = lines_.place(offset);
    check_length(element.name, element.place, "the name of an element");
    if (++elements_ > most_elements) {
      fail("more than " + std::to_string(most_elements) + " elements", element.place);
    }
    if (level > most_levels) {
      fail("elements stand in one another more than " + std::to_string(most_levels) + " deep",
           element.place);
    }
    add_attributes(node, offset + element.name.size(), element);
    for (const pugi::xml_node& child : node.children()) {
      if (child.type() == pugi::node_element) {
        element.children.push_back(convert(child, level + 1));
      }
    }
    return element;
  }

  [[noreturn]] void fail(const std::string& message, XmlPlace place) const {
    throw InputError(message, {}, {}, tree_.location(place));
  }

 private:
  void add_attributes(const pugi::xml_node& node, std::size_t offset, XmlElement& element) {
    for (const pugi::xml_attribute& attribute : node.attributes()) {
      const std::size_t begin = value_offset(attribute.name(), offset);
      if (element.attributes.size() == most_attributes) {
        fail("an element has more than " + std::to_string(most_attributes) + " attributes",
             lines_.place(begin));
      }
      XmlAttribute added{attribute.name(), attribute.value(), lines_.place(begin)};
      if (element.attribute(added.name) != nullptr) {
        fail("attribute " + in_quotes(added.name) + " stands twice in one element", added.place);
      }
      check_length(added.name, added.place, "the name of an attribute");
      check_length(added.value, added.place, "a value");
      element.attributes.push_back(std::move(added));
    }
  }

  /// Where the value of an attribute begins; `offset` moves behind it.
  [[nodiscard]] std::size_t value_offset(std::string_view name, std::size_t& offset) const {
    const std::string& text = tree_.text;
    const std::size_t start = text.find(name, offset);
    const std::size_t quote =
        start == std::string::npos ? start : text.find_first_of("\"'", start + name.size());
    if (quote == std::string::npos) {
      return offset;
    }
    const std::size_t end = text.find(text[quote], quote + 1);
    offset = end == std::string::npos ? text.size() : end + 1;
    return quote + 1;
  }

  void check_length(const std::string& text, XmlPlace place, const std::string& what) const {
    if (text.size() > most_name_bytes) {
      fail(what + " has " + std::to_string(text.size()) + " bytes; at most " +
               std::to_string(most_name_bytes) + " are accepted",
           place);
    }
  }

  XmlTree& tree_;
  Lines& lines_;
  std::size_t elements_ = 0;
};

/// The five of XML, or the number of a character.
bool is_known_entity(std::string_view name) {
  static constexpr std::array<std::string_view, 5> known{"amp", "lt", "gt", "quot", "apos"};
  if (!name.starts_with('#')) {
    return std::ranges::find(known, name) != known.end();
  }
  name.remove_prefix(1);
  const bool hexadecimal = name.starts_with('x');
  name.remove_prefix(hexadecimal ? 1 : 0);
  return !name.empty() &&
         name.find_first_not_of(hexadecimal ? "0123456789abcdefABCDEF" : "0123456789") ==
             std::string_view::npos;
}

/// Looks through the text for what NCCL's reader cannot take.
class StrictReader {
 public:
  StrictReader(XmlTree& tree, Lines& lines) : tree_(tree), lines_(lines) {}

  void read() {
    const std::string& text = tree_.text;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text.compare(i, 4, "<!--") == 0) {
        i = last_of("-->", i + 4);
      } else if (text.compare(i, 9, "<![CDATA[") == 0) {
        note(declaration_, i, "a declaration or CDATA");
        i = last_of("]]>", i);
      } else if (text[i] == '<') {
        i = read_tag(i);
      } else if (text[i] == '\t') {
        note(tab_, i, "a tab before an element");
      } else if (text[i] == '&') {
        read_entity(i);
      }
    }
  }

 private:
  std::size_t read_tag(std::size_t begin) {
    const std::string& text = tree_.text;
    if (text.compare(begin, 2, "<?") == 0) {
      note(declaration_, begin, "an XML declaration");
      return last_of("?>", begin);
    }
    if (text.compare(begin, 2, "<!") == 0) {
      note(declaration_, begin, "a declaration or CDATA");
    }
    char quote = 0;
    std::size_t i = begin + 1;
    for (; i < text.size() && (quote != 0 || text[i] != '>'); ++i) {
      const char c = text[i];
      if (quote != 0) {
        quote = c == quote ? '\0' : quote;
        if (c == '&') {
          read_entity(i);
        }
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '\t' || c == '\n' || c == '\r' || (c == ' ' && is_blank(text[i - 1]))) {
        note(blank_, i, "more than one blank, a tab or the end of a line between attributes");
      }
    }
    return i;
  }

  /// Where what ends so ends.
  [[nodiscard]] std::size_t last_of(std::string_view end, std::size_t from) const {
    const std::size_t at = tree_.text.find(end, from);
    return at == std::string::npos ? tree_.text.size() : at + end.size() - 1;
  }

  void read_entity(std::size_t at) {
    constexpr std::size_t longest = 12;
    const std::string_view behind = std::string_view(tree_.text).substr(at + 1, longest);
    const std::size_t end = behind.find(';');
    if (end == std::string_view::npos || !is_known_entity(behind.substr(0, end))) {
      throw InputError(
          "this is no well-formed XML: expected &amp; or another entity of XML's own, got " +
              in_quotes("&" + std::string(behind.substr(0, std::min(end, longest)))),
          {}, {}, tree_.location(lines_.place(at)));
    }
    note(entity_, at, "an entity");
  }

  void note(bool& noted, std::size_t offset, const std::string& what) {
    if (!noted) {
      noted = true;
      tree_.strictness.emplace_back("NCCL itself does not read " + what, "", "",
                                    tree_.location(lines_.place(offset)));
    }
  }

  XmlTree& tree_;
  Lines& lines_;
  bool tab_ = false;
  bool entity_ = false;
  bool declaration_ = false;
  bool blank_ = false;
};

}  // namespace

const XmlAttribute* XmlElement::attribute(std::string_view wanted) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const auto& known) { return known.name == wanted; });
  return found == attributes.end() ? nullptr : &*found;
}

SourceLocation XmlTree::location(XmlPlace place) const {
  std::size_t begin = 0;
  std::size_t end = 0;
  for (std::uint32_t line = 1; line <= place.line; ++line) {
    begin = line == 1 ? 0 : end + (text.compare(end, 2, "\r\n") == 0 ? 2 : 1);
    end = std::min(text.find_first_of("\r\n", begin), text.size());
  }
  constexpr std::size_t most_shown = 200;
  std::string line = text.substr(begin, end - begin);
  return {file, place.line, place.column, line.size() <= most_shown ? line : std::string()};
}

XmlTree parse_xml(std::string_view text, const std::string& file) {
  XmlTree tree;
  tree.file = file;
  if (text.size() > most_bytes) {
    throw InputError("the file has " + std::to_string(text.size()) + " bytes; at most " +
                         std::to_string(most_bytes) + " are accepted",
                     {}, {}, {file, 0, 0, {}});
  }
  tree.text = checked_text(file, text);
  Lines lines(tree.text);
  Converter converter(tree, lines);
  pugi::xml_document document;
  const pugi::xml_parse_result result =
      document.load_buffer(tree.text.data(), tree.text.size(),
                           pugi::parse_default | pugi::parse_fragment, pugi::encoding_utf8);
  if (!result) {
    converter.fail(std::string("this is no well-formed XML: ") + result.description(),
                   lines.place(static_cast<std::size_t>(result.offset)));
  }
  pugi::xml_node root;
  for (const pugi::xml_node& node : document.children()) {
    if (node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata) {
      const auto offset = static_cast<std::size_t>(node.offset_debug());
      converter.fail(std::string("this is no well-formed XML: text ") +
                         (root ? "behind" : "before") + " the root element",
                     lines.place(tree.text.find_first_not_of(" \t\r\n", offset)));
    }
    if (node.type() == pugi::node_element) {
      if (root) {
        converter.fail("a second root element",
                       lines.place(static_cast<std::size_t>(node.offset_debug())));
      }
      root = node;
    }
  }
  if (!root) {
    converter.fail("no element", lines.place(0));
  }
  tree.root = converter.convert(root, 1);
  StrictReader(tree, lines).read();
  return tree;
}

}  // namespace collsim::nccl
