#pragma once

// Systems of flows for tests of the solver, written short.

#include <cstdint>
#include <vector>

#include "sim/fair_share.hpp"

namespace collsim::test {

struct Flow {
  std::vector<ResourceUse> uses;
  std::uint32_t weight = 1;
  std::uint32_t multiplicity = 1;
  std::int64_t cap = 0;
};

/// A use of a resource that takes numerator / denominator of the flow's rate.
inline ResourceUse on(std::uint32_t resource, std::uint32_t numerator = 1,
                      std::uint32_t denominator = 1) {
  return ResourceUse{resource, numerator, denominator};
}

inline std::vector<FairShare> solve(const std::vector<std::int64_t>& capacities,
                                    const std::vector<Flow>& flows) {
  std::vector<FairShareFlow> definitions;
  for (const Flow& flow : flows) {
    definitions.push_back({flow.uses, flow.weight, flow.multiplicity, flow.cap});
  }
  FairShareSolver solver;
  std::vector<FairShare> shares;
  solver.solve(capacities, definitions, shares);
  return shares;
}

}  // namespace collsim::test
