#pragma once

// What `measure` shows: nccl-tests' table, measured beside predicted, and the file of measurements.

#include <string>
#include <vector>

#include "tools/machine_facts.hpp"
#include "tools/measure_run.hpp"
#include "validate/measurement.hpp"

namespace collsim {

/// nccl-tests' table; with a cluster, what was predicted as comment lines behind it.
[[nodiscard]] std::string render_measure(const MeasureCommand& command, const MeasurePlan& plan,
                                         const std::vector<MeasuredLine>& lines,
                                         const MachineFacts& facts);

/// One run for each algorithm, type and reduction.
[[nodiscard]] Measurements measurements_of(const MeasureCommand& command, const MeasurePlan& plan,
                                           const std::vector<MeasuredLine>& lines,
                                           const MachineFacts& facts);

}  // namespace collsim
