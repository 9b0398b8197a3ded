#include "study/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "study/free_parameters.hpp"
#include "study/sensitivities.hpp"
#include "topology/error.hpp"
#include "validate/direct_search.hpp"

namespace collsim {

namespace {

using enum CostItem;

constexpr double whole_share = 1'000'000;

/// How much of a table's weight a call has: each table counts as one of the mean length.
std::vector<double> weights_of(const std::vector<MeasuredCall>& calls) {
  std::map<const MeasuredTable*, std::size_t> length;
  for (const MeasuredCall& call : calls) {
    ++length[call.table];
  }
  std::vector<double> weights;
  weights.reserve(calls.size());
  const double mean = static_cast<double>(calls.size()) / static_cast<double>(length.size());
  for (const MeasuredCall& call : calls) {
    weights.push_back(mean / static_cast<double>(length[call.table]));
  }
  return weights;
}

class Calibrator {
 public:
  Calibrator(const std::vector<MeasuredCall>& calls, const CostParameters& start,
             const CalibrationOptions& options)
      : calls_(&calls),
        start_(&start),
        options_(&options),
        for_each_(options.for_each ? options.for_each : one_by_one()),
        weights_(weights_of(calls)),
        free_(start, options.tier, options.only) {}

  Calibration run() {
    if (options_->tier != ParameterTier::Nominal) {
      free_.choose(simulate(*start_).effects);
    }
    const FreeParameters all = free_;
    FitResult fit = decide(solve({}));
    if (!undecided_.empty()) {
      // What is not decided far from the optimum may be so near it.
      std::vector<double> begin = free_.moved_to(all, fit.parameters);
      free_ = all;
      undecided_.clear();
      fit = decide(solve(std::move(begin)));
    }
    search_rates(fit);
    if (search_unevenness(fit)) {
      fit = decide(solve(fit.parameters));
    }
    return result_of(fit);
  }

 private:
  struct Simulated {
    std::vector<double> errors;  // ln
    std::vector<Sensitivities> effects;
  };

  [[nodiscard]] Simulated simulate(const CostParameters& costs) const {
    Simulated simulated;
    simulated.errors.resize(calls_->size());
    simulated.effects.resize(calls_->size());
    for_each_(calls_->size(), [&](std::size_t i) {
      const MeasuredCall& call = (*calls_)[i];
      const CollectiveResult result = predict(call, costs, AttributeTo::Limits);
      simulated.errors[i] = std::log(static_cast<double>(result.time.count()) /
                                     static_cast<double>(call.row->time.count()));
      simulated.effects[i] = sensitivities(*call.table->cluster, *call.program.program, result);
      // What the fabric's own parameters say does not change with others.
      if (call.table->network) {
        for (const NetworkCosts::Item& item : call.table->network->items) {
          simulated.effects[i].at(static_cast<std::size_t>(item.item)) = 0;
        }
      }
    });
    return simulated;
  }

  /// Gives up what the data do not decide, one after the other.
  [[nodiscard]] FitResult decide(FitResult fit) {
    while (const std::optional<std::size_t> worst = least_decided(fit)) {
      std::vector<double> begin = fit.parameters;
      begin.erase(begin.begin() + static_cast<std::ptrdiff_t>(*worst));
      undecided_.push_back(free_.give_up(*worst));
      fit = solve(std::move(begin));
    }
    return fit;
  }

  [[nodiscard]] FitResult solve(std::vector<double> begin) {
    FitOptions options = options_->fit;
    options.begin = std::move(begin);
    FitResult fit = least_squares(
        [this](const std::vector<double>& parameters) { return evaluate(parameters); },
        free_.bounds(), weights_, options);
    steps_ += fit.steps;
    return fit;
  }

  /// What the data decide least, if that is too little: it goes back to its start.
  [[nodiscard]] static std::optional<std::size_t> least_decided(const FitResult& fit) {
    constexpr double decided = 0.35;  // relative error
    const auto worst = std::ranges::max_element(fit.standard_errors);
    if (worst == fit.standard_errors.end() || *worst < decided) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(worst - fit.standard_errors.begin());
  }

  /// A rate beyond what links let through has no gradient, and still may do better as the limit.
  void search_rates(FitResult& fit) {
    if (options_->tier != ParameterTier::Fitted) {
      return;
    }
    for (const CostDefinition& definition : cost_definitions()) {
      if (definition.unit == CostUnit::RateUnits && free_.may_hold(definition.item) &&
          !free_.holds(definition.item)) {
        search_rate(definition.item, fit);
      }
    }
  }

