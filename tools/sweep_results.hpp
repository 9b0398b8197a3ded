#pragma once

// What came out of a sweep, point by point in the order of the grid, whatever order they were done in.

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "study/experiment.hpp"
#include "study/io/read_experiment.hpp"

namespace collsim {

// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON is noexcept, as its library declares
struct PointResult {
  std::size_t index = 0;
  nlohmann::ordered_json row;        ///< null where it failed
  std::vector<MetricValue> metrics;  ///< all of them; empty where it failed
  std::string failure;               ///< what went wrong, as a message; empty: nothing
  int exit_code = 0;                 ///< what a `collsim run` of it would end with

  [[nodiscard]] bool failed() const { return row.is_null(); }
  /// Requires: a metric of the experiment. Absent where the point failed, or has no such figure.
  [[nodiscard]] std::optional<double> metric(const std::string& name) const;
};

struct SweepResults {
  const LoadedExperiment* loaded = nullptr;
  std::string digest;
  std::vector<PointResult> points;

  [[nodiscard]] const Experiment& experiment() const { return loaded->experiment; }
  [[nodiscard]] std::size_t failures() const;
  /// The label of an axis at a point.
  [[nodiscard]] const AxisValue& value(const PointResult& result, std::size_t axis) const {
    return value_at(experiment(), loaded->points[result.index], axis);
  }
};

/// Requires: lines as PointRunner writes them, one a point.
[[nodiscard]] SweepResults results_of(const LoadedExperiment& loaded, std::string digest,
                                      const std::map<std::size_t, std::string>& lines);

/// Adds to points that follow each other along an axis of sizes, with nothing else different and the same algorithm
/// and protocol, a warning where the larger takes less time.
[[nodiscard]] std::vector<std::string> falling_warnings(const SweepResults& results);

}  // namespace collsim
