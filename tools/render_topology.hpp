#pragma once

// What a cluster is made of, as `topology show` prints it: devices, links, cuts, and every value in
// force with where it comes from.

#include <string>

#include "tools/topology_summary.hpp"
#include "topology/cluster.hpp"

namespace collsim {

/// `extent`: of the matrices of path types; a readable one fits a page.
[[nodiscard]] std::string render_topology_table(const Cluster& cluster, MatrixExtent extent);
/// collsim/topology/1; docs/output.md lists the fields.
[[nodiscard]] std::string render_topology_json(const Cluster& cluster,
                                               const std::string& input_digest,
                                               MatrixExtent extent);
/// The values in force alone.
[[nodiscard]] std::string render_topology_csv(const Cluster& cluster);

}  // namespace collsim
