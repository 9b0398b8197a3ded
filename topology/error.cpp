#include "topology/error.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace collsim {

namespace {

std::string headline(const std::string& path, const std::string& message) {
  return path.empty() ? message : path + ": " + message;
}

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Twice the edit distance, but that another case of a letter counts half a letter.
std::size_t spelling_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = 2 * j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = 2 * i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char x = a[i - 1];
      const char y = b[j - 1];
      const std::size_t cost = x == y ? 0 : lower_case(x) == lower_case(y) ? 1 : 2;
      const std::size_t replaced = diagonal + cost;
      diagonal = row[j];
      row[j] = std::min({row[j] + 2, row[j - 1] + 2, replaced});
    }
  }
  return row[b.size()];
}

/// The length of the UTF-8 character at `at` (Unicode 15, table 3-7); 0 if there is none.
std::size_t character_length(std::string_view text, std::size_t at) {
  const unsigned char lead = byte_at(text, at);
  if (lead < 0x80U) {
    return 1;
  }
  const std::size_t length = lead >= 0xC2U && lead < 0xE0U   ? 2
                             : lead >= 0xE0U && lead < 0xF0U ? 3
                             : lead >= 0xF0U && lead < 0xF5U ? 4
                                                             : 0;
  if (length == 0 || at + length > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, at + i) & 0xC0U) != 0x80U) {
      return 0;
    }
  }
  const unsigned char second = byte_at(text, at + 1);
  const bool overlong = (lead == 0xE0U && second < 0xA0U) || (lead == 0xF0U && second < 0x90U);
  const bool no_character =
      (lead == 0xEDU && second >= 0xA0U) || (lead == 0xF4U && second >= 0x90U);
  return overlong || no_character ? 0 : length;
}

bool controls_terminals(std::string_view character) {
  const unsigned char first = byte_at(character, 0);
  // U+0080 to U+009F do so too.
  return first < 0x20U || first == 0x7FU || (first == 0xC2U && byte_at(character, 1) < 0xA0U);
}

}  // namespace

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_case(x) == lower_case(y); });
}

InputError::InputError(std::string message, std::string path, std::string hint,
                       SourceLocation location)
    : Error(headline(path, message)),
      message_(std::move(message)),
      path_(std::move(path)),
      hint_(std::move(hint)),
      location_(std::move(location)) {}

InputError InputError::with_location(SourceLocation location) const {
  return InputError(message_, path_, hint_, std::move(location));
}

std::string InputError::render(std::string_view severity) const {
  std::string text;
  if (!location_.file.empty()) {
    constexpr std::size_t longest_name = 4096;
    text += printable(location_.file, longest_name) + ":";
    if (location_.line > 0) {
      text += std::to_string(location_.line) + ":" + std::to_string(location_.column) + ":";
    }
    text += " ";
  }
  constexpr std::size_t longest_path = 200;
  text += std::string(severity) + ": " + headline(printable(path_, longest_path), message_);
  if (!location_.source_line.empty() && location_.column > 0) {
    text += "\n  " + location_.source_line + "\n  ";
    for (std::size_t i = 0; i + 1 < location_.column; ++i) {
      const bool tab = i < location_.source_line.size() && location_.source_line[i] == '\t';
      text += tab ? '\t' : ' ';
    }
    text += '^';
  }
  if (!hint_.empty()) {
    text += "\nhint: " + hint_;
  }
  return text;
}

InternalError::InternalError(const char* file, int line, const char* condition,
                             const std::string& why)
    : Error(std::string(file) + ":" + std::to_string(line) + ": " + why + " (" + condition + ")") {}

RangeError out_of_exact_range(const std::overflow_error& error) {
  if (dynamic_cast<const FractionOverflow*>(&error) != nullptr) {
    return RangeError(std::string("spray leaves the range of exact arithmetic: ") + error.what(),
                      "fabric.routing", std::string(one_path_hint));
  }
  return RangeError(std::string("the run leaves the range of exact arithmetic: ") + error.what(),
                    {}, "fewer bytes, faster links or a smaller job would fit");
}

std::string nearest(const std::string& word, const std::vector<std::string>& accepted) {
  // Longer words are no slips of the pen, and comparing takes the product of both lengths.
  constexpr std::size_t longest = 64;
  std::string best;
  if (word.size() > longest) {
    return best;
  }
  const std::size_t most_wrong = std::max<std::size_t>(1, word.size() / 3);
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const std::string& candidate : accepted) {
    if (candidate.size() > word.size() + most_wrong) {
      continue;
    }
    const std::size_t distance = spelling_distance(word, candidate);
    // Any letter is another one replaced.
    const bool letters = word.size() == 1 && candidate.size() == 1;
    const bool near = (!letters && distance <= 2 * most_wrong) || same_letters(word, candidate);
    if (near && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& accepted) {
  const std::string close = nearest(word, accepted);
  return close.empty() ? close : "did you mean " + in_quotes(close) + "?";
}

std::string printable(std::string_view text, std::size_t most) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = character_length(text, at);
    const std::size_t bytes = std::max<std::size_t>(length, 1);
    if (at + bytes > most) {
      return result + "...";
    }
    const std::string_view character = text.substr(at, bytes);
    if (length == 0 || controls_terminals(character)) {
      result += '?';
    } else {
      result += character;
    }
    at += bytes;
  }
  return result;
}

std::string in_quotes(std::string_view text) { return '"' + printable(text) + '"'; }

std::string one_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) {
      text += i + 1 == words.size() ? " or " : ", ";
    }
    text += words[i];
  }
  return text;
}

}  // namespace collsim
