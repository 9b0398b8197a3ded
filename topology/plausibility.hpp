#pragma once

// What is legal in a description but hardly meant: slips of units, links that are missing in one
// direction, rails that are not alike, devices that carry nothing.
//
// A finding is a suspicion: there are machines on which each of them is right. What cannot be built
// is an error of build_graph and no finding.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/cluster.hpp"

namespace collsim {

struct Finding {
  std::string check;    ///< which check found it: "nic-speed"
  std::string path;     ///< the place in the document: "fabric.link.bandwidth"
  std::string message;  ///< what is odd, with numbers and names
  std::string hint;     ///< what may have been meant; may be empty
};

/// A check, and what it looks for.
struct PlausibilityCheck {
  std::string_view name;
  std::string_view looks_for;
};

/// All of them, in the order in which they are made.
[[nodiscard]] std::vector<PlausibilityCheck> plausibility_checks();

/// In the order of the checks. Slips of units are looked for in ClusterSpec::values, as the reader
/// fills them in; everything else in the graph. What holds for many devices is one finding, which
/// names the first.
/// Complexity: O(links · log² links).
[[nodiscard]] std::vector<Finding> implausible(const Cluster& cluster);

}  // namespace collsim
