#pragma once
// Reads a line of a log from left to right: literals, numbers, words. Every step says whether it
// found what it wanted; what it did not find it leaves where it is.

#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

namespace collsim::nccl {

class LogScanner {
 public:
  explicit LogScanner(std::string_view text) : rest_(text) {}

  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  /// Skips blanks and tabs.
  LogScanner& blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) {
      rest_.remove_prefix(1);
    }
    return *this;
  }

  bool literal(std::string_view text) {
    if (!rest_.starts_with(text)) {
      return false;
    }
    rest_.remove_prefix(text.size());
    return true;
  }

  /// Skips to behind the first occurrence of the text.
  bool after(std::string_view text) {
    const std::size_t at = rest_.find(text);
    if (at == std::string_view::npos) {
      return false;
    }
    rest_.remove_prefix(at + text.size());
    return true;
  }

  template <std::integral Number>
  std::optional<Number> number(int base = 10) {
    Number value{};
    const auto result = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
    return take(result, value);
  }

  /// Finite.
  std::optional<float> decimal() {
    float value = 0;
    const auto result =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, std::chars_format::fixed);
    if (result.ec == std::errc{} && !(value > -1e30F && value < 1e30F)) {
      return std::nullopt;
    }
    return take(result, value);
  }

  /// The characters up to the first of `ends`, or all.
  std::string_view until(std::string_view ends) {
    const std::size_t at = rest_.find_first_of(ends);
    const std::string_view word = rest_.substr(0, at);
    rest_.remove_prefix(word.size());
    return word;
  }

 private:
  template <class Number>
  std::optional<Number> take(const std::from_chars_result& result, Number value) {
    if (result.ec != std::errc{}) {
      return std::nullopt;
    }
    rest_.remove_prefix(static_cast<std::size_t>(result.ptr - rest_.data()));
    return value;
  }

  std::string_view rest_;
};

}  // namespace collsim::nccl
