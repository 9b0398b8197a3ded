#include "validate/io/printed_number.hpp"

#include <charconv>
#include <cstdlib>
#include <system_error>

namespace collsim {

std::optional<PrintedNumber> printed_number(std::string_view text) {
  constexpr int largest_exponent = 30;
  if (text.empty() || text.size() > 40 || text.front() < '0' || text.front() > '9') {
    return std::nullopt;
  }
  PrintedNumber number;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number.value);
  if (parsed.ec != std::errc{} || parsed.ptr != end || !(number.value <= 1e30)) {
    return std::nullopt;
  }
  const std::size_t mantissa = text.find_first_of("eE");
  const std::size_t point = text.substr(0, mantissa).find('.');
  int exponent = 0;
  if (mantissa != std::string_view::npos) {
    std::string_view digits = text.substr(mantissa + 1);
    if (digits.starts_with('+')) {
      digits.remove_prefix(1);
    }
    std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  }
  if (point != std::string_view::npos) {
    exponent -= static_cast<int>(text.substr(0, mantissa).size() - point - 1);
  }
  if (std::abs(exponent) > largest_exponent + 10) {
    return number.value > 0 ? std::nullopt : std::optional(number);
  }
  number.unit = 1;
  for (int i = 0; i < std::abs(exponent); ++i) {
    number.unit = exponent > 0 ? number.unit * 10 : number.unit / 10;
  }
  return number;
}

}  // namespace collsim
