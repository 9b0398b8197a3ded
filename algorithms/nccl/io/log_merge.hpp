#pragma once
// From what each rank wrote to communicators: what all ranks print is taken from the lowest one, names
// of GPUs and NICs become ranks within the node and device numbers, choices find their communicator.

#include "algorithms/nccl/io/log_ranks.hpp"

namespace collsim::nccl {

/// All but the counts of lines. What the ranks hold is moved out of them.
[[nodiscard]] NcclLog merge_ranks(LogRanks& gathered);

}  // namespace collsim::nccl
