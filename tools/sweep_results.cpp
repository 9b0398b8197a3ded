#include "tools/sweep_results.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "study/falling_times.hpp"
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

PointResult result_of(const LoadedExperiment& loaded, std::size_t index, const std::string& line) {
  PointResult result;
  result.index = index;
  Json json = Json::parse(line);
  if (json.contains("row")) {
    result.row = std::move(json["row"]);
    result.metrics =
        all_metrics(loaded.experiment, loaded.points[index], simulated_metrics(json["metrics"]));
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

std::string text_of(const Json& json) {
  return json.is_string() ? json.get<std::string>() : std::string();
}

SizePoint size_point(const PointResult& result) {
  return {Bytes(result.row["bytes"].get<std::int64_t>()),
          Duration(result.row["time_ps"].get<std::int64_t>()),
          text_of(result.row["algorithm"]) + " " + text_of(result.row["protocol"])};
}

}  // namespace

std::optional<double> PointResult::metric(const std::string& name) const {
  if (failed()) {
    return std::nullopt;
  }
  const auto found = std::ranges::find(metrics, name, &MetricValue::name);
  COLLSIM_ENSURE(found != metrics.end(), "the experiment has the metric");
  return found->value;
}

std::size_t SweepResults::failures() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(points, [](const PointResult& point) { return point.failed(); }));
}

SweepResults results_of(const LoadedExperiment& loaded, std::string digest,
                        const std::map<std::size_t, std::string>& lines) {
  SweepResults results;
  results.loaded = &loaded;
  results.digest = std::move(digest);
  for (const auto& [index, line] : lines) {
    results.points.push_back(result_of(loaded, index, line));
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
    std::ranges::stable_sort(points, {}, [](const PointResult* point) {
      return point->row["bytes"].get<std::int64_t>();
    });
    std::vector<SizePoint> curve;
    std::ranges::transform(points, std::back_inserter(curve),
                           [](const PointResult* point) { return size_point(*point); });
    for (const std::size_t fall : falling_times(curve)) {
      warnings.push_back(point_text(experiment, results.loaded->points[points[fall]->index]) +
                         ": takes less time than fewer bytes with the same algorithm and protocol");
    }
  }
  return warnings;
}

}  // namespace collsim
