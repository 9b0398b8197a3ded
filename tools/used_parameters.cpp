#include "tools/used_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "study/sensitivities.hpp"
#include "tools/format_text.hpp"

namespace collsim {

namespace {

/// Of two sources the one to doubt more.
CostSource less_trusted(CostSource a, CostSource b) {
  static constexpr std::array order{CostSource::Measured, CostSource::Fitted, CostSource::Nominal,
                                    CostSource::Literature, CostSource::Estimate};
  return std::ranges::find(order, a) < std::ranges::find(order, b) ? b : a;
}

/// The least trusted source of the values that a set sets and that `decides` picks.
template <class Decides>
UsedParameters parameters_where(const CostParameters& costs, const Decides& decides) {
  const CostParameters free;
  std::optional<CostSource> weakest;
  for (const CostDefinition& definition : cost_definitions()) {
    const CostValue& value = costs.value(definition.item);
    const bool is_set = value.units != free.value(definition.item).units;
    if (is_set && decides(definition.item)) {
      weakest = less_trusted(weakest.value_or(value.source), value.source);
    }
  }
  UsedParameters used;
  used.name = costs.name;
  used.provenance = name_of(weakest.value_or(CostSource::Nominal));
  used.tier = costs.tier;
  used.records = costs.records;
  return used;
}

/// Whether it is of kernels, or copy engines, that no measured table of ours has.
bool is_for_windows(const Program& program) {
  if (program.lane_count(Rank(0)) == 0) {
    return false;
  }
  const Kernel kernel = program.lane(Rank(0), 0).kernel;
  return is_symmetric(kernel) || kernel == Kernel::CopyEngine;
}

}  // namespace

UsedParameters whole_set(const CostParameters& costs) {
  return parameters_where(costs, [](CostItem) { return true; });
}

UsedParameters used_parameters(const CostParameters& costs, const Cluster& cluster,
                               const CollectiveJob& job, std::uint32_t nodes,
                               const CollectiveResult& result) {
  constexpr double decides = 0.01;
  const auto programs = programs_of(cluster, job);
  const Program& program = *programs.front();
  const Sensitivities effects = sensitivities(cluster, program, result);
  UsedParameters used = parameters_where(costs, [&effects](CostItem item) {
    return std::abs(effects.at(static_cast<std::size_t>(item))) >= decides;
  });
  used.outside = outside(costs.records, job.call, nodes);
  if (!costs.records.empty() && is_for_windows(program)) {
    used.outside.push_back(
        {"kernels", std::string(program.algorithm()), "those for buffers nobody registered"});
  }
  return used;
}

std::string parameters_text(const UsedParameters& used) {
  std::string text = used.name + ": ";
  text += used.tier ? std::string(name_of(*used.tier)) : "source " + used.provenance;
  for (const CalibrationRecord& record : used.records) {
    text += fmt::format(", {} median error, {} 90th percentile on {} measured calls",
                        human_percent(record.median_error), human_percent(record.p90_error),
                        grouped(record.points));
  }
  return text;
}

std::string outside_text(const UsedParameters& used) {
  std::string text;
  for (const OutsideFit& outside : used.outside) {
    text += (text.empty() ? "outside of what was fitted: " : "; ") + outside.what + " " +
            outside.found + " (" + outside.fitted + ")";
  }
  return text;
}

}  // namespace collsim
