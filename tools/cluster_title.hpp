#pragma once

// What a cluster's file says of it, in the outputs for people: counts and speeds in its words may be
// others after --set, and then this is said.

#include <string>

#include "topology/spec.hpp"

namespace collsim {

/// The description; behind "changed by --set; its file says: " where it is not sure to hold. Empty
/// where there is none.
[[nodiscard]] std::string description_text(const ClusterSpec& spec);

/// The name and the description: "dgx-h100: one NVIDIA DGX H100", "mine, changed by --set; …".
[[nodiscard]] std::string cluster_title(const ClusterSpec& spec);

}  // namespace collsim
