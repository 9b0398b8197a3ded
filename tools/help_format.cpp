#include "tools/help_format.hpp"

#include <algorithm>
#include <vector>

#include "tools/text_table.hpp"

namespace collsim {

namespace {

constexpr std::size_t name_width = 24;
constexpr std::size_t text_width = 72;

/// "  --ranks R               use R GPUs, filling nodes"
std::string entry(const std::string& name, const std::string& text) {
  std::string out;
  std::string left = name;
  if (left.size() > name_width) {
    out += "  " + left + "\n";
    left.clear();
  }
  for (const std::string& line : wrapped(text, text_width)) {
    out += "  ";
    out += left;
    out.append(name_width - left.size() + 2, ' ');
    out += line;
    out += '\n';
    left.clear();
  }
  return out;
}

/// A word that has no option name before it; some may be given either way.
bool is_only_word(const CLI::Option& option) {
  return option.get_positional() && option.get_lnames().empty();
}

std::string names_of(const CLI::Option& option) {
  if (is_only_word(option)) {
    return option.get_name();
  }
  std::string text;
  for (const std::string& name : option.get_snames()) {
    text += (text.empty() ? "-" : ", -") + name;
  }
  for (const std::string& name : option.get_lnames()) {
    text += (text.empty() ? "--" : ", --") + name;
  }
  if (option.get_items_expected_max() > 0) {
    text += " " + option.get_type_name();
  }
  return text;
}

std::string text_of(const CLI::Option& option) {
  std::string text = option.get_description();
  if (option.get_required() && !is_only_word(option)) {
    text += option.get_positional() ? " (required; the word alone will do)" : " (required)";
  }
  if (!option.get_default_str().empty()) {
    text += " (default: " + option.get_default_str() + ")";
  }
  return text;
}

std::string usage_line(const CLI::App& app, const std::string& name) {
  std::string line = "Usage: " + name;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_required()) {
      continue;
    }
    line += " ";
    line += option->get_positional() && !is_only_word(*option)
                ? "[--" + option->get_lnames().front() + "] " + option->get_type_name()
                : names_of(*option);
  }
  if (!app.get_subcommands([](const CLI::App*) { return true; }).empty()) {
    line += " COMMAND";
  }
  return line + " [options]\n";
}

std::string group_text(const CLI::App& app, const std::string& group) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() != group || is_only_word(*option)) {
      continue;
    }
    text += entry(names_of(*option), text_of(*option));
  }
  return text.empty() ? "" : "\n" + group + ":\n" + text;
}

}  // namespace

std::string HelpFormat::make_help(const CLI::App* app, std::string name,
                                  CLI::AppFormatMode /*mode*/) const {
  if (name.empty()) {
    name = app->get_name();
  }
  std::string text = name + ": " + app->get_description() + "\n\n" + usage_line(*app, name);
  std::string positionals;
  for (const CLI::Option* option : app->get_options()) {
    if (is_only_word(*option)) {
      positionals += entry(names_of(*option), text_of(*option));
    }
  }
  if (!positionals.empty()) {
    text += "\n" + positionals;
  }
  const auto commands = app->get_subcommands([](const CLI::App*) { return true; });
  if (!commands.empty()) {
    text += "\nCommands:\n";
  }
  for (const CLI::App* command : commands) {
    text += entry(command->get_name(), command->get_description());
  }
  // --help is in the parser's own group, which comes first there and last here.
  std::vector<std::string> groups = app->get_groups();
  std::ranges::rotate(groups, std::ranges::find(groups, "Options"));
  std::ranges::rotate(groups, std::next(groups.begin()));
  for (const std::string& group : groups) {
    if (group.empty()) {
      continue;  // hidden options
    }
    text += group_text(*app, group);
  }
  if (!app->get_footer().empty()) {
    text += "\n" + app->get_footer() + "\n";
  }
  return text;
}

}  // namespace collsim