  void search_rate(CostItem item, FitResult& fit) {
    const FreeParameters before = free_;
    free_.stand_alone(item);
    std::vector<double> begin = fit.parameters;
    constexpr double range = 1.2;  // e-folds: to a third
    constexpr int evaluations = 10;
    constexpr double gain = 0.995;
    begin.push_back(-range);
    const double lowest = loss_of(begin);
    begin.back() = 0;
    const double loss = loss_of(begin);
    if (lowest == loss) {  // no call depends on it
      free_ = before;
      return;
    }
    const SearchResult found = direct_search(
        [&](const std::vector<double>& values) {
          begin.back() = values.front();
          return loss_of(begin);
        },
        {{-range, 0, -range / 4}}, evaluations);
    begin.back() = found.values.front();
    if (found.objective < gain * std::min(loss, fit.objective)) {
      const FitResult refit = solve(begin);
      if (!least_decided(refit)) {
        fit = refit;
        std::erase(undecided_, item);
        return;
      }
    }
    free_ = before;
  }

  [[nodiscard]] double loss_of(const std::vector<double>& parameters) const {
    return robust_loss(simulate(costs_at(parameters, Digits::All)).errors, weights_,
                       options_->fit.scale);
  }

  /// Whether another value of what has no gradient does better.
  bool search_unevenness(const FitResult& fit) {
    const std::int64_t start = start_->value(SimpleUnevenness).units;
    if (start == 0 || !free_.holds(SimpleLocalRate) || options_->tier != ParameterTier::Fitted) {
      return false;
    }
    const auto objective = [&](const std::vector<double>& values) {
      unevenness_ = std::llround(values.front() * whole_share);
      return loss_of(fit.parameters);
    };
    constexpr int evaluations = 12;
    const SearchResult found =
        direct_search(objective, {{0, 1, static_cast<double>(start) / whole_share}}, evaluations);
    unevenness_ = std::llround(found.values.front() * whole_share);
    return *unevenness_ != start;
  }

  [[nodiscard]] CostParameters costs_at(const std::vector<double>& parameters,
                                        Digits digits) const {
    CostParameters costs = free_.costs_at(parameters, digits);
    if (unevenness_) {
      costs.set(SimpleUnevenness, {*unevenness_, CostSource::Fitted});
    }
    return costs;
  }

  [[nodiscard]] FitEvaluation evaluate(const std::vector<double>& parameters) const {
    Simulated simulated = simulate(costs_at(parameters, Digits::All));
    FitEvaluation evaluation;
    evaluation.residuals = std::move(simulated.errors);
    evaluation.jacobian.reserve(calls_->size() * free_.all().size());
    for (const Sensitivities& effects : simulated.effects) {
      free_.add_effects(effects, evaluation.jacobian);
    }
    return evaluation;
  }

  [[nodiscard]] Calibration result_of(const FitResult& fit) const {
    constexpr double close = 0.8;
    constexpr double at_bound = 1e-6;
    Calibration calibration;
    calibration.parameters = costs_at(fit.parameters, Digits::Four);
    calibration.undecided = undecided_;
    std::ranges::sort(calibration.undecided);
    calibration.steps = steps_;
    calibration.converged = fit.converged;
    calibration.errors = prediction_errors(*calls_, calibration.parameters, for_each_);
    const std::vector<FreeParameter>& free = free_.all();
    for (std::size_t k = 0; k < free.size(); ++k) {
      FittedParameter fitted;
      fitted.item = free[k].item;
      fitted.start = start_->value(fitted.item);
      fitted.value = calibration.parameters.value(fitted.item);
      fitted.value.standard_error = fit.standard_errors[k];
      calibration.parameters.set(fitted.item, fitted.value);
      const FitBounds& bounds = free[k].bounds;
      fitted.at_bound =
          fit.parameters[k] - bounds.least < at_bound || bounds.most - fit.parameters[k] < at_bound;
      fitted.followers = free[k].followers;
      calibration.fitted.push_back(fitted);
      for (std::size_t l = k + 1; l < free.size(); ++l) {
        const double correlation = fit.correlations[k * free.size() + l];
        if (std::abs(correlation) > close) {
          calibration.correlated.push_back({free[k].item, free[l].item, correlation});
        }
      }
    }
    std::ranges::sort(calibration.fitted, {}, &FittedParameter::item);
    return calibration;
  }

  const std::vector<MeasuredCall>* calls_;
  const CostParameters* start_;
  const CalibrationOptions* options_;
  ForEach for_each_;
  std::vector<double> weights_;  ///< by call
  FreeParameters free_;
  std::vector<CostItem> undecided_;
  int steps_ = 0;
  std::optional<std::int64_t> unevenness_;  ///< where it was searched for
};

}  // namespace

Calibration calibrate(const std::vector<MeasuredCall>& calls, const CostParameters& start,
                      const CalibrationOptions& options) {
  if (calls.empty()) {
    throw InputError("no row is left to fit to");
  }
  return Calibrator(calls, start, options).run();
}

}  // namespace collsim
