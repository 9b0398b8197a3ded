#include "study/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "study/parameter_ratios.hpp"
#include "study/sensitivities.hpp"
#include "topology/error.hpp"
#include "validate/direct_search.hpp"

namespace collsim {

namespace {

using enum CostItem;

constexpr double whole_share = 1'000'000;
/// How far values may go from where literature has them.
constexpr double farthest = 8;
/// Of a link's nominal rate at least this is had.
constexpr double least_share = 0.25;
/// Parameters that change no call by more than this part of theirs are left alone.
constexpr double least_effect = 0.02;

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

/// More would not be known anyway, and files stay readable. In bytes a second a rate has a short text.
double four_digits(double value) {
  constexpr double digits = 1000;
  if (!(value > digits)) {
    return value;
  }
  const double step = std::pow(10, std::floor(std::log10(value / digits)));
  return std::round(value / step) * step;
}

struct FreeParameter {
  CostItem item{};
  std::vector<CostItem> followers;
  FitBounds bounds;
};

class Calibrator {
 public:
  Calibrator(const std::vector<MeasuredCall>& calls, const CostParameters& start,
             const CalibrationOptions& options)
      : calls_(&calls), start_(&start), options_(&options) {
    for_each_ = options.for_each ? options.for_each : one_by_one();
  }

  Calibration run() {
    choose_free();
    const std::vector<FreeParameter> all = free_;
    FitResult fit = decide(solve({}));
    if (!undecided_.empty()) {
      // What is not decided far from the optimum may be so near it.
      std::vector<double> begin = values_of(all, fit);
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
      give_up(*worst);
      fit = solve(std::move(begin));
    }
    return fit;
  }

  /// Where other free parameters stand after a fit: themselves, or with what they follow.
  [[nodiscard]] std::vector<double> values_of(const std::vector<FreeParameter>& wanted,
                                              const FitResult& fit) const {
    std::vector<double> values;
    for (const FreeParameter& parameter : wanted) {
      const auto found = std::ranges::find_if(free_, [&](const FreeParameter& leader) {
        return leader.item == parameter.item ||
               std::ranges::find(leader.followers, parameter.item) != leader.followers.end();
      });
      const double value = found == free_.end()
                               ? 0
                               : fit.parameters[static_cast<std::size_t>(found - free_.begin())];
      values.push_back(std::clamp(value, parameter.bounds.least, parameter.bounds.most));
    }
    return values;
  }

  [[nodiscard]] FitResult solve(std::vector<double> begin) {
    std::vector<FitBounds> bounds;
    bounds.reserve(free_.size());
    for (const FreeParameter& parameter : free_) {
      bounds.push_back(parameter.bounds);
    }
    FitOptions options = options_->fit;
    options.begin = std::move(begin);
    FitResult fit = least_squares(
        [this](const std::vector<double>& parameters) { return evaluate(parameters); }, bounds,
        weights_of(*calls_), options);
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
      const bool is_free =
          std::ranges::find(free_, definition.item, &FreeParameter::item) != free_.end();
      if (definition.unit == CostUnit::RateUnits && may_be_free(definition.item) && !is_free) {
        search_rate(definition.item, fit);
      }
    }
  }

  void search_rate(CostItem item, FitResult& fit) {
    const std::vector<FreeParameter> before = free_;
    for (FreeParameter& parameter : free_) {
      std::erase(parameter.followers, item);
    }
    free_.push_back({item, {}, bounds_of(definition_of(item))});
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
    return robust_loss(simulate(costs_at(parameters, Digits::All)).errors, weights_of(*calls_),
                       options_->fit.scale);
  }

