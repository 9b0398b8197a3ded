#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli.hpp"
#include "tools/measurement_options.hpp"
#include "tools/option_values.hpp"
#include "tools/output.hpp"
#include "tools/render_measurements.hpp"
#include "topology/error.hpp"
#include "validate/io/measurements_json.hpp"

namespace collsim {

namespace {

struct MeasurementsCommand {
  MeasurementOptions measurements;
  OutputOptions output;
  std::string machine;  ///< name in what is converted
};

Exit show(const MeasurementsCommand& command) {
  const std::vector<Measurements> files = load_measurement_files(command.measurements);
  std::string text;
  switch (command.output.format()) {
    case Format::Json:
      text = render_measurements_json(files);
      break;
    case Format::Csv:
      text = render_measurements_csv(files);
      for (const Measurements& file : files) {
        note_measurements(command.output, file);
      }
      break;
    case Format::Table:
      text = render_measurements_table(files);
      break;
  }
  write_output(command.output, text);
  return Exit::Done;
}

template <class Value>
void take_fact(Value& known, const Value& other, const char* what, const Measurements& file,
               const Measurements& first) {
  if (known == Value{}) {
    known = other;
  } else if (other != Value{} && other != known) {
    throw InputError(std::string("another machine than that of ") + in_quotes(first.file) +
                         ": the " + what + " differ",
                     {}, "convert files of one machine together, each machine by itself",
                     SourceLocation{file.file, 0, 0, {}});
  }
}

/// The runs of all, as of one machine. Requires: at least one file.
Measurements joined(std::vector<Measurements> files) {
  Measurements result = files.front();
  for (std::size_t i = 1; i < files.size(); ++i) {
    Measurements& file = files[i];
    MeasuredHardware& known = result.hardware;
    take_fact(known.gpu, file.hardware.gpu, "GPUs", file, files.front());
    take_fact(known.gpus_per_node, file.hardware.gpus_per_node, "GPUs of a node", file,
              files.front());
    take_fact(known.nic, file.hardware.nic, "NICs", file, files.front());
    take_fact(known.nics_per_node, file.hardware.nics_per_node, "NICs of a node", file,
              files.front());
    take_fact(known.intra_node, file.hardware.intra_node, "links inside a node", file,
              files.front());
    take_fact(known.fabric, file.hardware.fabric, "fabrics", file, files.front());
    std::ranges::move(file.runs, std::back_inserter(result.runs));
  }
  return result;
}

Exit convert(const MeasurementsCommand& command) {
  std::vector<Measurements> files = load_measurement_files(command.measurements);
  for (const Measurements& file : files) {
    note_measurements(command.output, file);
  }
  Measurements all = joined(std::move(files));
  if (!command.machine.empty()) {
    all.machine = command.machine;
  }
  write_output(command.output, write_measurements_json(all));
  return Exit::Done;
}

}  // namespace

void add_measurements_command(CLI::App& app, Action& chosen) {
  CLI::App* measurements =
      app.add_subcommand("measurements", "what real machines did: output of nccl-tests, read");
  measurements->require_subcommand(1);
  measurements->footer(
      "Examples:\n"
      "  collsim measurements show all_reduce.log\n"
      "  collsim measurements convert all_reduce.log --output measured.json");

  const auto shown = std::make_shared<MeasurementsCommand>();
  CLI::App* sub = measurements->add_subcommand(
      "show", "runs and rows of files, what was assumed, and what was dropped and why");
  add_measurement_options(*sub, shown->measurements, FileNaming::Words);
  add_output_options(*sub, shown->output);
  sub->footer(
      "Examples:\n"
      "  collsim measurements show all_reduce.log\n"
      "  collsim measurements show all_reduce.log --launch process-per-gpu --format json");
  sub->callback([shown, &chosen] { chosen = [shown] { return show(*shown); }; });

  const auto converted = std::make_shared<MeasurementsCommand>();
  sub =
      measurements->add_subcommand("convert", "files of one machine as one file of measurements/1");
  add_measurement_options(*sub, converted->measurements, FileNaming::Words);
  add_text(*sub, "--machine", converted->machine, "NAME",
           "name of the machine; without: that of the first file")
      ->group("Output");
  add_output_file_option(*sub, converted->output);
  add_switch(*sub, "--quiet", converted->output.quiet, "no notes on stderr")->group("Output");
  sub->footer(
      "Example:\n"
      "  collsim measurements convert all_reduce.log --machine my-cluster --output measured.json");
  sub->callback([converted, &chosen] { chosen = [converted] { return convert(*converted); }; });
}

}  // namespace collsim
