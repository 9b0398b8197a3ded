#include "tools/option_values.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <system_error>
#include <utility>

#include "tools/whole_number.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

std::uint64_t parse_number(const std::string& option, const std::string& text, NumberRange range) {
  const auto number = whole_number<std::uint64_t>(text);
  if (!number || *number < range.least || *number > range.greatest) {
    throw InputError("expected a whole number from " + std::to_string(range.least) + " to " +
                         std::to_string(range.greatest) + ", got " + in_quotes(text),
                     option);
  }
  return *number;
}

}  // namespace

std::string shown_name(const std::string& names) { return names.substr(0, names.find(',')); }

CLI::Option* add_value(CLI::App& app, const std::string& names, const std::string& type_name,
                       const std::string& help, std::function<void(const std::string&)> store) {
  const CLI::callback_t callback = [option = shown_name(names),
                                    store = std::move(store)](const CLI::results_t& values) {
    if (values.size() > 1) {
      throw InputError("given " + std::to_string(values.size()) +
                           " times: " + in_quotes(values.front()) + " and " + in_quotes(values[1]),
                       option, "give it once");
    }
    store(values.front());
    return true;
  };
  CLI::Option* option = app.add_option(names, callback, help);
  option->type_name(type_name)->expected(1)->take_all();
  return option;
}

CLI::Option* add_text(CLI::App& app, const std::string& names, std::string& value,
                      const std::string& type_name, const std::string& help) {
  CLI::Option* option = add_value(app, names, type_name, help,
                                  [&value, option = shown_name(names)](const std::string& text) {
                                    if (text.empty()) {
                                      throw InputError("must not be empty", option);
                                    }
                                    value = text;
                                  });
  return option->default_str(value);
}

CLI::Option* add_switch(CLI::App& app, const std::string& names, bool& value,
                        const std::string& help) {
  return app.add_flag(names, value, help)->disable_flag_override();
}

CLI::Option* add_choice(CLI::App& app, const std::string& names, std::string& value,
                        const std::vector<std::string>& accepted, const std::string& help) {
  const auto store = [&value, accepted, option = shown_name(names)](const std::string& text) {
    if (std::ranges::find(accepted, text) == accepted.end()) {
      refuse_word(option, "word", text, accepted);
    }
    value = text;
  };
  return add_value(app, names, "WORD", help, store)->default_str(value);
}

namespace detail {

CLI::Option* add_number(CLI::App& app, const std::string& names, const std::string& default_text,
                        NumberRange range, const std::string& help,
                        std::function<void(std::uint64_t)> store) {
  const auto parse = [range, option = shown_name(names), store = std::move(store)](
                         const std::string& text) { store(parse_number(option, text, range)); };
  return add_value(app, names, "N", help, parse)->default_str(default_text);
}

}  // namespace detail

CLI::Option* add_number(CLI::App& app, const std::string& names,
                        std::optional<std::uint32_t>& value, NumberRange range,
                        const std::string& help) {
  return detail::add_number(app, names, "", range, help, [&value](std::uint64_t number) {
    value = static_cast<std::uint32_t>(number);
  });
}

void refuse_word(const std::string& option, const std::string& what, const std::string& word,
                 const std::vector<std::string>& accepted) {
  throw InputError("unknown " + what + " " + in_quotes(word) + "; expected " + one_of(accepted),
                   option, did_you_mean(word, accepted));
}

}  // namespace collsim
