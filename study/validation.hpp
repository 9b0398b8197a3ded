#pragma once

// Predicted against measured: every row of measured tables is simulated, and what was said of it stands beside what the
// rivals of validate/rivals.hpp say of the same row.
//
// The summary speaks of the rows that can be trusted. Apart from it, and scored on their own, are rows that the
// table itself marks as suspect, and rows of up to 1 MiB of tables that do not say how their kernels were
// launched: one process for all GPUs takes up to 20 us longer than one a GPU. A launch offset, one constant for
// a machine and way to launch, fitted to its rows of up to 32 KiB, stands in for what is not said; with it such rows count.
// Ignored: how much the measurements themselves scatter.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/calibration_record.hpp"
#include "sim/costs.hpp"
#include "study/measured_calls.hpp"
#include "study/prediction_errors.hpp"
#include "validate/error_statistics.hpp"
#include "validate/rivals.hpp"

namespace collsim {

/// A table, and what the kernels of its machine cost. What it points to outlives the validation.
struct TableToValidate {
  const MeasuredTable* table = nullptr;
  const CostParameters* costs = nullptr;  ///< null: only where the table is of our program
};

/// Why a row is not in the summary.
enum class Apart : std::uint8_t {
  No,
  Suspect,        ///< a stall, by the table's own mark
  LaunchUnknown,  ///< small, and the table does not say how it was launched
};

struct ValidatedRow {
  const MeasuredRow* row = nullptr;
  Duration predicted{};  ///< with the launch offset of the machine
  double error = 0;      ///< predicted / measured - 1
  Apart apart = Apart::No;
  std::string algorithm;  ///< "nccl-ring"; of our program: "ring"
  std::string protocol;   ///< "LL128"
  std::uint32_t channels = 0;
  std::vector<OutsideFit>
      outside;  ///< in what it is outside of the calls that the parameters were fitted to
  /// By Rival: what it predicts. Rows that stand apart have none.
  std::array<std::optional<Duration>, rivals.size()> rival_times{};
};

struct ValidatedRun {
  const MeasuredTable* table = nullptr;
  std::vector<ValidatedRow> rows;  ///< in the order of the table
};

struct LaunchOffset {
  std::string machine;
  LaunchMode launch = LaunchMode::Unknown;
  Duration more{};         ///< may be below zero
  std::size_t points = 0;  ///< from so many rows
};

struct Validation {
  std::vector<ValidatedRun> runs;  ///< without those of which no row is left
  std::vector<LaunchOffset> offsets;
  std::vector<std::string> left_out;  ///< tables and rows that have no prediction, and why
};

/// Which rows, and how.
struct ValidationOptions {
  Bytes least;
  std::optional<Bytes> most;
  std::vector<CollectiveKind> collectives;  ///< empty: all
  bool fit_launch = false;
  ForEach for_each;  ///< absent: one after the other
};

/// Complexity: a simulation a row. Throws: SimulationError as a run of the program.
[[nodiscard]] Validation validate(const std::vector<TableToValidate>& tables,
                                  const ValidationOptions& options);

}  // namespace collsim
