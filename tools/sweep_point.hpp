#pragma once

// One point of an experiment: it is a `collsim run`, with the options that its keys are named after, and what comes
// out is a line of JSON: {"point": 3, "row": …, "metrics": …}, or {"point": 3, "failure": …}. Nothing in it depends on
// which worker did it, or when.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "study/experiment.hpp"
#include "study/io/read_experiment.hpp"
#include "tools/cluster_options.hpp"
#include "tools/single_run.hpp"
#include "topology/error.hpp"

namespace collsim {

/// The words behind `collsim run` that simulate a point alone.
[[nodiscard]] std::vector<std::string> words_of_point(const Experiment& experiment,
                                                      const SweepPoint& point);

/// "--max-memory" for "max_memory".
[[nodiscard]] std::string option_name(std::string key);

/// Whether a line says that its point failed.
[[nodiscard]] bool tells_failure(const std::string& line);

/// Simulates points, one after the other. It keeps the last cluster, which neighbours often share.
class PointRunner {
 public:
  /// The experiment outlives it.
  PointRunner(const LoadedExperiment& experiment, std::string config_directory)
      : experiment_(&experiment), config_directory_(std::move(config_directory)) {}

  /// The point's line, without a line break. What goes wrong at the point is in it.
  [[nodiscard]] std::string run(std::size_t index);

  /// What is wrong with the point before anything is simulated; absent if nothing is.
  [[nodiscard]] std::optional<InputError> fault(std::size_t index);

 private:
  [[nodiscard]] SingleRun single_run(std::size_t index) const;
  [[nodiscard]] const Machine& machine(const ClusterOptions& options);

  const LoadedExperiment* experiment_;
  std::string config_directory_;
  std::string last_key_;
  std::optional<Machine> last_;
};

}  // namespace collsim
