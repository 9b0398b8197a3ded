#include "tools/cli.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tools/exit_code.hpp"
#include "tools/help_format.hpp"
#include "tools/interrupt.hpp"
#include "tools/output.hpp"
#include "tools/usage_error.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr const char* description =
    "predicts how long collective communication takes on clusters of GPUs, and shows why";

constexpr const char* examples =
    "Examples:\n"
    "  collsim compare all_reduce --cluster textbook-star --bytes 1GiB\n"
    "  collsim run all_gather --cluster dgx-h100-x4 --bytes 256MiB --algorithm ring\n"
    "  collsim perf all_reduce --cluster dgx-h100 -b 8 -e 128M -f 2 -g 8\n"
    "  collsim sweep oversubscription --plot oversubscription.svg\n"
    "  collsim topology show --cluster dgx-h100\n"
    "  collsim hierarchy --cluster dgx-h100-x4\n"
    "  collsim list clusters";

Exit parse_and_run(int argc, char** argv) {
  CLI::App app(description, "collsim");
  app.formatter(std::make_shared<HelpFormat>());  // subcommands inherit it
  app.footer(examples);
  app.set_version_flag("--version", "collsim " COLLSIM_VERSION, "show the version")
      ->disable_flag_override();
  app.set_help_flag("-h,--help", "show this help")->disable_flag_override();
  app.require_subcommand(1);
  Action chosen;
  add_run_command(app, chosen);
  add_compare_command(app, chosen);
  add_perf_command(app, chosen);
  add_sweep_command(app, chosen);
  add_topology_command(app, chosen);
  add_hierarchy_command(app, chosen);
  add_tuning_command(app, chosen);
  add_calibrate_command(app, chosen);
  add_validate_command(app, chosen);
  add_measure_command(app, chosen);
  add_measurements_command(app, chosen);
  add_list_command(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (error.get_exit_code() != 0) {
      throw usage_error(app, error, words);
    }
    if (error.get_name() == "CallForVersion" && words.size() > 1) {
      const bool comes_first = words.front() == "--version";
      throw InputError("unexpected argument " + in_quotes(words[comes_first ? 1 : 0]), "",
                       "see collsim --help");
    }
    std::ostringstream text;  // --help, --version
    app.exit(error, text, text);
    write_stdout(text.str());
    return Exit::Done;
  }
  return chosen();
}

}  // namespace

int run_command_line(int argc, char** argv) {
  catch_interrupts();
  return exit_code_of([argc, argv] { return parse_and_run(argc, argv); }, std::cerr);
}

}  // namespace collsim
