#pragma once

// The figures of this machine as a cluster that stands for the host backend.

#include <string>

#include "tools/machine_facts.hpp"
#include "validate/host/host_figures.hpp"

namespace collsim {

/// YAML, each figure with what it was measured by.
[[nodiscard]] std::string render_host_cluster(const HostFigures& figures,
                                              const MachineFacts& facts);

}  // namespace collsim
