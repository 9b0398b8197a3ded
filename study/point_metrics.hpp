#pragma once

// What a simulated point is measured by: the time and what follows from it, where the time goes, and how many parts
// the cluster has (all of it, whatever part of it the job uses).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/collective_run.hpp"
#include "study/experiment.hpp"
#include "topology/cluster.hpp"

namespace collsim {

struct MetricDefinition {
  std::string name;
  std::string heading;  ///< of a column, with the unit
  Better better = Better::Higher;
};

/// In the order of metrics_of.
[[nodiscard]] const std::vector<MetricDefinition>& metric_definitions();

/// Those that are shown where an experiment does not say.
[[nodiscard]] std::vector<std::string> usual_metrics();

/// What a cost can be given for, and the metric that says how many of them there are.
struct PartKind {
  std::string_view name;    ///< "nic"
  std::string_view metric;  ///< "cluster_nics"
};
[[nodiscard]] const std::vector<PartKind>& part_kinds();

/// One value for each definition. `nodes` are those of the job; `channels` those that run.
[[nodiscard]] std::vector<MetricValue> metrics_of(const Cluster& cluster, const CollectiveJob& job,
                                                  std::uint32_t nodes, std::uint32_t channels,
                                                  const CollectiveResult& result);

}  // namespace collsim
