#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tools/cli.hpp"
#include "tools/measure_run.hpp"
#include "tools/output.hpp"
#include "tools/render_measure.hpp"
#include "validate/io/measurements_json.hpp"

namespace collsim {

namespace {

Exit measure(const MeasureCommand& command) {
  check_measure_options(command);
  const MeasurePlan plan = measure_plan(command);
  const std::vector<MeasuredLine> lines = run_on_host(command, plan);
  const MachineFacts facts = machine_facts();
  write_stdout(render_measure(command, plan, lines, facts));
  if (!command.output.to_stdout()) {
    write_file("--output", command.output.file,
               write_measurements_json(measurements_of(command, plan, lines, facts)));
  }
  const std::vector<std::string> wrong = wrong_data(plan, lines);
  for (const std::string& text : wrong) {
    note(OutputOptions{}, "wrong data: " + text);
  }
  return wrong.empty() ? Exit::Done : Exit::CheckFailed;
}

}  // namespace

void add_measure_command(CLI::App& app, Action& chosen) {
  const auto command = std::make_shared<MeasureCommand>();
  CLI::App* sub = app.add_subcommand(
      "measure", "run the programs for real, check their data, time them as nccl-tests does");
  add_measure_options(*sub, *command);
  sub->footer(
      "Example:\n"
      "  collsim measure all_reduce --ranks 4 --algorithm ring -b 8 -e 1M -f 4");
  sub->callback([command, &chosen] { chosen = [command] { return measure(*command); }; });
}

}  // namespace collsim
