#pragma once

// Options whose values are checked by us, so that each mistake names the option, what was found and
// what is accepted, and an option that is given twice is refused rather than half forgotten.

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli_names.hpp"

namespace collsim {

/// The name by which a message calls an option: the short one where there is one, as nccl-tests.
[[nodiscard]] std::string shown_name(const std::string& names);

/// An option with one value. `store` gets its text; what it throws ends the program's start.
CLI::Option* add_value(CLI::App& app, const std::string& names, const std::string& type_name,
                       const std::string& help, std::function<void(const std::string&)> store);

/// Free text. A text that is not empty beforehand is shown as the default.
CLI::Option* add_text(CLI::App& app, const std::string& names, std::string& value,
                      const std::string& type_name, const std::string& help);

/// An option without a value, off unless given; a value (--verify=no) is refused.
CLI::Option* add_switch(CLI::App& app, const std::string& names, bool& value,
                        const std::string& help);

/// One of a fixed set of words; the one `value` has beforehand is the default.
CLI::Option* add_choice(CLI::App& app, const std::string& names, std::string& value,
                        const std::vector<std::string>& accepted, const std::string& help);

struct NumberRange {
  std::uint64_t least = 0;
  std::uint64_t greatest = std::numeric_limits<std::uint32_t>::max();
};

namespace detail {
CLI::Option* add_number(CLI::App& app, const std::string& names, const std::string& default_text,
                        NumberRange range, const std::string& help,
                        std::function<void(std::uint64_t)> store);
}

/// A whole number in a range; what `value` is beforehand is the default.
/// Requires: the range fits the type.
template <std::unsigned_integral Integer>
CLI::Option* add_number(CLI::App& app, const std::string& names, Integer& value, NumberRange range,
                        const std::string& help) {
  return detail::add_number(app, names, std::to_string(value), range, help,
                            [&value](std::uint64_t n) { value = static_cast<Integer>(n); });
}

/// The same without a default.
CLI::Option* add_number(CLI::App& app, const std::string& names,
                        std::optional<std::uint32_t>& value, NumberRange range,
                        const std::string& help);

/// Refuses a word that is not accepted: unknown `what`, with all that is, and the nearest.
[[noreturn]] void refuse_word(const std::string& option, const std::string& what,
                              const std::string& word, const std::vector<std::string>& accepted);

}  // namespace collsim
