#include "tools/sweep_check.hpp"

#include <cstddef>
#include <optional>
#include <vector>

#include "study/job_keys.hpp"
#include "tools/sweep_point.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// The first points that have each of the axes' values.
std::vector<std::size_t> covering_points(const LoadedExperiment& loaded) {
  std::vector<std::vector<bool>> seen;
  seen.reserve(loaded.experiment.axes.size());
  for (const Axis& axis : loaded.experiment.axes) {
    seen.emplace_back(axis.values.size(), false);
  }
  std::vector<std::size_t> points;
  for (std::size_t point = 0; point < loaded.points.size(); ++point) {
    bool is_new = false;
    for (std::size_t axis = 0; axis < seen.size(); ++axis) {
      const std::uint32_t value = loaded.points[point].values[axis];
      is_new = is_new || !seen[axis][value];
      seen[axis][value] = true;
    }
    if (is_new) {
      points.push_back(point);
    }
  }
  return points;
}

/// What a fault says in an experiment, if it is about this value of `base`.
std::optional<std::string> message_about(const Assignment& one, const InputError& fault) {
  const auto ends_with_key = [&one](std::string_view prefix) {
    return one.key.starts_with(prefix) ? std::optional(one.key.substr(prefix.size()))
                                       : std::nullopt;
  };
  if (const auto path = ends_with_key(setting_prefix)) {
    if (fault.location().file != "--set " + *path + "=" + one.value) {
      return std::nullopt;
    }
    return (fault.path() == *path ? "" : fault.path() + ": ") + fault.message();
  }
  if (const auto variable = ends_with_key(variable_prefix)) {
    const std::string prefix = *variable + ": ";
    if (fault.path() == "--env" && fault.message().starts_with(prefix)) {
      return fault.message().substr(prefix.size());
    }
    const bool is_it =
        fault.path() == "--env" && fault.message().find(in_quotes(*variable)) != std::string::npos;
    return is_it ? std::optional(fault.message()) : std::nullopt;
  }
  const bool is_it =
      fault.path() == option_name(one.key) ||
      (fault.path().empty() && fault.message().find(in_quotes(one.value)) != std::string::npos);
  return is_it ? std::optional(fault.message()) : std::nullopt;
}

}  // namespace

void require_a_possible_point(const LoadedExperiment& experiment,
                              const std::string& config_directory) {
  PointRunner runner(experiment, config_directory);
  std::optional<InputError> first;
  for (const std::size_t point : covering_points(experiment)) {
    const std::optional<InputError> fault = runner.fault(point);
    if (!fault || (first && fault->render() != first->render())) {
      return;
    }
    first = first ? first : fault;
  }
  for (const Assignment& one : experiment.experiment.base) {
    if (const std::optional<std::string> message = message_about(one, *first)) {
      throw InputError(*message, "base." + one.key, first->hint(),
                       experiment.base_places.at(one.key));
    }
  }
  throw InputError(*first);
}

}  // namespace collsim
