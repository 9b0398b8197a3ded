#include "tools/usage_error.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <optional>

namespace collsim {

namespace {

/// The innermost command that the words choose, how it is called, and the words that are left for it.
struct Chosen {
  const CLI::App* app = nullptr;
  std::string name;
  std::vector<std::string> words;
};

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CLI::App* command : commands) {
    names.push_back(command->get_name());
  }
  return names;
}

Chosen choose(const CLI::App& root, const std::vector<std::string>& words) {
  Chosen chosen{&root, root.get_name(), {}};
  for (const std::string& word : words) {
    const auto below = commands_of(*chosen.app);
    const auto next =
        std::ranges::find(below, word, [](const CLI::App* app) { return app->get_name(); });
    if (next == below.end()) {
      chosen.words.push_back(word);
    } else {
      chosen.app = *next;
      chosen.name += " " + word;
    }
  }
  return chosen;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      known.push_back("--" + name);
    }
    for (const std::string& name : option->get_snames()) {
      known.push_back("-" + name);
    }
  }
  return known;
}

bool is_known(const std::string& word, const std::vector<std::string>& known) {
  if (std::ranges::find(known, word.substr(0, word.find('='))) != known.end()) {
    return true;
  }
  // "-b8" is "-b 8".
  return word[1] != '-' && std::ranges::find(known, word.substr(0, 2)) != known.end();
}

std::optional<std::string> unknown_option(const Chosen& chosen) {
  const std::vector<std::string> known = option_names(*chosen.app);
  for (const std::string& word : chosen.words) {
    const bool option = word.size() > 1 && word != "--" && word[0] == '-' &&
                        (word[1] == '-' || std::isalpha(static_cast<unsigned char>(word[1])) != 0);
    if (option && !is_known(word, known)) {
      return word.substr(0, word.find('='));
    }
  }
  return std::nullopt;
}

std::string nearest_hint(const std::string& word, const std::vector<std::string>& accepted) {
  const std::string close = did_you_mean(word, accepted);
  return close.empty() ? close : close + " ";
}

std::vector<std::string> missing_options(const CLI::App& app) {
  std::vector<std::string> missing;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_required() && option->count() == 0) {
      missing.push_back(option->get_name());
    }
  }
  return missing;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) {
      text += i + 1 == words.size() ? " and " : ", ";
    }
    text += words[i];
  }
  return text;
}

/// A switch with a value: "--verify=no".
std::optional<InputError> switch_with_value(const Chosen& chosen, const std::string& hint) {
  for (const std::string& word : chosen.words) {
    const std::size_t equals = word.find('=');
    const CLI::Option* option = equals == std::string::npos || !word.starts_with("--")
                                    ? nullptr
                                    : chosen.app->get_option_no_throw(word.substr(0, equals));
    if (option != nullptr && option->get_items_expected_max() == 0) {
      return InputError("takes no value, got " + in_quotes(word.substr(equals + 1)),
                        word.substr(0, equals), hint);
    }
  }
  return std::nullopt;
}

/// As it was typed, if one name is.
std::string typed_name(const CLI::Option& option, const std::vector<std::string>& words) {
  for (const std::string& name : option.get_snames()) {
    std::string is_short = "-" + name;
    if (std::ranges::any_of(words,
                            [&](const std::string& word) { return word.starts_with(is_short); })) {
      return is_short;
    }
  }
  return option.get_name();
}

/// Two options that exclude each other.
std::optional<InputError> contradiction(const Chosen& chosen, const std::string& hint) {
  for (const CLI::Option* option : chosen.app->get_options()) {
    for (const CLI::Option* other : option->get_excludes()) {
      if (option->count() > 0 && other->count() > 0) {
        return InputError("cannot be given together with " + typed_name(*other, chosen.words),
                          typed_name(*option, chosen.words), hint);
      }
    }
  }
  return std::nullopt;
}

InputError command_error(const Chosen& chosen, const std::string& see_help) {
  const std::vector<std::string> commands = names_of(commands_of(*chosen.app));
  if (chosen.words.empty()) {
    return InputError("a command is missing; expected " + one_of(commands), "", see_help);
  }
  const std::string& word = chosen.words.front();
  return InputError("unknown command " + in_quotes(word) + "; expected " + one_of(commands), "",
                    nearest_hint(word, commands) + see_help);
}

}  // namespace

InputError usage_error(const CLI::App& app, const CLI::ParseError& error,
                       const std::vector<std::string>& words) {
  const Chosen chosen = choose(app, words);
  const std::string see_help = "see " + chosen.name + " --help";
  const bool wants_command = !commands_of(*chosen.app).empty();
  const bool has_word = !chosen.words.empty() && !chosen.words.front().starts_with('-');
  if (wants_command && has_word) {
    return command_error(chosen, see_help);
  }
  // A misspelt option is why others are missing: it comes first.
  if (const auto unknown = unknown_option(chosen)) {
    // Any letter is near any other.
    const bool is_word = unknown->size() > 2;
    return InputError(
        "unknown option " + printable(*unknown), "",
        (is_word ? nearest_hint(*unknown, option_names(*chosen.app)) : "") + see_help);
  }
  if (wants_command) {
    return command_error(chosen, see_help);
  }
  if (const auto missing = missing_options(*chosen.app);
      !missing.empty() && error.get_name() == "RequiredError") {
    const std::vector<std::string> extra = chosen.app->remaining();
    const bool stray = !extra.empty() && !extra.front().starts_with('-');
    return InputError((stray ? "unexpected argument " + in_quotes(extra.front()) + ", and " : "") +
                          "missing " + joined(missing),
                      "", see_help);
  }
  if (const auto wrong = switch_with_value(chosen, see_help)) {
    return *wrong;
  }
  if (const auto wrong = contradiction(chosen, see_help)) {
    return *wrong;
  }
  std::string text = error.what();
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  if (error.get_name() == "ArgumentMismatch") {
    return InputError("a value is missing", text.substr(0, text.find(':')), see_help);
  }
  const std::vector<std::string> extra = chosen.app->remaining();
  if (!extra.empty()) {
    return InputError("unexpected argument " + in_quotes(extra.front()), "", see_help);
  }
  constexpr std::size_t most_shown = 200;
  return InputError(printable(text, most_shown), "", see_help);
}

}  // namespace collsim
