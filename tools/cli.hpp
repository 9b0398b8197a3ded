#pragma once

// The command line: which subcommand, and how the program ends.
//   0 done · 1 a check failed, or the simulated system cannot finish · 2 bad usage or input ·
//   70 a bug of ours · 130 interrupted

#include <functional>

#include "tools/cli_names.hpp"

namespace collsim {

/// Exit codes (design §11).
enum class Exit : int { Done = 0, CheckFailed = 1, BadInput = 2, Bug = 70, Interrupted = 130 };

/// Each adds its subcommand; `chosen` becomes what to do where it was given.
using Action = std::function<Exit()>;
void add_run_command(CLI::App& app, Action& chosen);
void add_compare_command(CLI::App& app, Action& chosen);
void add_perf_command(CLI::App& app, Action& chosen);
void add_sweep_command(CLI::App& app, Action& chosen);
void add_topology_command(CLI::App& app, Action& chosen);
void add_hierarchy_command(CLI::App& app, Action& chosen);
void add_tuning_command(CLI::App& app, Action& chosen);
void add_calibrate_command(CLI::App& app, Action& chosen);
void add_validate_command(CLI::App& app, Action& chosen);
void add_measure_command(CLI::App& app, Action& chosen);
void add_measurements_command(CLI::App& app, Action& chosen);
void add_list_command(CLI::App& app, Action& chosen);

/// Runs the program. Never throws.
[[nodiscard]] int run_command_line(int argc, char** argv);

}  // namespace collsim