  /// Whether another value of what has no gradient does better.
  bool search_unevenness(const FitResult& fit) {
    const std::int64_t start = start_->value(SimpleUnevenness).units;
    const bool decided = std::ranges::any_of(
        free_, [](const FreeParameter& parameter) { return parameter.item == SimpleLocalRate; });
    if (start == 0 || !decided || options_->tier != ParameterTier::Fitted) {
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

  [[nodiscard]] bool may_be_free(CostItem item) const {
    const std::vector<CostItem>& only = options_->only;
    const bool wanted = only.empty() || std::ranges::find(only, item) != only.end();
    return wanted && start_->value(item).units > 0 && item != SimpleUnevenness &&
           definition_of(item).unit != CostUnit::Bytes;
  }

  void choose_free() {
    if (options_->tier == ParameterTier::Nominal) {
      return;
    }
    const Simulated simulated = simulate(*start_);
    for (const CostDefinition& definition : cost_definitions()) {
      const auto index = static_cast<std::size_t>(definition.item);
      double effect = 0;
      for (const Sensitivities& effects : simulated.effects) {
        effect = std::max(effect, std::abs(effects.at(index)));
      }
      if (may_be_free(definition.item) && effect >= least_effect) {
        free_.push_back({definition.item, {}, bounds_of(definition)});
      }
    }
    // Leaders first: whom a leader of another one follows leads that as well.
    for (const CostDefinition& definition : cost_definitions()) {
      const bool is_free =
          std::ranges::find(free_, definition.item, &FreeParameter::item) != free_.end();
      if (!may_be_free(definition.item) ||
          (is_free && options_->tier != ParameterTier::Generation)) {
        continue;
      }
      if (FreeParameter* const leader = free_leader(definition.item)) {
        leader->followers.push_back(definition.item);
        std::erase_if(free_, [&](const FreeParameter& parameter) {
          return parameter.item == definition.item;
        });
      }
    }
  }

  [[nodiscard]] FreeParameter* free_leader(CostItem item) {
    const std::optional<CostItem> leader = leader_of(item);
    if (!leader) {
      return nullptr;
    }
    const auto found = std::ranges::find(free_, *leader, &FreeParameter::item);
    return found == free_.end() ? nullptr : &*found;
  }

  /// A parameter that the data do not decide follows its leader, with all that follow it; without one, it goes back to
  /// its start.
  void give_up(std::size_t index) {
    const FreeParameter given_up = std::move(free_[index]);
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(index));
    undecided_.push_back(given_up.item);
    if (FreeParameter* const leader = free_leader(given_up.item)) {
      leader->followers.push_back(given_up.item);
      leader->followers.insert(leader->followers.end(), given_up.followers.begin(),
                               given_up.followers.end());
    }
  }

  [[nodiscard]] FitBounds bounds_of(const CostDefinition& definition) const {
    const auto value = static_cast<double>(start_->value(definition.item).units);
    FitBounds bounds{-std::log(farthest), std::log(farthest)};
    if (definition.unit == CostUnit::Millionths) {
      bounds.least = std::min(std::log(least_share * whole_share / value), 0.0);
      bounds.most = std::max(std::log(whole_share / value), 0.0);
    }
    return bounds;
  }

  enum class Digits : std::uint8_t { All, Four };

  [[nodiscard]] static CostValue scaled(const CostDefinition& definition, const CostValue& start,
                                        double by, Digits digits, CostSource source) {
    // Rates in bytes a second: these have a short text.
    const double unit = definition.unit == CostUnit::RateUnits
                            ? static_cast<double>(Bandwidth::units_per_byte_per_second)
                            : 1;
    const double most = definition.unit == CostUnit::Millionths ? whole_share : 9e18;
    double value = static_cast<double>(start.units) * std::exp(by) / unit;
    if (digits == Digits::Four) {
      value = four_digits(value);
    }
    return {std::max<std::int64_t>(std::llround(std::min(value * unit, most)), 1), source};
  }

  [[nodiscard]] CostParameters costs_at(const std::vector<double>& parameters,
                                        Digits digits) const {
    CostParameters costs = *start_;
    for (std::size_t k = 0; k < free_.size(); ++k) {
      const auto set = [&](CostItem item, CostSource source) {
        costs.set(item,
                  scaled(definition_of(item), start_->value(item), parameters[k], digits, source));
      };
      set(free_[k].item, CostSource::Fitted);
      for (const CostItem follower : free_[k].followers) {
        set(follower, CostSource::Estimate);
      }
    }
    if (unevenness_) {
      costs.set(SimpleUnevenness, {*unevenness_, CostSource::Fitted});
    }
    return costs;
  }

  [[nodiscard]] FitEvaluation evaluate(const std::vector<double>& parameters) const {
    Simulated simulated = simulate(costs_at(parameters, Digits::All));
    FitEvaluation evaluation;
    evaluation.residuals = std::move(simulated.errors);
    evaluation.jacobian.reserve(calls_->size() * free_.size());
    for (const Sensitivities& effects : simulated.effects) {
      for (const FreeParameter& parameter : free_) {
        double effect = effects.at(static_cast<std::size_t>(parameter.item));
        for (const CostItem follower : parameter.followers) {
          effect += effects.at(static_cast<std::size_t>(follower));
        }
        evaluation.jacobian.push_back(effect);
      }
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
    for (std::size_t k = 0; k < free_.size(); ++k) {
      FittedParameter fitted;
      fitted.item = free_[k].item;
      fitted.start = start_->value(fitted.item);
      fitted.value = calibration.parameters.value(fitted.item);
      fitted.value.standard_error = fit.standard_errors[k];
      calibration.parameters.set(fitted.item, fitted.value);
      const FitBounds& bounds = free_[k].bounds;
      fitted.at_bound =
          fit.parameters[k] - bounds.least < at_bound || bounds.most - fit.parameters[k] < at_bound;
      fitted.followers = free_[k].followers;
      calibration.fitted.push_back(fitted);
      for (std::size_t l = k + 1; l < free_.size(); ++l) {
        const double correlation = fit.correlations[k * free_.size() + l];
        if (std::abs(correlation) > close) {
          calibration.correlated.push_back({free_[k].item, free_[l].item, correlation});
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
  std::vector<FreeParameter> free_;
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
