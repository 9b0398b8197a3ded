#pragma once

// The calls that `measure` makes, each with its program and, where there is a cluster, the time that is predicted.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/program.hpp"
#include "tools/measure_options.hpp"
#include "tools/perf_run.hpp"

namespace collsim {

struct MeasuredProgram {
  std::shared_ptr<const Program> program;
  std::string algorithm;
  std::optional<Duration> predicted;
};

/// A line of the table.
struct MeasureCall {
  CollectiveCall call;     ///< out of place
  std::int64_t root = -1;  ///< -1: none
  MeasuredProgram out_of_place;
  /// Absent where the collective cannot be.
  std::optional<MeasuredProgram> in_place;
};

struct MeasurePlan {
  CollectiveKind kind = CollectiveKind::AllReduce;
  std::uint32_t ranks = 1;
  std::uint32_t nodes = 1;
  std::vector<Bytes> sizes;
  std::vector<MeasureCall> calls;
  std::string cluster;  ///< that predictions are for; empty: none
};

/// Ranks that run where neither --ranks nor a cluster says.
inline constexpr std::uint32_t default_measured_ranks = 4;

/// The program of a call by --algorithm, or by the one that every library has. Throws: InputError("--algorithm").
[[nodiscard]] MeasuredProgram program_for(const MeasureCommand& command,
                                          const CollectiveCall& call);

/// Builds all programs, and simulates them where there is a cluster. Throws: InputError naming the option.
[[nodiscard]] MeasurePlan measure_plan(const MeasureCommand& command);

/// The same for all processes that are told to make the same calls.
[[nodiscard]] std::uint64_t digest_of(const MeasureCommand& command, const MeasurePlan& plan);

}  // namespace collsim
