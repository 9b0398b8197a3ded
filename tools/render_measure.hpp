#pragma once

// What `measure` shows: nccl-tests' table, measured beside predicted, and the file of measurements.

#include <string>
#include <vector>

#include "tools/machine_facts.hpp"
#include "tools/measure_run.hpp"
#include "tools/rank_place.hpp"
#include "validate/measurement.hpp"

namespace collsim {

/// `places` by rank. nccl-tests' table; with a cluster, what was predicted as comment lines behind it.
[[nodiscard]] std::string render_measure(const MeasureCommand& command, const MeasurePlan& plan,
                                         const std::vector<MeasuredLine>& lines,
                                         const MachineFacts& facts,
                                         const std::vector<RankPlace>& places);

/// One run for each algorithm, type and reduction.
[[nodiscard]] Measurements measurements_of(const MeasureCommand& command, const MeasurePlan& plan,
                                           const std::vector<MeasuredLine>& lines,
                                           const MachineFacts& facts,
                                           const std::vector<RankPlace>& places);

/// How many ranks share a machine's cores, where they are more than that has: the most on one host.
[[nodiscard]] std::uint32_t crowded_ranks(const std::vector<RankPlace>& places,
                                          const MachineFacts& facts);

}  // namespace collsim
