#include "tools/used_parameters.hpp"

#include <fmt/format.h>

#include <cmath>

#include "study/sensitivities.hpp"
#include "tools/format_text.hpp"

namespace collsim {

namespace {

int doubt(CostSource source) {
  switch (source) {
    case CostSource::Measured:
      return 0;
    case CostSource::Fitted:
      return 1;
    case CostSource::Nominal:
      return 2;
    case CostSource::Literature:
      return 3;
    case CostSource::Estimate:
      return 4;
  }
  return 4;
}

/// Of the values that decide the time.
CostSource weakest(const CostParameters& costs, const Sensitivities& effects) {
  constexpr double decides = 0.01;
  CostSource source = CostSource::Measured;
  bool any = false;
  const CostParameters free;
  for (const CostDefinition& definition : cost_definitions()) {
    const CostSource own = costs.value(definition.item).source;
    if (costs.value(definition.item).units == free.value(definition.item).units) {
      continue;  // nobody says anything of it
    }
    const double effect = effects.at(static_cast<std::size_t>(definition.item));
    if (std::abs(effect) >= decides && (!any || doubt(own) > doubt(source))) {
      source = own;
      any = true;
    }
  }
  return any ? source : CostSource::Nominal;
}

}  // namespace

UsedParameters used_parameters(const CostParameters& costs, const Cluster& cluster,
                               const CollectiveJob& job, std::uint32_t nodes,
                               const CollectiveResult& result) {
  UsedParameters used;
  used.name = costs.name;
  used.tier = costs.tier;
  used.records = costs.records;
  used.provenance =
      name_of(weakest(costs, sensitivities(cluster, *programs_of(cluster, job).front(), result)));
  for (const CalibrationRecord& record : costs.records) {
    for (OutsideFit& outside : outside(record, job.call, nodes)) {
      used.outside.push_back(std::move(outside));
    }
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
