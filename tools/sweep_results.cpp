#include "tools/sweep_results.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "study/point_metrics.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

using Json = nlohmann::ordered_json;

std::vector<MetricValue> simulated_metrics(const Json& json) {
  std::vector<MetricValue> metrics;
  for (const MetricDefinition& definition : metric_definitions()) {
    const auto found = json.find(definition.name);
    const bool is_known = found != json.end() && found->is_number();
    metrics.push_back(
        {definition.name, is_known ? std::optional(found->get<double>()) : std::nullopt});
  }
  return metrics;
}

std::string text_of(const Json& json) {
  return json.is_string() ? json.get<std::string>() : std::string();
}

SizePoint size_point(const Json& row) {
  return {Bytes(row["bytes"].get<std::int64_t>()), Duration(row["time_ps"].get<std::int64_t>()),
          text_of(row["algorithm"]) + " " + text_of(row["protocol"])};
}

/// Of metrics that are shown or drawn.
std::vector<std::string> names_in_use(const Experiment& experiment) {
  std::vector<std::string> names = experiment.metrics;
  if (experiment.plot) {
    // Some of these are axes, which are no metrics.
    names.insert(names.end(), {experiment.plot->x, experiment.plot->y, experiment.plot->value});
  }
  return names;
}

std::optional<double> value_of(const std::vector<MetricValue>& metrics, const std::string& name) {
  const auto found = std::ranges::find(metrics, name, &MetricValue::name);
  return found == metrics.end() ? std::nullopt : found->value;
}

PointResult result_of(const SweepResults& results, std::size_t index) {
  PointResult result;
  result.index = index;
  const Json json = Json::parse(results.line(index));
  if (json.contains("row")) {
    const std::vector<MetricValue> all = all_metrics(
        results.experiment(), results.loaded->points[index], simulated_metrics(json["metrics"]));
    result.metrics.reserve(results.names.size());
    for (const std::string& name : results.names) {
      result.metrics.push_back(value_of(all, name));
    }
    result.size = size_point(json["row"]);
  } else {
    result.failure = json["failure"]["message"].get<std::string>();
    result.exit_code = json["failure"]["exit_code"].get<int>();
  }
  return result;
}

/// The axis that is one of sizes and of nothing else.
std::optional<std::size_t> axis_of_sizes(const Experiment& experiment) {
  for (std::size_t axis = 0; axis < experiment.axes.size(); ++axis) {
    const bool is_it =
        std::ranges::all_of(experiment.axes[axis].values, [](const AxisValue& value) {
          return value.assignments.size() == 1 && value.assignments.front().key == "bytes";
        });
    if (is_it) {
      return axis;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> SweepResults::metric(const PointResult& point,
                                           const std::string& name) const {
  if (point.failed()) {
    return std::nullopt;
  }
  const auto found = std::ranges::find(names, name);
  COLLSIM_ENSURE(found != names.end(), "the metric is shown or drawn");
  return point.metrics[static_cast<std::size_t>(found - names.begin())];
}

Json SweepResults::row(const PointResult& point) const {
  return Json::parse(line(point.index))["row"];
}

std::size_t SweepResults::failures() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(points, [](const PointResult& point) { return point.failed(); }));
}

SweepResults results_of(const LoadedExperiment& loaded, std::string digest,
                        std::function<std::string(std::size_t)> line) {
  SweepResults results;
  results.loaded = &loaded;
  results.digest = std::move(digest);
  results.names = names_in_use(loaded.experiment);
  results.line = std::move(line);
  results.points.reserve(loaded.points.size());
  for (std::size_t point = 0; point < loaded.points.size(); ++point) {
    results.points.push_back(result_of(results, point));
  }
  return results;
}

std::vector<std::string> falling_warnings(const SweepResults& results) {
  const Experiment& experiment = results.experiment();
  const std::optional<std::size_t> sizes = axis_of_sizes(experiment);
  if (!sizes) {
    return {};
  }
  std::map<std::vector<std::uint32_t>, std::vector<const PointResult*>> series;
  for (const PointResult& point : results.points) {
    if (point.failed()) {
      continue;
    }
    std::vector<std::uint32_t> others = results.loaded->points[point.index].values;
    others[*sizes] = 0;
    series[others].push_back(&point);
  }
  std::vector<std::string> warnings;
  for (auto& [others, points] : series) {
    std::ranges::stable_sort(points, {}, [](const PointResult* point) { return point->size.size; });
    std::vector<SizePoint> curve;
    std::ranges::transform(points, std::back_inserter(curve),
                           [](const PointResult* point) { return point->size; });
    for (const std::size_t fall : falling_times(curve)) {
      warnings.push_back(point_text(experiment, results.loaded->points[points[fall]->index]) +
                         ": takes less time than fewer bytes with the same algorithm and protocol");
    }
  }
  return warnings;
}

}  // namespace collsim
