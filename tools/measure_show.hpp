#pragma once

// What `measure` has to show when it is done, whoever ran the ranks.

#include <vector>

#include "tools/cli.hpp"
#include "tools/measure_calls.hpp"
#include "tools/measure_gpus.hpp"
#include "tools/measure_run.hpp"
#include "tools/rank_place.hpp"

namespace collsim {

/// The table to stdout, the measurements to --output, what is wrong to stderr.
/// Throws: InputError if something cannot be written.
[[nodiscard]] Exit show_measured(const MeasureCommand& command, const MeasurePlan& plan,
                                 const std::vector<MeasuredLine>& lines,
                                 const std::vector<RankPlace>& places,
                                 const GpuSoftware& software = {});

/// Before anything is measured: it would be lost. Throws: InputError("--output").
void require_place_for_output(const OutputOptions& output);

}  // namespace collsim
