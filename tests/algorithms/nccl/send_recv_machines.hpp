#pragma once

// Machines and calls for the programs of sends and receives.

#include <cstdint>

#include "algorithms/collective.hpp"
#include "tests/algorithms/nccl/reference_machines.hpp"

namespace collsim::nccl::test {

/// Nodes of H100 with any number of GPUs.
inline ReferenceMachine h100_nodes(int nodes, int gpus) {
  ReferenceMachine machine = h100(nodes);
  machine.communicator.ranks = nodes * gpus;
  machine.communicator.min_ranks_per_node = gpus;
  machine.communicator.max_ranks_per_node = gpus;
  return machine;
}

/// A call of bytes (int8): what goes from one rank to another.
inline CollectiveCall call_of(CollectiveKind kind, int ranks, std::int64_t bytes) {
  CollectiveCall call;
  call.kind = kind;
  call.ranks = static_cast<std::uint32_t>(ranks);
  call.count = bytes;
  call.type = DataType::Int8;
  call.in_place = InPlace::No;
  return call;
}

}  // namespace collsim::nccl::test
