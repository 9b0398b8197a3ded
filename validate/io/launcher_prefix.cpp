#include "validate/io/launcher_prefix.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace collsim {

namespace {

constexpr std::size_t most_stacked = 6;
constexpr std::size_t longest_tag = 160;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

bool take(std::string_view& text, std::string_view literal) {
  if (!text.starts_with(literal)) {
    return false;
  }
  text.remove_prefix(literal.size());
  return true;
}

/// A number of at most six digits: a rank.
std::optional<std::uint32_t> take_rank(std::string_view& text) {
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) {
    ++digits;
  }
  if (digits == 0 || digits > 6) {
    return std::nullopt;
  }
  std::uint32_t rank = 0;
  std::from_chars(text.data(), text.data() + digits, rank);
  text.remove_prefix(digits);
  return rank;
}

/// Whether the text begins like the pattern, in which 0 stands for a digit.
bool take_shape(std::string_view& text, std::string_view pattern) {
  if (text.size() < pattern.size()) {
    return false;
  }
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '0' ? !is_digit(text[i]) : text[i] != pattern[i]) {
      return false;
    }
  }
  text.remove_prefix(pattern.size());
  return true;
}

/// The fraction and the zone of a time.
void take_rest_of_time(std::string_view& text) {
  if (text.size() > 1 && (text[0] == '.' || text[0] == ',') && is_digit(text[1])) {
    text.remove_prefix(1);
    while (!text.empty() && is_digit(text.front())) {
      text.remove_prefix(1);
    }
  }
  for (const std::string_view zone : {"Z", "+00:00", "-00:00", "+0000", "-0000"}) {
    std::string_view rest = text;
    if (take_shape(rest, zone)) {
      text = rest;
      return;
    }
  }
}

/// "2025-03-01T12:00:00.5Z", "2025/03/01 12:00:00", "12:00:00".
bool take_time(std::string_view& text) {
  std::string_view rest = text;
  if (take_shape(rest, "0000-00-00") || take_shape(rest, "0000/00/00")) {
    if (rest.empty() || (rest.front() != 'T' && rest.front() != ' ')) {
      return false;
    }
    rest.remove_prefix(1);
  }
  if (!take_shape(rest, "00:00:00")) {
    return false;
  }
  take_rest_of_time(rest);
  text = rest;
  return true;
}

bool ends_word(std::string_view rest) {
  return rest.empty() || rest.front() == ' ' || rest.front() == '\t';
}

bool strip_time(StrippedLine& line) {
  std::string_view rest = without_blanks(line.text);
  const bool bracketed = take(rest, "[");
  if (!take_time(rest) || (bracketed && !take(rest, "]"))) {
    return false;
  }
  take(rest, ":");
  if (!ends_word(rest)) {
    return false;
  }
  line.text = rest;
  return true;
}

/// `[job,rank]<stdout>:`, whatever else Open MPI writes before the colon.
bool strip_tag(StrippedLine& line) {
  constexpr std::array<std::string_view, 3> marks{"<stdout>", "<stderr>", "<stddiag>"};
  for (const std::string_view mark : marks) {
    const std::size_t at = line.text.substr(0, longest_tag).find(mark);
    if (at == std::string_view::npos) {
      continue;
    }
    const std::string_view before = line.text.substr(0, at);
    if (const std::size_t comma = before.rfind(','); comma != std::string_view::npos) {
      std::string_view number = before.substr(comma + 1);
      if (const auto rank = take_rank(number); rank && number.starts_with(']')) {
        line.rank = rank;
      }
    }
    line.text.remove_prefix(at + mark.size());
    take(line.text, ":");
    return true;
  }
  return false;
}

/// `3: text`, `[3] text`, `[rank3]: text`, `rank3: text`.
bool strip_rank(StrippedLine& line) {
  std::string_view rest = without_blanks(line.text);
  const bool bracketed = take(rest, "[");
  const bool named = take(rest, "rank") || take(rest, "Rank");
  const auto rank = take_rank(rest);
  if (!rank || (bracketed && !take(rest, "]"))) {
    return false;
  }
  const bool colon = take(rest, ":");
  if (!colon && !bracketed) {
    return false;
  }
  if (!ends_word(rest) && !(colon && !named && rest.front() == '#')) {
    return false;
  }
  line.text = rest;
  line.rank = rank;
  return true;
}

bool strip_quote(StrippedLine& line) {
  std::string_view rest = without_blanks(line.text);
  if (!take(rest, "> ") && rest != ">") {
    return false;
  }
  line.text = rest;
  return true;
}

}  // namespace

StrippedLine strip_launcher_prefix(std::string_view text) {
  StrippedLine line{text};
  for (std::size_t i = 0; i < most_stacked; ++i) {
    if (!strip_time(line) && !strip_tag(line) && !strip_rank(line) && !strip_quote(line)) {
      break;
    }
  }
  return line;
}

}  // namespace collsim
