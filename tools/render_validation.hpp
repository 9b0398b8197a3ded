#pragma once

// What `collsim validate` prints, and its picture.

#include <string>
#include <vector>

#include "study/validation.hpp"
#include "study/validation_scores.hpp"
#include "tools/used_parameters.hpp"

namespace collsim {

/// The tables of one file, and what they were predicted with.
struct ValidatedMachine {
  std::string name;  ///< of the measurements
  std::string cluster;
  std::string digest;  ///< of the cluster
  UsedParameters parameters;
};

struct ValidationView {
  std::vector<ValidatedMachine> machines;  ///< in the order of the files
  Validation validation;
  ValidationScores scores;
  std::vector<std::string> left_out;  ///< tables and rows without a prediction, and why
  bool rows = false;                  ///< each row, in the table
};

/// The table; JSON `collsim/validation/1`; CSV, a line a row (docs/output.md).
[[nodiscard]] std::string render_validation_table(const ValidationView& view);
[[nodiscard]] std::string render_validation_json(const ValidationView& view);
[[nodiscard]] std::string render_validation_csv(const ValidationView& view);

/// Curves of measured and predicted times with their errors, as SVG: a panel for each machine, collective and number of
/// ranks. Requires: a run.
[[nodiscard]] std::string plot_validation(const ValidationView& view);

/// "all_gather on 8 ranks", with the nodes where there are several.
[[nodiscard]] std::string what_ran(const MeasuredRun& run);
/// "NCCL_ALGO=Ring NCCL_PROTO=LL": the variables that the table says were set.
[[nodiscard]] std::string variables_text(const MeasuredRun& run);
/// "+12.3 %".
[[nodiscard]] std::string signed_percent(double fraction);
/// What NCCL chooses from which size of the run on.
struct RunChoice {
  Bytes from;
  std::string algorithm;
  std::string protocol;
};
[[nodiscard]] std::vector<RunChoice> choices_of(const ValidatedRun& run);

}  // namespace collsim
