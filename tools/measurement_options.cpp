#include "tools/measurement_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

#include "algorithms/nccl/io/nccl_version.hpp"
#include "tools/option_values.hpp"
#include "topology/error.hpp"
#include "validate/io/read_measurements.hpp"

namespace collsim {

namespace {

constexpr NumberRange at_least_one{1, 1U << 20U};
constexpr std::array<std::string_view, 3> launches{"process-per-gpu", "single-process",
                                                   "cuda-graph"};

void add_files(CLI::App& app, MeasurementOptions& options, FileNaming naming) {
  CLI::Option* files = app.add_option(
      naming == FileNaming::Words ? "FILE" : "--measurements", options.files,
      "measurements/1, or output of nccl-tests or rccl-tests (text, CSV, JSON), or lines of NCCL's "
      "inspector; may be given several times");
  files->required()->take_all()->expected(-1);
  if (naming == FileNaming::Option) {
    files->type_name("FILE...")->group("Measurements");
  } else {
    files->type_name("");
  }
}

/// A word, and for what launches several GPUs " -g N".
bool is_launch(const std::string& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string word = text.substr(0, end);
  if (std::ranges::find(launches, word) == launches.end()) {
    return false;
  }
  const std::string rest = text.substr(end);
  constexpr std::string_view option = " -g ";
  return rest.empty() ||
         (word != launches.front() && rest.starts_with(option) &&
          rest.find_first_not_of("0123456789", option.size()) == std::string::npos &&
          rest.size() > option.size() && rest.size() < option.size() + 6 &&
          rest[option.size()] != '0');
}

void set_launch(MeasurementHints& hints, const std::string& text) {
  if (!is_launch(text)) {
    throw InputError(
        "expected process-per-gpu, single-process, \"single-process -g N\" or cuda-graph, got " +
            in_quotes(text),
        "--launch", did_you_mean(text, {launches.begin(), launches.end()}));
  }
  hints.launch = text;
}

void set_nccl(MeasurementHints& hints, const std::string& text) {
  if (!nccl::parse_version(text)) {
    throw InputError("expected a version such as 2.28.3, got " + in_quotes(text), "--nccl");
  }
  hints.nccl = text;
}

void set_collective(MeasurementHints& hints, const std::string& text) {
  hints.collective = parse_collective(text);
  if (!hints.collective) {
    refuse_word("--collective", "collective", text, collective_names());
  }
}

void set_datatype(MeasurementHints& hints, const std::string& text) {
  hints.datatype = parse_data_type(text);
  if (!hints.datatype) {
    refuse_word("--datatype", "data type", text, data_type_names());
  }
}

}  // namespace

void add_measurement_options(CLI::App& app, MeasurementOptions& options, FileNaming naming) {
  add_files(app, options, naming);
  MeasurementHints& hints = options.hints;
  const char* const group = "Measurements";
  add_number(app, "--ranks", hints.ranks, at_least_one, "ranks, of tables that do not tell them")
      ->group(group);
  add_number(app, "--nodes", hints.nodes, at_least_one, "nodes, of tables that do not tell them")
      ->group(group);
  add_value(app, "--launch", "MODE",
            "who launched the kernels, whatever the file says: process-per-gpu, single-process, "
            "\"single-process -g N\" or cuda-graph",
            [&hints](const std::string& text) { set_launch(hints, text); })
      ->group(group);
  add_value(app, "--nccl", "VERSION", "version of NCCL, of tables that do not tell it",
            [&hints](const std::string& text) { set_nccl(hints, text); })
      ->group(group);
  add_value(app, "--collective", "NAME", "collective, of tables that do not tell it",
            [&hints](const std::string& text) { set_collective(hints, text); })
      ->group(group);
  add_value(app, "--datatype", "TYPE", "data type, of tables that do not tell it",
            [&hints](const std::string& text) { set_datatype(hints, text); })
      ->group(group);
}

std::vector<Measurements> load_measurement_files(const MeasurementOptions& options) {
  std::vector<Measurements> all;
  for (const std::string& file : options.files) {
    if (std::ranges::find(all, file, &Measurements::file) != all.end()) {
      throw InputError("the file " + in_quotes(file) + " is given twice", "", "give it once");
    }
    all.push_back(load_measurements(file, options.hints));
  }
  return all;
}

void note_measurements(const OutputOptions& output, const Measurements& measurements) {
  constexpr std::size_t most_lines = 20;
  std::size_t lines = 0;
  const auto show = [&](const MeasurementNote& said, const char* severity) {
    if (lines++ < most_lines) {
      note(output, InputError(said.text, {}, {}, said.place).render(severity));
    }
  };
  for (const MeasurementNote& said : measurements.notes) {
    show(said, "note");
  }
  for (const MeasurementNote& said : measurements.dropped) {
    show(said, "dropped");
  }
  if (lines > most_lines) {
    note(output, printable(measurements.file, 4096) + ": note: and " +
                     std::to_string(lines - most_lines) +
                     " more; collsim measurements show has them all");
  }
}

}  // namespace collsim
