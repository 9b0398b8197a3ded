#include "validate/io/text_lines.hpp"

#include <algorithm>
#include <set>

#include "topology/error.hpp"
#include "validate/io/launcher_prefix.hpp"

namespace collsim {

namespace {

constexpr std::size_t most_lines = 2'000'000;
constexpr std::size_t longest_line = std::size_t{64} * 1024;
constexpr std::string_view blanks = " \t";

/// Reads escape sequences: `ESC [ … letter`, `ESC ] … BEL` or `ESC ] … ESC \`, `ESC` and one character.
class Escapes {
 public:
  /// Whether the character belongs to one.
  bool take(char c) {
    const State before = state_;
    state_ = next(c);
    const bool ends_line = c == '\n' || c == '\r';
    return !ends_line && (before != State::Text || state_ != State::Text);
  }

 private:
  enum class State : std::uint8_t { Text, Begun, Control, Title };

  [[nodiscard]] State next(char c) const {
    if (c == '\n' || c == '\r') {
      return State::Text;  // none goes on
    }
    if (c == '\x1b') {
      return State::Begun;
    }
    switch (state_) {
      case State::Text:
        return State::Text;
      case State::Begun:
        return c == '[' ? State::Control : c == ']' ? State::Title : State::Text;
      case State::Control:
        return c >= '@' && c <= '~' ? State::Text : State::Control;
      case State::Title:
        return c == '\a' ? State::Text : State::Title;
    }
    return State::Text;
  }

  State state_ = State::Text;
};

bool is_control(char c) {
  const auto code = static_cast<unsigned char>(c);
  return (code < 0x20 && c != '\t' && c != '\n' && c != '\r') || code == 0x7F;
}

/// Line numbers with which every line names itself (grep -n), and not processes.
void forget_streams_of_one_line(std::vector<TextLine>& lines) {
  constexpr std::size_t few = 4;
  std::set<std::uint32_t> streams;
  std::size_t named = 0;
  for (const TextLine& line : lines) {
    if (line.stream != 0) {
      streams.insert(line.stream);
      ++named;
    }
  }
  if (named >= few && streams.size() * 2 > named) {
    for (TextLine& line : lines) {
      line.stream = 0;
    }
  }
}

/// What stands before the header of a table, if it ends as prefixes do.
std::string_view prefix_of_file(const std::vector<TextLine>& lines) {
  for (const TextLine& line : lines) {
    const std::size_t size = line.text.find("size");
    if (size == std::string_view::npos || line.text.find("time", size) == std::string_view::npos ||
        line.text.find("busbw", size) == std::string_view::npos) {
      continue;
    }
    std::string_view before = line.text.substr(0, size);
    before = before.substr(0, before.find('#'));
    before = trimmed(before);
    constexpr std::string_view ends = ":]>|)";
    if (!before.empty() && ends.find(before.back()) != std::string_view::npos) {
      return before;
    }
  }
  return {};
}

void strip_prefix_of_file(std::vector<TextLine>& lines) {
  const std::string_view prefix = prefix_of_file(lines);
  if (prefix.empty()) {
    return;
  }
  for (TextLine& line : lines) {
    const std::size_t begin = line.text.find_first_not_of(blanks);
    if (line.text.substr(begin).starts_with(prefix)) {
      line.text.remove_prefix(begin + prefix.size());
    }
  }
  std::erase_if(lines, [](const TextLine& line) { return trimmed(line.text).empty(); });
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::vector<std::string_view> words_of(std::string_view text, std::size_t most) {
  std::vector<std::string_view> words;
  std::size_t at = text.find_first_not_of(blanks);
  while (at != std::string_view::npos && words.size() < most) {
    const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(blanks, end);
  }
  return words;
}

std::string cleaned_text(std::string_view bytes) {
  for (const std::string_view mark : {"\xEF\xBB\xBF", "\xFF\xFE"}) {
    if (bytes.starts_with(mark)) {
      bytes.remove_prefix(mark.size());
      break;
    }
  }
  std::string text;
  text.reserve(bytes.size());
  Escapes escapes;
  for (const char c : bytes) {
    if (c != '\0' && !escapes.take(c) && !is_control(c)) {
      text.push_back(c);
    }
  }
  return text;
}

std::vector<TextLine> lines_of(std::string_view cleaned) {
  const bool counts_returns = cleaned.find('\n') == std::string_view::npos;
  std::vector<TextLine> lines;
  std::uint32_t number = 1;
  for (std::size_t begin = 0; begin < cleaned.size();) {
    const std::size_t end = std::min(cleaned.find_first_of("\r\n", begin), cleaned.size());
    const std::string_view text = cleaned.substr(begin, end - begin);
    const StrippedLine stripped = strip_launcher_prefix(text);
    if (text.size() <= longest_line && !trimmed(stripped.text).empty()) {
      if (lines.size() == most_lines) {
        throw InputError("more than " + std::to_string(most_lines) + " lines");
      }
      lines.push_back({number, stripped.rank ? *stripped.rank + 1 : 0, stripped.text});
    }
    if (end < cleaned.size() && (cleaned[end] == '\n' || counts_returns)) {
      ++number;
    }
    begin = end + 1;
  }
  forget_streams_of_one_line(lines);
  strip_prefix_of_file(lines);
  return lines;
}

}  // namespace collsim
