#pragma once

// JSON by the standard library alone, for a machine that has nothing else: files of measurements/1, and of GPU figures.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "validate/measurement.hpp"

namespace collsim {

/// In quotes; control characters and what is no ASCII as '?'.
[[nodiscard]] std::string json_text(std::string_view text);
/// The shortest text that reads as the number, to 6 digits.
[[nodiscard]] std::string json_number(double value);

/// The same file of measurements/1 as write_measurements_json (validate/io) would write, but for white space and empty fields.
[[nodiscard]] std::string plain_measurements(const Measurements& measurements);

/// One figure of a GPU: what was measured, with which settings.
struct GpuFigure {
  std::string name;  ///< "hbm_copy"
  std::vector<std::pair<std::string, double>> settings;
  double value = 0;
  std::string unit;  ///< "B/s", "ns"
};
/// Schema gpu-figures/1 (docs/output.md).
[[nodiscard]] std::string plain_figures(const MeasuredHardware& hardware, const std::string& cuda,
                                        const std::string& date,
                                        const std::vector<GpuFigure>& figures);

}  // namespace collsim
