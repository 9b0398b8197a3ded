#pragma once

// The options that name files of measurements, and what the user knows that the files do not say.

#include <string>
#include <vector>

#include "tools/cli_names.hpp"
#include "tools/output.hpp"
#include "validate/io/measurement_hints.hpp"
#include "validate/measurement.hpp"

namespace collsim {

struct MeasurementOptions {
  std::vector<std::string> files;
  MeasurementHints hints;
};

/// Whether files are words of their own (FILE…), or behind --measurements.
enum class FileNaming : std::uint8_t { Words, Option };

/// Adds the files, required, and --ranks, --nodes, --launch, --nccl, --collective and --datatype.
void add_measurement_options(CLI::App& app, MeasurementOptions& options, FileNaming naming);

/// All files, in the order given. Throws: InputError for one that cannot be used, or is given twice.
[[nodiscard]] std::vector<Measurements> load_measurement_files(const MeasurementOptions& options);

/// To stderr: what was assumed, what is odd, and what was dropped, with its place; at most twenty lines a file.
void note_measurements(const OutputOptions& output, const Measurements& measurements);

}  // namespace collsim
