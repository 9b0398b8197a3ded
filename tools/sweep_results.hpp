#pragma once

// What came out of a sweep, point by point in the order of the grid, whatever order they were done in.

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "study/experiment.hpp"
#include "study/falling_times.hpp"
#include "study/io/read_experiment.hpp"

namespace collsim {

struct PointResult {
  std::size_t index = 0;
  std::vector<std::optional<double>> metrics;  ///< as SweepResults::names; none where it failed
  SizePoint size;                              ///< of its curve over sizes, if it has one
  std::string failure;                         ///< what went wrong, as a message; empty: nothing
  int exit_code = 0;                           ///< what a `collsim run` of it would end with

  [[nodiscard]] bool failed() const { return exit_code != 0; }
};

struct SweepResults {
  const LoadedExperiment* loaded = nullptr;
  std::string digest;
  std::vector<std::string> names;  ///< of metrics that are shown or drawn
  std::vector<PointResult> points;
  std::function<std::string(std::size_t)> line;  ///< of a point, as PointRunner wrote it

  [[nodiscard]] const Experiment& experiment() const { return loaded->experiment; }
  [[nodiscard]] std::size_t failures() const;
  /// Requires: one of `names`. Absent where the point failed, or has no such figure.
  [[nodiscard]] std::optional<double> metric(const PointResult& point,
                                             const std::string& name) const;
  /// The row of a point that did not fail. A million of them are not held at once.
  [[nodiscard]] nlohmann::ordered_json row(const PointResult& point) const;
  /// The label of an axis at a point.
  [[nodiscard]] const AxisValue& value(const PointResult& result, std::size_t axis) const {
    return value_at(experiment(), loaded->points[result.index], axis);
  }
};

/// `line` gives the line of each point. Both outlive the results.
[[nodiscard]] SweepResults results_of(const LoadedExperiment& loaded, std::string digest,
                                      std::function<std::string(std::size_t)> line);

/// Adds to points that follow each other along an axis of sizes, with nothing else different and the same algorithm
/// and protocol, a warning where the larger takes less time.
[[nodiscard]] std::vector<std::string> falling_warnings(const SweepResults& results);

}  // namespace collsim
