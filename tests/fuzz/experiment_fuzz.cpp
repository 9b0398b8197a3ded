// Any bytes as an experiment: text → grid, formulas and plot, and figures of its first points. Nothing but InputError
// may come out.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "study/io/read_experiment.hpp"
#include "study/point_metrics.hpp"
#include "topology/error.hpp"

// The name and the types are libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as characters
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const collsim::LoadedExperiment loaded = collsim::parse_experiment(text, "fuzz.yaml");
    std::vector<collsim::MetricValue> figures;
    for (const collsim::MetricDefinition& metric : collsim::metric_definitions()) {
      figures.push_back({metric.name, 1});
    }
    constexpr std::size_t some = 100;
    for (std::size_t i = 0; i < std::min(loaded.points.size(), some); ++i) {
      static_cast<void>(collsim::all_metrics(loaded.experiment, loaded.points[i], figures));
      static_cast<void>(collsim::assignments_at(loaded.experiment, loaded.points[i]));
    }
  } catch (const collsim::InputError& error) {
    static_cast<void>(error.render());
  }
  return 0;
}
