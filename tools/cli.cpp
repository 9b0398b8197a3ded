#include "tools/cli.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "tools/interrupt.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr const char* description =
    "Predicts how long collective communication takes on clusters of GPUs, and shows why.";

constexpr const char* examples =
    "Examples:\n"
    "  collsim compare all_reduce --cluster textbook-star --bytes 1GiB\n"
    "  collsim run all_gather --cluster dgx-h100-x4 --bytes 256MiB --algorithm ring\n"
    "  collsim perf all_reduce --cluster dgx-h100 -b 8 -e 128M -f 2\n"
    "  collsim topology show --cluster dgx-h100\n"
    "  collsim list clusters";

/// All option names of the innermost subcommand that the words choose, for "did you mean".
std::vector<std::string> known_words(const CLI::App& root, const std::vector<std::string>& words) {
  const auto subcommands = [](const CLI::App& parent) {
    return parent.get_subcommands([](const CLI::App*) { return true; });
  };
  const CLI::App* app = &root;
  for (const std::string& word : words) {
    const auto below = subcommands(*app);
    const auto next =
        std::ranges::find(below, word, [](const CLI::App* sub) { return sub->get_name(); });
    if (next == below.end()) break;
    app = *next;
  }
  std::vector<std::string> known;
  for (const CLI::Option* option : app->get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& name : option->get_snames()) known.push_back("-" + name);
  }
  for (const CLI::App* subcommand : subcommands(*app)) known.push_back(subcommand->get_name());
  return known;
}

int report_usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  std::string message = error.what();
  std::string hint;
  const std::vector<std::string> known = known_words(app, words);
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (message.find(name) == std::string::npos || std::ranges::find(known, name) != known.end()) {
      continue;
    }
    const std::string close = nearest(name, known);
    if (!close.empty()) hint = "did you mean " + close + "?";
    break;
  }
  while (!message.empty() && message.back() == '\n') message.pop_back();
  std::cerr << InputError(message, "", hint).render()
            << "\nhint: collsim --help shows all commands\n";
  return static_cast<int>(Exit::bad_input);
}

int parse_and_run(int argc, char** argv) {
  CLI::App app(description, "collsim");
  app.footer(examples);
  app.set_version_flag("--version", "collsim " COLLSIM_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  Action chosen;
  add_run_command(app, chosen);
  add_compare_command(app, chosen);
  add_perf_command(app, chosen);
  add_topology_command(app, chosen);
  add_list_command(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return report_usage_error(app, error, argc, argv);
  }
  return static_cast<int>(chosen());
}

}  // namespace

int run_command_line(int argc, char** argv) {
  catch_interrupts();
  try {
    return parse_and_run(argc, argv);
  } catch (const InputError& error) {
    std::cerr << error.render() << '\n';
    return static_cast<int>(Exit::bad_input);
  } catch (const Interrupted&) {
    std::cerr << "interrupted: nothing was written\n";
    return static_cast<int>(Exit::interrupted);
  } catch (const SimulationError& error) {
    std::cerr << "error: " << error.what() << '\n';
    return static_cast<int>(Exit::check_failed);
  } catch (const std::bad_alloc&) {
    std::cerr << "error: not enough memory for this simulation\n"
                 "hint: fewer ranks, channels or chunks, or another algorithm\n";
    return static_cast<int>(Exit::bad_input);
  } catch (const std::exception& error) {
    std::cerr << "internal error, please report it with the command line: " << error.what() << '\n';
    return static_cast<int>(Exit::bug);
  }
}

}  // namespace collsim
