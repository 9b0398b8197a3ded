#pragma once

// Which cost parameters a fit moves, which of the others keep their ratio to one of those, and how far each may go. Plain
// bookkeeping: it knows no calls and no errors.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/calibration_record.hpp"
#include "sim/costs.hpp"
#include "study/sensitivities.hpp"
#include "validate/least_squares.hpp"

namespace collsim {

struct FreeParameter {
  CostItem item{};
  std::vector<CostItem> followers;  ///< keep their ratio to it
  FitBounds bounds;                 ///< of ln(value / start)
};

/// Of values: all that there are, or four, since more is not known and files stay readable.
enum class Digits : std::uint8_t { All, Four };

class FreeParameters {
 public:
  /// `only`: no others may be free; empty: all may. Requires: `start` outlives it.
  FreeParameters(const CostParameters& start, ParameterTier tier, std::vector<CostItem> only)
      : start_(&start), tier_(tier), only_(std::move(only)) {}

  /// Those that change some call; of the others, and in ParameterTier::Generation of all, what has a free leader follows it.
  void choose(std::span<const Sensitivities> effects);

  [[nodiscard]] const std::vector<FreeParameter>& all() const { return free_; }
  [[nodiscard]] bool holds(CostItem item) const;
  /// Whether it may be free at all.
  [[nodiscard]] bool may_hold(CostItem item) const;
  [[nodiscard]] std::vector<FitBounds> bounds() const;

  /// A parameter follows its leader, with all that follow it; without one, it goes back to its start. Returns which it
  /// was.
  CostItem give_up(std::size_t index);
  /// A parameter that is not free becomes so, the last one.
  void stand_alone(CostItem item);

  /// Where other free parameters stand when these are at `parameters`: themselves, or with what they follow.
  [[nodiscard]] std::vector<double> moved_to(const FreeParameters& others,
                                             std::span<const double> parameters) const;
  /// The start with these at `parameters`, and those that follow them.
  [[nodiscard]] CostParameters costs_at(std::span<const double> parameters, Digits digits) const;
  /// Appends to a row of a Jacobian what each changes, with those that follow it.
  void add_effects(const Sensitivities& effects, std::vector<double>& row) const;

 private:
  [[nodiscard]] FreeParameter* free_leader(CostItem item);
  [[nodiscard]] FitBounds bounds_of(const CostDefinition& definition) const;

  const CostParameters* start_;
  ParameterTier tier_;
  std::vector<CostItem> only_;
  std::vector<FreeParameter> free_;
};

}  // namespace collsim
