#include "topology/io/source.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "topology/quantity_text.hpp"

namespace collsim {

namespace {

// Longer lines are not repeated in messages.
constexpr std::size_t longest_shown_line = 200;
// The YAML scanner may read all brackets before it reports the first, at some hundred bytes each. No
// description needs that many open ones, whether or not they stand in comments.
constexpr int most_open_brackets = 1'000;

/// The length of the UTF-8 sequence that begins at `at`; 0 if it is none. Overlong forms,
/// surrogates and what lies beyond U+10FFFF are none.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t offset) -> unsigned {
    return at + offset < text.size() ? static_cast<unsigned char>(text[at + offset]) : 0U;
  };
  const unsigned first = byte(0);
  const auto continued = [&](std::size_t offset, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(offset) >= low && byte(offset) <= high;
  };
  if (first < 0x80) {
    return 1;
  }
  if (first >= 0xC2 && first <= 0xDF) {
    return continued(1) ? 2 : 0;
  }
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;
    return continued(1, low, high) && continued(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    return continued(1, low, high) && continued(2) && continued(3) ? 4 : 0;
  }
  return 0;
}

[[noreturn]] void refuse_text(const std::string& name, std::string_view text,
                              const std::string& message) {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
  for (const char c : text) {
    if (c == '\n') {
      ++line;
      column = 0;
    }
    // A continuation byte belongs to the character before it.
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
      ++column;
    }
  }
  throw InputError(message, {}, {}, SourceLocation{name, line, column, {}});
}

InputError too_large(const std::string& name, std::size_t most) {
  return InputError("larger than " + to_text(Bytes(static_cast<std::int64_t>(most))), {}, {},
                    SourceLocation{name, 0, 0, {}});
}

/// A text that the YAML parser can be given.
std::string checked_description(const std::string& name, std::string_view text) {
  if (text.size() > largest_description) {
    throw too_large(name, largest_description);
  }
  int open_brackets = 0;
  std::string checked = checked_text(name, text);
  for (std::size_t at = 0; at < checked.size(); ++at) {
    const char c = checked[at];
    if (c == '[' || c == '{') {
      ++open_brackets;
    }
    if ((c == ']' || c == '}') && open_brackets > 0) {
      --open_brackets;
    }
    if (open_brackets > most_open_brackets) {
      refuse_text(name, std::string_view(checked).substr(0, at), "nested too deeply");
    }
  }
  return checked;
}

}  // namespace

std::string checked_text(const std::string& name, std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.remove_prefix(3);
  }
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const auto code = static_cast<unsigned char>(c);
    const std::size_t length = sequence_length(text, at);
    if (length == 0) {
      refuse_text(name, result, "not a text file: not UTF-8");
    }
    if ((code < 0x20 && c != '\t' && c != '\n' && c != '\r') || code == 0x7F) {
      refuse_text(name, result, "not a text file: control character " + std::to_string(code));
    }
    // U+0080 to U+009F control terminals too.
    if (code == 0xC2 && static_cast<unsigned char>(text[at + 1]) < 0xA0) {
      refuse_text(name, result,
                  "not a text file: control character " +
                      std::to_string(static_cast<unsigned char>(text[at + 1])));
    }
    if (c == '\r') {
      result += '\n';
      at += text.substr(at).starts_with("\r\n") ? std::size_t{2} : std::size_t{1};
    } else {
      result += text.substr(at, length);
      at += length;
    }
  }
  return result;
}

SourceText::SourceText(std::string name, Origin origin, std::string text)
    : name_(std::move(name)), origin_(origin), text_(std::move(text)), line_begin_{0} {
  for (std::size_t at = 0; at < text_.size(); ++at) {
    if (text_[at] == '\n') {
      line_begin_.push_back(at + 1);
    }
  }
}

std::string_view SourceText::line(std::uint32_t number) const {
  if (number == 0 || number > line_begin_.size()) {
    return {};
  }
  const std::size_t begin = line_begin_[number - 1];
  const std::size_t end = number < line_begin_.size() ? line_begin_[number] - 1 : text_.size();
  return std::string_view(text_).substr(begin, end - begin);
}

std::uint32_t Sources::add_file(std::string name, std::string_view text) {
  std::string checked = checked_description(name, text);
  texts_.emplace_back(std::move(name), SourceText::Origin::File, std::move(checked));
  return static_cast<std::uint32_t>(texts_.size() - 1);
}

std::uint32_t Sources::add_setting(std::string name, std::string_view text) {
  std::string checked = checked_description(name, text);
  texts_.emplace_back(std::move(name), SourceText::Origin::Setting, std::move(checked));
  return static_cast<std::uint32_t>(texts_.size() - 1);
}

SourceLocation Sources::location(Position position) const {
  const SourceText& text = texts_[position.source];
  if (text.origin() == SourceText::Origin::Setting) {
    return SourceLocation{text.name(), 0, 0, {}};
  }
  const std::string_view line = text.line(position.line);
  return SourceLocation{text.name(), position.line, position.column,
                        line.size() > longest_shown_line ? std::string() : std::string(line)};
}

std::string Sources::origin(Position position) const {
  const SourceText& text = texts_[position.source];
  if (text.origin() == SourceText::Origin::Setting) {
    return "--set";
  }
  return text.name() + ":" + std::to_string(position.line);
}

InputError SourceMap::locate(const InputError& error) const {
  if (!error.location().file.empty()) {
    return error;
  }
  std::string path = error.path();
  while (true) {
    const auto found = positions_.find(path);
    if (found != positions_.end()) {
      return error.with_location(sources_.location(found->second));
    }
    if (path.empty()) {
      return error;
    }
    const std::size_t cut = path.find_last_of(".[");
    path.resize(cut == std::string::npos ? 0 : cut);
  }
}

InputError unreadable(const std::string& path, const std::string& why) {
  return InputError("cannot read " + in_quotes(path) + ": " + why);
}

std::ifstream open_file(const std::string& path, Endless endless) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw unreadable(path, "no such file");
  }
  if (error) {
    throw unreadable(path, error.message());
  }
  if (std::filesystem::is_directory(status)) {
    throw unreadable(path, "it is a directory");
  }
  if (endless == Endless::Refused && !std::filesystem::is_regular_file(status)) {
    throw unreadable(path, "it is not a regular file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw unreadable(path, std::generic_category().message(errno));
  }
  return file;
}

std::string read_file(const std::string& path, std::size_t most) {
  std::ifstream file = open_file(path, Endless::Refused);
  std::string text;
  // Block by block: most files are far smaller than the largest.
  constexpr std::size_t block = std::size_t{64} << 10U;
  while (file && text.size() <= most) {
    const std::size_t before = text.size();
    text.resize(before + std::min(block, most + 1 - before));
    file.read(text.data() + before, static_cast<std::streamsize>(text.size() - before));
    text.resize(before + static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) {
    throw unreadable(path, "read error");
  }
  if (text.size() > most) {
    throw too_large(path, most);
  }
  return text;
}

}  // namespace collsim
