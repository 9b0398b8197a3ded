#pragma once
// A program of NCCL's whose connections go through what its transports go through.

#include <memory>

#include "algorithms/nccl/connection_paths.hpp"
#include "algorithms/program.hpp"

namespace collsim::nccl {

/// The same program with the waypoints of its connections; where there are none, itself.
[[nodiscard]] std::unique_ptr<Program> with_waypoints(std::unique_ptr<Program> program,
                                                      ConnectionTables tables);

}  // namespace collsim::nccl
