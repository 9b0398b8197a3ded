#pragma once

// Where results go: stdout or a file that appears whole or not at all; notes to stderr.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli_names.hpp"
#include "topology/error.hpp"

namespace collsim {

enum class Format : std::uint8_t { Table, Json, Csv };

struct OutputOptions {
  std::string format_name = "table";
  std::string file;  ///< empty or "-": stdout

  [[nodiscard]] bool to_stdout() const { return file.empty() || file == "-"; }
  bool quiet = false;

  [[nodiscard]] Format format() const;
};

/// Adds --format, --output and --quiet.
void add_output_options(CLI::App& app, OutputOptions& options);
/// Adds --output alone, for results that are a file of another program.
void add_output_file_option(CLI::App& app, OutputOptions& options);

/// Writes the text to the chosen place. A file is written beside its place and renamed, so it is never
/// half there. Throws: InputError("--output") if it cannot be written.
void write_output(const OutputOptions& options, const std::string& text);
/// To stdout. Throws: InputError if it is full or closed.
void write_stdout(const std::string& text);
/// As write_output, for any file an option names.
void write_file(const std::string& option, const std::string& path, const std::string& text);

/// Refuses a second file that is that of --output, or stdout where the result goes there.
void refuse_overwriting(const std::string& option, const std::string& path,
                        const OutputOptions& options);

/// One line to stderr, unless quiet.
void note(const OutputOptions& options, const std::string& line);
/// What reading a file has to say, each at its place.
void note_warnings(const OutputOptions& options, const std::vector<InputError>& warnings);

/// A progress line on stderr, rewritten in place; only on a terminal and unless quiet. Erases itself.
class ProgressLine {
 public:
  explicit ProgressLine(const OutputOptions& options);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const std::string& text);

 private:
  bool active_;
  bool shown_ = false;
};

}  // namespace collsim
