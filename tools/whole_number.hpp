#pragma once

// Whole numbers in text that is nothing else: no sign, no blank, no unit.

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace collsim {

/// Absent: it is something else, or does not fit the type.
template <std::unsigned_integral Integer>
[[nodiscard]] std::optional<Integer> whole_number(std::string_view text) {
  Integer number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace collsim
