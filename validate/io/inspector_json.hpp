#pragma once

// What the inspector writes, NCCL's profiler plug-in: lines of JSON, each the time of one collective in one process of
// a production run. It samples: most calls are missing.
//
// Lines of several ranks of a communicator (of files joined into one) that are of the same call become one row, its
// time the longest; of one rank alone, the time is that rank's. A call's size is what nccl-tests would show, told by the
// bandwidth that the line has beside its time.
//
// Source: NCCL plugins/profiler/inspector.

#include <string>
#include <string_view>

#include "validate/io/measurement_hints.hpp"
#include "validate/measurement.hpp"

namespace collsim {

/// Throws: InputError if no line is one of the inspector's that can be used.
[[nodiscard]] Measurements parse_inspector_json(std::string_view bytes, const std::string& file,
                                                const MeasurementHints& hints = {});

}  // namespace collsim
