#pragma once

// Many measured calls predicted at once: how far off, and what they cover.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "sim/calibration_record.hpp"
#include "sim/costs.hpp"
#include "study/measured_calls.hpp"

namespace collsim {

/// Runs the body for 0 … count - 1, in any order, maybe several at once.
using ForEach =
    std::function<void(std::size_t count, const std::function<void(std::size_t)>& body)>;

/// One after the other, on the calling thread.
[[nodiscard]] ForEach one_by_one();

/// What was fitted, and how well: `errors` by call.
[[nodiscard]] CalibrationRecord record_of(const std::vector<MeasuredCall>& calls,
                                          std::span<const double> errors);

/// predicted / measured - 1 of each call. Throws: as predict().
[[nodiscard]] std::vector<double> prediction_errors(const std::vector<MeasuredCall>& calls,
                                                    const CostParameters& costs,
                                                    const ForEach& for_each);

}  // namespace collsim
