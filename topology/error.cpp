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

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_case(x) == lower_case(y); });
}

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

}  // namespace

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

std::string InputError::render() const {
  std::string text;
  if (!location_.file.empty()) {
    text += location_.file + ":";
    if (location_.line > 0) {
      text += std::to_string(location_.line) + ":" + std::to_string(location_.column) + ":";
    }
    text += " ";
  }
  constexpr std::size_t longest_path = 200;
  text += "error: " + headline(printable(path_, longest_path), message_);
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

InputError out_of_exact_range(const std::overflow_error& error) {
  return InputError(std::string("the run leaves the range of exact arithmetic: ") + error.what(),
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
    const bool near = distance <= 2 * most_wrong || same_letters(word, candidate);
    if (near && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string printable(std::string_view text, std::size_t most) {
  std::size_t length = std::min(most, text.size());
  // Not in the middle of a UTF-8 character.
  while (length < text.size() && length > 0 && (byte_at(text, length) & 0xC0U) == 0x80U) {
    --length;
  }
  std::string result;
  for (std::size_t at = 0; at < length; ++at) {
    const unsigned char byte = byte_at(text, at);
    // U+0080 to U+009F control terminals too.
    const bool two_bytes = byte == 0xC2U && at + 1 < length && byte_at(text, at + 1) < 0xA0U;
    if (two_bytes) {
      ++at;
    }
    result += two_bytes || byte < 0x20U || byte == 0x7FU ? '?' : text[at];
  }
  return length < text.size() ? result + "..." : result;
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
