#include "validate/least_squares.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "topology/error.hpp"

namespace collsim {

namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

double soft_l1(double residual, double scale) {
  const double z = residual / scale;
  return scale * scale * (std::sqrt(1 + z * z) - 1);
}

class Fit {
 public:
  Fit(const FitFunction& function, const std::vector<FitBounds>& bounds,
      const std::vector<double>& weights, const FitOptions& options)
      : function_(&function), bounds_(&bounds), weights_(&weights), options_(&options) {}

  FitResult run() {
    const std::size_t size = bounds_->size();
    std::vector<double> here = options_->begin;
    here.resize(size, 0.0);
    FitEvaluation at_here = evaluate(here);
    double objective = objective_of(here, at_here);
    double damping = 1e-3;
    FitResult result;
    bool go_on = report(0, objective);
    int refused = 0;
    constexpr int most_refused = 6;
    while (go_on && result.steps < options_->most_steps) {
      ++result.steps;
      const std::vector<double> next = step_from(here, at_here, damping);
      FitEvaluation at_next = evaluate(next);
      const double reached = objective_of(next, at_next);
      go_on = report(result.steps, std::min(reached, objective));
      if (reached < objective) {
        const double gain = (objective - reached) / objective;
        here = next;
        at_here = std::move(at_next);
        objective = reached;
        damping = std::max(damping / 4, 1e-6);
        refused = 0;
        if (gain < options_->least_gain) {
          result.converged = true;
          break;
        }
      } else {
        damping *= 8;
        if (++refused == most_refused) {
          result.converged = true;
          break;
        }
      }
    }
    result.parameters = here;
    result.residuals = at_here.residuals;
    result.objective = objective;
    set_uncertainty(result, at_here);
    return result;
  }

 private:
  FitEvaluation evaluate(const std::vector<double>& parameters) const {
    FitEvaluation evaluation = (*function_)(parameters);
    COLLSIM_ENSURE(evaluation.residuals.size() == weights_->size(), "a residual for each weight");
    COLLSIM_ENSURE(evaluation.jacobian.size() == weights_->size() * bounds_->size(),
                   "a derivative for each residual and parameter");
    return evaluation;
  }

  [[nodiscard]] double objective_of(const std::vector<double>& parameters,
                                    const FitEvaluation& at) const {
    double sum = robust_loss(at.residuals, *weights_, options_->scale);
    for (const double parameter : parameters) {
      const double pulled = options_->pull * parameter;
      sum += pulled * pulled / 2;
    }
    return sum;
  }

  /// Second derivatives of the objective, as Gauss and Newton take them, and its gradient.
  void expand(const FitEvaluation& at, const std::vector<double>& parameters, Matrix& curvature,
              Vector& gradient) const {
    const auto size = static_cast<Eigen::Index>(bounds_->size());
    curvature = Matrix::Zero(size, size);
    gradient = Vector::Zero(size);
    for (std::size_t i = 0; i < at.residuals.size(); ++i) {
      const double z = at.residuals[i] / options_->scale;
      const double weight = (*weights_)[i] / std::sqrt(1 + z * z);
      const Eigen::Map<const Vector> row(at.jacobian.data() + i * bounds_->size(), size);
      curvature.selfadjointView<Eigen::Lower>().rankUpdate(row, weight);
      gradient += weight * at.residuals[i] * row;
    }
    curvature = curvature.selfadjointView<Eigen::Lower>();
    const double pull = options_->pull * options_->pull;
    for (Eigen::Index k = 0; k < size; ++k) {
      curvature(k, k) += pull;
      gradient(k) += pull * parameters[static_cast<std::size_t>(k)];
    }
  }

  [[nodiscard]] std::vector<double> step_from(const std::vector<double>& here,
                                              const FitEvaluation& at, double damping) const {
    Matrix curvature;
    Vector gradient;
    expand(at, here, curvature, gradient);
    const auto size = static_cast<Eigen::Index>(here.size());
    // Parameters at a bound that the step would cross stay there; the others are solved again without them.
    std::vector<bool> held(here.size(), false);
    std::vector<double> next = here;
    for (std::size_t round = 0; round <= here.size(); ++round) {
      Matrix system = curvature;
      Vector right = -gradient;
      for (Eigen::Index k = 0; k < size; ++k) {
        system(k, k) *= 1 + damping;
        if (held[static_cast<std::size_t>(k)]) {
          system.row(k).setZero();
          system.col(k).setZero();
          system(k, k) = 1;
          right(k) = 0;
        }
      }
      const Vector step = system.ldlt().solve(right);
      constexpr double longest = 0.4;  // of a step, in e-folds
      bool again = false;
      for (std::size_t k = 0; k < here.size(); ++k) {
        const double wanted =
            here[k] + std::clamp(step(static_cast<Eigen::Index>(k)), -longest, longest);
        const FitBounds& bound = (*bounds_)[k];
        next[k] = std::clamp(wanted, bound.least, bound.most);
        if (!held[k] && next[k] == here[k] && wanted != here[k]) {
          held[k] = true;
          again = true;
        }
      }
      if (!again) {
        break;
      }
    }
    return next;
  }

  void set_uncertainty(FitResult& result, const FitEvaluation& at) const {
    Matrix curvature;
    Vector gradient;
    expand(at, result.parameters, curvature, gradient);
    // The spread of residuals that the loss leaves: half of them are within it.
    std::vector<double> sizes;
    sizes.reserve(at.residuals.size());
    for (const double residual : at.residuals) {
      sizes.push_back(std::abs(residual));
    }
    std::ranges::sort(sizes);
    constexpr double normal = 1.4826;  // of a normal distribution's median deviation
    const double spread = sizes.empty() ? 0 : normal * sizes[sizes.size() / 2];
    const Matrix inverse =
        curvature.ldlt().solve(Matrix::Identity(curvature.rows(), curvature.cols()));
    const auto size = static_cast<std::size_t>(curvature.rows());
    for (std::size_t k = 0; k < size; ++k) {
      const auto row = static_cast<Eigen::Index>(k);
      result.standard_errors.push_back(spread * std::sqrt(std::max(inverse(row, row), 0.0)));
    }
    for (std::size_t k = 0; k < size; ++k) {
      for (std::size_t l = 0; l < size; ++l) {
        const auto row = static_cast<Eigen::Index>(k);
        const auto column = static_cast<Eigen::Index>(l);
        const double norm = std::sqrt(inverse(row, row) * inverse(column, column));
        result.correlations.push_back(norm > 0 ? inverse(row, column) / norm : 0);
      }
    }
  }

  [[nodiscard]] bool report(int step, double objective) const {
    return !options_->progress || options_->progress(step, objective);
  }

  const FitFunction* function_;
  const std::vector<FitBounds>* bounds_;
  const std::vector<double>* weights_;
  const FitOptions* options_;
};

}  // namespace

double robust_loss(const std::vector<double>& residuals, const std::vector<double>& weights,
                   double scale) {
  double sum = 0;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    sum += weights[i] * soft_l1(residuals[i], scale);
  }
  return sum;
}

FitResult least_squares(const FitFunction& function, const std::vector<FitBounds>& bounds,
                        const std::vector<double>& weights, const FitOptions& options) {
  return Fit(function, bounds, weights, options).run();
}

}  // namespace collsim
