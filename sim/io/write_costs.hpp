#pragma once

// A set of cost parameters as a file that read_costs.hpp reads: what was fitted, on the base of another set.

#include <span>
#include <string>

#include "sim/costs.hpp"

namespace collsim {

struct WrittenCost {
  CostItem item{};
  CostValue value;
};

struct CostsFileText {
  std::string comment;  ///< lines without '#'
  std::string description;
  std::string base;  ///< may be empty
  ParameterTier tier = ParameterTier::Fitted;
  CalibrationRecord record;
  std::span<const WrittenCost> values;
};

/// Read again it is the same. The same input gives the same text.
[[nodiscard]] std::string write_costs(const CostsFileText& file);

}  // namespace collsim
