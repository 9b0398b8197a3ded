#include "algorithms/nccl/restriction.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return result;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Parses one variable: its name and value stand in every message.
class Parser {
 public:
  Parser(std::string_view variable, std::span<const std::string_view> words)
      : variable_(variable), words_(words.begin(), words.end()) {
    for (const Function function : functions) {
      functions_.emplace_back(name(function));
    }
  }

  [[nodiscard]] Restriction parse(std::string_view value) const {
    Restriction restriction;
    bool first = true;
    for (const std::string_view entry : split(value, ';')) {
      add_entry(restriction, entry, first);
      first = false;
    }
    return restriction;
  }

 private:
  void add_entry(Restriction& restriction, std::string_view entry, bool first) const {
    const std::size_t colon = entry.find(':');
    if (colon == std::string_view::npos) {
      if (!first) {
        throw InputError("only the first entry may lack a function, got " + in_quotes(entry),
                         variable_, "write `function:list`; functions: " + one_of(functions_));
      }
      const std::uint8_t allowed = list(entry);
      for (const Function function : functions) {
        restriction.allowed[function] = allowed;
      }
      return;
    }
    const std::size_t function = position(entry.substr(0, colon), functions_, "function");
    restriction.allowed[functions[function]] = list(entry.substr(colon + 1));
    restriction.names_functions = true;
  }

  [[nodiscard]] std::uint8_t list(std::string_view text) const {
    const bool inverted = text.starts_with('^');
    unsigned named = 0;
    for (const std::string_view word : split(inverted ? text.substr(1) : text, ',')) {
      named |= 1U << position(word, words_, "word");
    }
    const unsigned all = (1U << words_.size()) - 1U;
    return static_cast<std::uint8_t>(inverted ? all & ~named : named);
  }

  [[nodiscard]] std::size_t position(std::string_view word,
                                     const std::vector<std::string>& accepted,
                                     const std::string& kind) const {
    std::vector<std::string> lowered;
    lowered.reserve(accepted.size());
    for (const std::string& candidate : accepted) {
      lowered.push_back(lower(candidate));
    }
    const auto place = [&lowered](const std::string& text) {
      return static_cast<std::size_t>(std::find(lowered.begin(), lowered.end(), text) -
                                      lowered.begin());
    };
    const std::size_t found = place(lower(word));
    if (found < accepted.size()) {
      return found;
    }
    const std::string near = nearest(lower(word), lowered);
    throw InputError(
        "unknown " + kind + " " + in_quotes(word) +
            (near.empty() ? "" : ", did you mean " + in_quotes(accepted[place(near)]) + "?"),
        variable_, "accepted: " + one_of(accepted));
  }

  std::string variable_;
  std::vector<std::string> words_;
  std::vector<std::string> functions_;
};

}  // namespace

Restriction parse_restriction(std::string_view variable, std::string_view value,
                              std::span<const std::string_view> words) {
  return Parser(variable, words).parse(value);
}

}  // namespace collsim::nccl
