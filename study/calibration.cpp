#include "study/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "topology/error.hpp"

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

/// What follows which in Tier::Generation, in the ratio of the start.
std::optional<CostItem> leader_of(CostItem item) {
  switch (item) {
    case LLStart:
    case LaunchSendRecv:
      return LaunchCollective;
    case LLWideCopy:
    case LLWideReduce:
    case LLPassCopy:
    case LLPassReduce:
    case LL128HopNvlink:
    case LaunchPeer:
      return LLHopNvlink;
    case SendRecvHandoffNvlink:
      return SimpleHandoffNvlink;
    case SimpleSliceReduce:
      return SimpleSliceCopy;
    case ShareNvlinkSendRecv:
    case SimpleLocalRate:
    case SimpleChannelRate:
    case SimpleNarrowRate:
    case LL128GpuRate:
    case SendRecvChannelRate:
    case SendRecvReceiveRate:
      return ShareNvlink;
    case MulticastHandoff:
    case MulticastStart:
      return MulticastStage;
    case MulticastCopyRate:
      return ShareNvlinkMulticast;
    default:
      return std::nullopt;
  }
}

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

void one_by_one(std::size_t count, const std::function<void(std::size_t)>& body) {
  for (std::size_t i = 0; i < count; ++i) {
    body(i);
  }
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
    for_each_ = options.for_each ? options.for_each : ForEach(one_by_one);
  }

  Calibration run() {
    choose_free();
    std::vector<FitBounds> bounds;
    for (const FreeParameter& parameter : free_) {
      bounds.push_back(parameter.bounds);
    }
    const FitResult fit = least_squares(
        [this](const std::vector<double>& parameters) { return evaluate(parameters); }, bounds,
        weights_of(*calls_), options_->fit);
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
      simulated.effects[i] = sensitivities(call, result);
    });
    return simulated;
  }

  [[nodiscard]] bool may_be_free(CostItem item) const {
    const std::vector<CostItem>& only = options_->only;
    const bool wanted = only.empty() || std::ranges::find(only, item) != only.end();
    return wanted && start_->value(item).units > 0 && item != SimpleUnevenness;
  }

  void choose_free() {
    if (options_->tier == Tier::Nominal) {
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
    if (options_->tier == Tier::Generation) {
      let_follow();
    }
  }

  /// Those whose leader is free are no longer so themselves.
  void let_follow() {
    for (const CostDefinition& definition : cost_definitions()) {
      const std::optional<CostItem> leader = leader_of(definition.item);
      if (!leader || !may_be_free(definition.item)) {
        continue;
      }
      const auto led = std::ranges::find(free_, *leader, &FreeParameter::item);
      if (led != free_.end()) {
        led->followers.push_back(definition.item);
      }
    }
    std::erase_if(free_, [this](const FreeParameter& parameter) {
      return std::ranges::any_of(free_, [&](const FreeParameter& leader) {
        return std::ranges::find(leader.followers, parameter.item) != leader.followers.end();
      });
    });
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

  [[nodiscard]] static CostValue scaled(const CostDefinition& definition, const CostValue& start,
                                        double by) {
    const double most = definition.unit == CostUnit::Millionths ? whole_share : 9e18;
    const double units = std::min(static_cast<double>(start.units) * std::exp(by), most);
    return {std::max<std::int64_t>(std::llround(units), 1), CostSource::Fitted};
  }

  [[nodiscard]] CostParameters costs_at(const std::vector<double>& parameters) const {
    CostParameters costs = *start_;
    for (std::size_t k = 0; k < free_.size(); ++k) {
      const auto set = [&](CostItem item) {
        costs.set(item, scaled(definition_of(item), start_->value(item), parameters[k]));
      };
      set(free_[k].item);
      std::ranges::for_each(free_[k].followers, set);
    }
    return costs;
  }

  [[nodiscard]] FitEvaluation evaluate(const std::vector<double>& parameters) const {
    Simulated simulated = simulate(costs_at(parameters));
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
    constexpr double undecided = 0.35;  // relative error
    constexpr double close = 0.8;
    constexpr double at_bound = 1e-6;
    Calibration calibration;
    calibration.parameters = costs_at(fit.parameters);
    calibration.steps = fit.steps;
    calibration.converged = fit.converged;
    for (const double residual : fit.residuals) {
      calibration.errors.push_back(std::exp(residual) - 1);
    }
    for (std::size_t k = 0; k < free_.size(); ++k) {
      FittedParameter fitted;
      fitted.item = free_[k].item;
      fitted.start = start_->value(fitted.item);
      fitted.value = calibration.parameters.value(fitted.item);
      fitted.standard_error = fit.standard_errors[k];
      const FitBounds& bounds = free_[k].bounds;
      fitted.at_bound =
          fit.parameters[k] - bounds.least < at_bound || bounds.most - fit.parameters[k] < at_bound;
      fitted.determined = !fitted.at_bound && fitted.standard_error < undecided;
      calibration.fitted.push_back(fitted);
      for (std::size_t l = k + 1; l < free_.size(); ++l) {
        const double correlation = fit.correlations[k * free_.size() + l];
        if (std::abs(correlation) > close) {
          calibration.correlated.push_back({free_[k].item, free_[l].item, correlation});
        }
      }
    }
    return calibration;
  }

  const std::vector<MeasuredCall>* calls_;
  const CostParameters* start_;
  const CalibrationOptions* options_;
  ForEach for_each_;
  std::vector<FreeParameter> free_;
};

}  // namespace

std::string_view name_of(Tier tier) {
  switch (tier) {
    case Tier::Fitted:
      return "fitted";
    case Tier::Generation:
      return "generation";
    case Tier::Nominal:
      return "nominal";
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

Calibration calibrate(const std::vector<MeasuredCall>& calls, const CostParameters& start,
                      const CalibrationOptions& options) {
  if (calls.empty()) {
    throw InputError("no row is left to fit to");
  }
  return Calibrator(calls, start, options).run();
}

std::vector<double> prediction_errors(const std::vector<MeasuredCall>& calls,
                                      const CostParameters& costs, const ForEach& for_each) {
  std::vector<double> errors(calls.size());
  (for_each ? for_each : ForEach(one_by_one))(calls.size(), [&](std::size_t i) {
    errors[i] = relative_error(predict(calls[i], costs).time, calls[i].row->time);
  });
  return errors;
}

}  // namespace collsim
