#pragma once

// Measurements from a file of any format that we read, told by its content: our own schema, nccl-tests and rccl-tests as
// text, CSV or JSON, lines of NCCL's inspector.

#include <string>
#include <string_view>

#include "validate/io/measurement_hints.hpp"
#include "validate/measurement.hpp"

namespace collsim {

/// `file` is the name for messages; where the content does not tell the collective, its name may.
/// Throws: InputError for a text whose format is not known, that holds no measurement, or that does not tell the
/// collective or the ranks of one while the hints do not either.
[[nodiscard]] Measurements parse_measurements(std::string_view bytes, const std::string& file,
                                              const MeasurementHints& hints = {});

/// The same from a file. Throws: InputError, also if it cannot be read or is larger than 64 MiB (JSON: 16 MiB).
[[nodiscard]] Measurements load_measurements(const std::string& path,
                                             const MeasurementHints& hints = {});

}  // namespace collsim
