#pragma once

// Least squares for a few positive parameters and many relative errors: Gauss-Newton with damping, bounds, a loss that
// single outliers do not bend (soft L1), and a weak pull to the start, which decides what the data do not.
//
// Everything is in logarithms: a parameter is ln(value / start), a residual ln(predicted / measured). The same input gives
// the same result, bit for bit: sums run in the order of the points.
// Loss: 2 (sqrt(1 + (r/s)^2) - 1) s^2 / 2 (Triggs et al., "Bundle Adjustment", 2000, on robust reweighting).

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace collsim {

struct FitEvaluation {
  std::vector<double> residuals;  ///< by point
  /// d residual / d parameter, row by row. Needed at each accepted step; may be approximate.
  std::vector<double> jacobian;
};
/// Requires: as many values as there are bounds.
using FitFunction = std::function<FitEvaluation(const std::vector<double>& parameters)>;

struct FitBounds {
  double least = 0;  ///< <= 0
  double most = 0;   ///< >= 0
};

struct FitOptions {
  double scale = 0.05;  ///< of the loss: residuals beyond it count less
  double pull = 0.02;   ///< to the start: the residual of a parameter that is e times its start
  std::vector<double> begin;  ///< where to begin; empty: at the start
  int most_steps = 30;
  /// Steps that gain less than this part of the objective end the fit.
  double least_gain = 1e-4;
  /// Called after each evaluation; false ends the fit with what is best so far.
  std::function<bool(int step, double objective)> progress;
};

struct FitResult {
  std::vector<double> parameters;
  std::vector<double>
      standard_errors;  ///< of each, from the curvature and the spread of the residuals
  std::vector<double> correlations;  ///< row by row
  std::vector<double> residuals;
  double objective = 0;
  int steps = 0;
  bool converged = false;
};

/// The sum of the losses, by point weighted. Requires: as many weights as residuals.
[[nodiscard]] double robust_loss(const std::vector<double>& residuals,
                                 const std::vector<double>& weights, double scale);

/// `weights` by point. Throws: what the function throws.
[[nodiscard]] FitResult least_squares(const FitFunction& function,
                                      const std::vector<FitBounds>& bounds,
                                      const std::vector<double>& weights,
                                      const FitOptions& options = {});

}  // namespace collsim
