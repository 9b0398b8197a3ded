#pragma once

// What `topology check` prints: what is odd about a cluster, with the place in its description.

#include <string>
#include <vector>

#include "tools/cluster_options.hpp"
#include "topology/plausibility.hpp"

namespace collsim {

/// As a compiler prints warnings, then a table of the checks.
[[nodiscard]] std::string render_check_table(const Machine& machine,
                                             const std::vector<Finding>& findings);
/// collsim/topology-check/1; docs/output.md lists the fields.
[[nodiscard]] std::string render_check_json(const Machine& machine,
                                            const std::vector<Finding>& findings);
/// One line a finding.
[[nodiscard]] std::string render_check_csv(const Machine& machine,
                                           const std::vector<Finding>& findings);

}  // namespace collsim
