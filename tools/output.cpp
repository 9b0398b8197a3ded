#include "tools/output.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <system_error>

#include "tools/file_writer.hpp"
#include "tools/interrupt.hpp"
#include "tools/option_values.hpp"
#include "topology/error.hpp"

namespace collsim {

Format OutputOptions::format() const {
  if (format_name == "json") {
    return Format::Json;
  }
  return format_name == "csv" ? Format::Csv : Format::Table;
}

void add_output_file_option(CLI::App& app, OutputOptions& options) {
  add_text(app, "--output", options.file, "FILE",
           "write the result to this file; -: to stdout, as without the option")
      ->group("Output");
}

void add_output_options(CLI::App& app, OutputOptions& options) {
  const char* const group = "Output";
  add_choice(app, "--format", options.format_name, {"table", "json", "csv"}, "table, json or csv")
      ->group(group);
  add_output_file_option(app, options);
  add_switch(app, "--quiet", options.quiet, "no progress and no notes on stderr")->group(group);
}

void write_file(const std::string& option, const std::string& name, const std::string& text) {
  try {
    write_whole_file(name, text);
  } catch (const std::system_error& error) {
    throw InputError("cannot write " + in_quotes(name) + ": " + std::strerror(error.code().value()),
                     option);
  }
}

void write_output(const OutputOptions& options, const std::string& text) {
  // Through stdout itself what stands there already stays.
  if (options.to_stdout() || is_stdout(options.file)) {
    write_stdout(text);
  } else {
    write_file("--output", options.file, text);
  }
}

void write_stdout(const std::string& text) {
  errno = 0;
  std::cout << text << std::flush;
  // A reader that has seen enough (head, less) is no error of ours.
  if (std::cout || errno == EPIPE) {
    return;
  }
  throw InputError(std::string("cannot write to stdout: ") +
                   std::strerror(errno != 0 ? errno : EIO));
}

void refuse_overwriting(const std::string& option, const std::string& path,
                        const OutputOptions& options) {
  if (options.to_stdout()) {
    if (is_stdout(path)) {
      throw InputError("stdout is for the result: it needs another file", option);
    }
  } else if (same_file(path, options.file)) {
    throw InputError("is the file of --output: the one would overwrite the other", option);
  }
}

void note(const OutputOptions& options, const std::string& line) {
  if (!options.quiet) {
    std::cerr << line << '\n';
  }
}

void note_warnings(const OutputOptions& options, const std::vector<InputError>& warnings) {
  for (const InputError& warning : warnings) {
    note(options, warning.render("warning"));
  }
}

ProgressLine::ProgressLine(const OutputOptions& options)
    : active_(!options.quiet && isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (!shown_) {
    return;
  }
  std::cerr << "\r\033[K" << std::flush;
  note_open_line(OpenLine::No);
}

void ProgressLine::show(const std::string& text) {
  if (!active_) {
    return;
  }
  std::cerr << "\r\033[K" << text << std::flush;
  shown_ = true;
  note_open_line(OpenLine::Yes);
}

}  // namespace collsim
