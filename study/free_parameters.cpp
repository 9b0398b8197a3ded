#include "study/free_parameters.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "study/parameter_ratios.hpp"

namespace collsim {

namespace {

constexpr double whole_share = 1'000'000;
/// How far values may go from where literature has them.
constexpr double farthest = 8;
/// Of a link's nominal rate at least this is had.
constexpr double least_share = 0.25;
/// Parameters that change no call by more than this part of theirs are left alone.
constexpr double least_effect = 0.02;

/// As files have it.
double four_digits(double value) {
  constexpr double digits = 1000;
  if (!(value > digits)) {
    return value;
  }
  const double step = std::pow(10, std::floor(std::log10(value / digits)));
  return std::round(value / step) * step;
}

CostValue scaled(const CostDefinition& definition, const CostValue& start, double by, Digits digits,
                 CostSource source) {
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

}  // namespace

void FreeParameters::choose(std::span<const Sensitivities> effects) {
  for (const CostDefinition& definition : cost_definitions()) {
    const auto index = static_cast<std::size_t>(definition.item);
    double effect = 0;
    for (const Sensitivities& of_call : effects) {
      effect = std::max(effect, std::abs(of_call.at(index)));
    }
    if (may_hold(definition.item) && effect >= least_effect) {
      free_.push_back({definition.item, {}, bounds_of(definition)});
    }
  }
  for (const CostDefinition& definition : cost_definitions()) {
    if (!may_hold(definition.item) ||
        (holds(definition.item) && tier_ != ParameterTier::Generation)) {
      continue;
    }
    if (FreeParameter* const leader = free_leader(definition.item)) {
      leader->followers.push_back(definition.item);
      std::erase_if(
          free_, [&](const FreeParameter& parameter) { return parameter.item == definition.item; });
    }
  }
}

bool FreeParameters::holds(CostItem item) const {
  return std::ranges::find(free_, item, &FreeParameter::item) != free_.end();
}

bool FreeParameters::may_hold(CostItem item) const {
  const bool wanted = only_.empty() || std::ranges::find(only_, item) != only_.end();
  return wanted && start_->value(item).units > 0 && item != CostItem::SimpleUnevenness &&
         definition_of(item).unit != CostUnit::Bytes;
}

std::vector<FitBounds> FreeParameters::bounds() const {
  std::vector<FitBounds> bounds;
  bounds.reserve(free_.size());
  for (const FreeParameter& parameter : free_) {
    bounds.push_back(parameter.bounds);
  }
  return bounds;
}

CostItem FreeParameters::give_up(std::size_t index) {
  const FreeParameter given_up = std::move(free_[index]);
  free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(index));
  if (FreeParameter* const leader = free_leader(given_up.item)) {
    leader->followers.push_back(given_up.item);
    leader->followers.insert(leader->followers.end(), given_up.followers.begin(),
                             given_up.followers.end());
  }
  return given_up.item;
}

void FreeParameters::stand_alone(CostItem item) {
  for (FreeParameter& parameter : free_) {
    std::erase(parameter.followers, item);
  }
  free_.push_back({item, {}, bounds_of(definition_of(item))});
}

std::vector<double> FreeParameters::moved_to(const FreeParameters& others,
                                             std::span<const double> parameters) const {
  std::vector<double> values;
  values.reserve(others.free_.size());
  for (const FreeParameter& parameter : others.free_) {
    const auto found = std::ranges::find_if(free_, [&](const FreeParameter& leader) {
      return leader.item == parameter.item ||
             std::ranges::find(leader.followers, parameter.item) != leader.followers.end();
    });
    const double value =
        found == free_.end() ? 0 : parameters[static_cast<std::size_t>(found - free_.begin())];
    values.push_back(std::clamp(value, parameter.bounds.least, parameter.bounds.most));
  }
  return values;
}

CostParameters FreeParameters::costs_at(std::span<const double> parameters, Digits digits) const {
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
  return costs;
}

void FreeParameters::add_effects(const Sensitivities& effects, std::vector<double>& row) const {
  for (const FreeParameter& parameter : free_) {
    double effect = effects.at(static_cast<std::size_t>(parameter.item));
    for (const CostItem follower : parameter.followers) {
      effect += effects.at(static_cast<std::size_t>(follower));
    }
    row.push_back(effect);
  }
}

FreeParameter* FreeParameters::free_leader(CostItem item) {
  for (std::optional<CostItem> leader = leader_of(item); leader; leader = leader_of(*leader)) {
    const auto found = std::ranges::find(free_, *leader, &FreeParameter::item);
    if (found != free_.end()) {
      return &*found;
    }
  }
  return nullptr;
}

FitBounds FreeParameters::bounds_of(const CostDefinition& definition) const {
  const auto value = static_cast<double>(start_->value(definition.item).units);
  FitBounds bounds{-std::log(farthest), std::log(farthest)};
  if (definition.unit == CostUnit::Millionths) {
    bounds.least = std::min(std::log(least_share * whole_share / value), 0.0);
    bounds.most = std::max(std::log(whole_share / value), 0.0);
  }
  return bounds;
}

}  // namespace collsim
