#pragma once

// Cost parameters fitted to measured tables: each call is simulated, its attribution says by how much each parameter
// would change it, and least squares of the relative errors moves them; then it is simulated again.
//
// The parameters are few and physical, the same for all collectives, numbers of ranks, types and sizes. What the data do
// not decide stays near the start (literature). What has no gradient (how uneven blocks are) is searched for.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/costs.hpp"
#include "study/measured_calls.hpp"
#include "study/prediction_errors.hpp"
#include "validate/error_statistics.hpp"
#include "validate/least_squares.hpp"

namespace collsim {

struct CalibrationOptions {
  ParameterTier tier = ParameterTier::Fitted;
  FitOptions fit;
  ForEach for_each;  ///< absent: one after the other
  /// Only these are free, if there are any.
  std::vector<CostItem> only;
};

struct FittedParameter {
  CostItem item{};
  CostValue start;
  CostValue value;
  std::vector<CostItem> followers;  ///< what changes with it, in the same ratio
  bool at_bound = false;
};

struct CorrelatedParameters {
  CostItem first{};
  CostItem second{};
  double correlation = 0;
};

struct Calibration {
  CostParameters parameters;
  std::vector<FittedParameter> fitted;  ///< in the order of CostItem
  /// Those that calls depend on, but that these data do not decide: they keep their start.
  std::vector<CostItem> undecided;
  std::vector<CorrelatedParameters> correlated;  ///< beyond 0.8
  std::vector<double> errors;                    ///< predicted / measured - 1, by call
  int steps = 0;
  bool converged = false;
};

/// `calls` weigh by table: a long one as much as a short one. Throws: as predict().
[[nodiscard]] Calibration calibrate(const std::vector<MeasuredCall>& calls,
                                    const CostParameters& start, const CalibrationOptions& options);

}  // namespace collsim
