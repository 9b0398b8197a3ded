#pragma once

// What a calibration gave, as `calibrate` prints it.

#include <string>
#include <vector>

#include "study/calibration.hpp"
#include "study/cross_validation.hpp"

namespace collsim {

struct CalibrationReport {
  const CostParameters* start = nullptr;  ///< the set it began from
  ParameterTier tier = ParameterTier::Fitted;
  std::size_t tables = 0;
  const std::vector<MeasuredCall>* calls = nullptr;
  Calibration calibration;
  CalibrationRecord record;
  std::vector<Fold> folds;
  std::string written;  ///< the file, if any
};

[[nodiscard]] std::string render_calibration_table(const CalibrationReport& report);
/// collsim/calibration/1; docs/output.md lists the fields.
[[nodiscard]] std::string render_calibration_json(const CalibrationReport& report);
/// A line a parameter.
[[nodiscard]] std::string render_calibration_csv(const CalibrationReport& report);

}  // namespace collsim
