#include "algorithms/nccl/io/read_tuner.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>

#include "topology/error.hpp"
#include "topology/io/source.hpp"

namespace collsim::nccl {

namespace {

constexpr std::size_t least_fields = 8;
constexpr std::size_t most_fields = 10;
constexpr std::array function_words{"broadcast", "reduce", "allgather", "reducescatter",
                                    "allreduce"};
constexpr std::array algorithm_words{"tree",      "ring", "collnet_direct", "collnet_chain", "nvls",
                                     "nvls_tree", "pat"};
constexpr std::array protocol_words{"ll", "ll128", "simple"};

struct Field {
  std::string_view text;
  std::uint32_t column;
};

/// A line without the blanks around it; where it begins is its column.
Field trimmed(std::string_view text, std::size_t begin, std::size_t end) {
  while (begin < end && (text[begin] == ' ' || text[begin] == '\t')) {
    ++begin;
  }
  while (end > begin && (text[end - 1] == ' ' || text[end - 1] == '\t')) {
    --end;
  }
  return {text.substr(begin, end - begin), static_cast<std::uint32_t>(begin + 1)};
}

/// Reads one line; every message has its place.
class LineReader {
 public:
  LineReader(const SourceText& source, std::uint32_t number)
      : source_(source), number_(number), line_(source.line(number)) {
    for (std::size_t begin = 0; begin <= line_.size();) {
      const std::size_t end = std::min(line_.find(',', begin), line_.size());
      fields_.push_back(trimmed(line_, begin, end));
      begin = end + 1;
    }
  }

  [[nodiscard]] TunerRule read() const {
    if (fields_.size() < least_fields || fields_.size() > most_fields) {
      refuse(fields_.front(), "expected 8 to 10 fields, got " + std::to_string(fields_.size()),
             "collective, min_bytes, max_bytes, algorithm, protocol, channels, nodes, ranks, "
             "pipelined, registered");
    }
    TunerRule rule;
    rule.function = functions[word(0, function_words)];
    rule.least_bytes = bytes(1);
    rule.most_bytes =
        fields_[2].text == "-1" ? std::numeric_limits<std::uint64_t>::max() : bytes(2);
    if (rule.most_bytes < rule.least_bytes) {
      refuse(fields_[2], "expected at least " + std::string(fields_[1].text));
    }
    rule.algorithm = algorithms[word(3, algorithm_words)];
    rule.protocol = protocols[word(4, protocol_words)];
    rule.channels = count(5, 1, 64);
    rule.nodes = count(6, 1, std::numeric_limits<int>::max());
    rule.ranks = count(7, 1, std::numeric_limits<int>::max());
    if (fields_.size() > 8) {
      rule.pipelined = count(8, 1, std::numeric_limits<int>::max());
    }
    if (fields_.size() > 9) {
      if (const std::optional<int> registered = count(9, 0, 1)) {
        rule.registered = *registered == 1;
      }
    }
    return rule;
  }

 private:
  [[noreturn]] void refuse(const Field& field, const std::string& message,
                           const std::string& hint = {}) const {
    throw InputError(message, {}, hint,
                     SourceLocation{source_.name(), number_, field.column, std::string(line_)});
  }

  template <std::size_t Size>
  [[nodiscard]] std::size_t word(std::size_t field,
                                 const std::array<const char*, Size>& accepted) const {
    for (std::size_t i = 0; i < Size; ++i) {
      if (fields_[field].text == accepted[i]) {
        return i;
      }
    }
    const std::vector<std::string> list(accepted.begin(), accepted.end());
    refuse(fields_[field], "expected " + one_of(list) + ", got " + in_quotes(fields_[field].text),
           did_you_mean(std::string(fields_[field].text), list));
  }

  template <class Number>
  [[nodiscard]] std::optional<Number> number(std::size_t field) const {
    const std::string_view text = fields_[field].text;
    Number value{};
    const std::from_chars_result result =
        std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = result.ec == std::errc{} && result.ptr == text.data() + text.size();
    return whole ? std::optional(value) : std::nullopt;
  }

  [[nodiscard]] std::uint64_t bytes(std::size_t field) const {
    const std::optional<std::uint64_t> value = number<std::uint64_t>(field);
    if (!value) {
      refuse(fields_[field], "expected a number of bytes, got " + in_quotes(fields_[field].text));
    }
    return *value;
  }

  /// Absent for -1.
  [[nodiscard]] std::optional<int> count(std::size_t field, int least, int most) const {
    const std::optional<int> value = number<int>(field);
    if (!value || (*value != -1 && (*value < least || *value > most))) {
      refuse(fields_[field], "expected -1 or a whole number from " + std::to_string(least) +
                                 " to " + std::to_string(most) + ", got " +
                                 in_quotes(fields_[field].text));
    }
    return *value == -1 ? std::nullopt : value;
  }

  const SourceText& source_;
  std::uint32_t number_;
  std::string_view line_;
  std::vector<Field> fields_;
};

}  // namespace

std::vector<TunerRule> parse_tuner(std::string_view text, const std::string& file_name) {
  const SourceText source(file_name, SourceText::Origin::File, checked_text(file_name, text));
  const auto lines =
      static_cast<std::uint32_t>(std::count(source.text().begin(), source.text().end(), '\n') + 1);
  std::vector<TunerRule> rules;
  for (std::uint32_t number = 1; number <= lines; ++number) {
    const std::string_view line = source.line(number);
    const std::string_view content = trimmed(line, 0, line.size()).text;
    if (!content.empty() && !content.starts_with('#')) {
      rules.push_back(LineReader(source, number).read());
    }
  }
  return rules;
}

}  // namespace collsim::nccl
