#pragma once

// A number as a table prints it, with what rounding may have taken: two decimals in "35.10", none in "13552", two
// digits in "1.2e+07".

#include <optional>
#include <string_view>

namespace collsim {

struct PrintedNumber {
  double value = 0;
  double unit = 0;  ///< of the last printed digit

  [[nodiscard]] double least() const { return value > unit ? value - unit : 0; }
  [[nodiscard]] double most() const { return value + unit; }
};

/// A number without sign, of plain digits or with an exponent; absent if it is anything else, or beyond 10^30.
[[nodiscard]] std::optional<PrintedNumber> printed_number(std::string_view text);

}  // namespace collsim
