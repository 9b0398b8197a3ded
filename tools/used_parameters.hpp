#pragma once

// What output says of the cost parameters that a result depends on: how far they can be trusted for it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/collective_run.hpp"
#include "sim/costs.hpp"
#include "topology/cluster.hpp"

namespace collsim {

struct UsedParameters {
  std::string name;
  /// The least trusted source of a value that decides a hundredth of the time or more.
  std::string provenance;
  std::optional<ParameterTier> tier;
  std::vector<CalibrationRecord> records;
  std::vector<OutsideFit> outside;  ///< of what was fitted
};

/// Those of a set as a whole, whatever it is used for: `outside` is empty.
[[nodiscard]] UsedParameters whole_set(const CostParameters& costs);

[[nodiscard]] UsedParameters used_parameters(const CostParameters& costs, const Cluster& cluster,
                                             const CollectiveJob& job, std::uint32_t nodes,
                                             const CollectiveResult& result);

/// "nccl-hopper: fitted, 2.2 % median error, 7.0 % 90th percentile on 504 measured calls".
[[nodiscard]] std::string parameters_text(const UsedParameters& used);
/// "outside of what was fitted: size 4 GiB (512 B to 512 MiB)"; empty where it is inside.
[[nodiscard]] std::string outside_text(const UsedParameters& used);

}  // namespace collsim
