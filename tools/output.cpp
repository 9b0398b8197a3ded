#include "tools/output.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

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

void add_output_options(CLI::App& app, OutputOptions& options) {
  const char* const group = "Output";
  add_choice(app, "--format", options.format_name, {"table", "json", "csv"}, "table, json or csv")
      ->group(group);
  add_text(app, "--output", options.file, "FILE",
           "write the result to this file; -: to stdout, as without the option")
      ->group(group);
  add_switch(app, "--quiet", options.quiet, "no progress and no notes on stderr")->group(group);
}

void write_file(const std::string& option, const std::string& name, const std::string& text) {
  const auto fail = [&](int error) {
    throw InputError("cannot write " + in_quotes(name) + ": " + std::strerror(error), option);
  };
  // A link stays one: its target is replaced.
  std::error_code unresolved;
  const auto resolved = std::filesystem::canonical(name, unresolved);
  const std::string path = unresolved ? name : resolved.string();
  // A device or a pipe cannot be replaced by a rename: write through.
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  const bool in_place =
      std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  if (std::filesystem::is_directory(status)) {
    fail(EISDIR);
  }
  const std::string target =
      in_place ? path : path + ".part-" + std::to_string(static_cast<long>(getpid()));
  // A pipe may block for as long as its reader likes.
  std::optional<HoldInterrupts> hold;
  if (!in_place) {
    hold.emplace();
  }
  errno = 0;
  std::ofstream file(target, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    const int error = errno != 0 ? errno : EIO;
    if (!in_place) {
      std::filesystem::remove(target, ignored);
    }
    fail(error);
  }
  if (in_place) {
    return;
  }
  std::error_code error;
  std::filesystem::rename(target, path, error);
  if (error) {
    std::filesystem::remove(target, ignored);
    fail(error.value());
  }
}

bool same_file(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty()) {
    return false;
  }
  std::error_code ignored;
  if (std::filesystem::equivalent(one, other, ignored)) {
    return true;
  }
  const auto resolved = [](const std::string& name) {
    std::error_code unresolved;
    const auto absolute = std::filesystem::absolute(name, unresolved);
    auto path = std::filesystem::weakly_canonical(absolute, unresolved);
    return unresolved ? absolute.lexically_normal() : path;
  };
  return resolved(one) == resolved(other);
}

void write_output(const OutputOptions& options, const std::string& text) {
  if (options.to_stdout()) {
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

void note(const OutputOptions& options, const std::string& line) {
  if (!options.quiet) {
    std::cerr << line << '\n';
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
