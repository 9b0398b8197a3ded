#pragma once

// Executions as small as tests want them: what NCCL would deal out to channels and cut into chunks,
// with any number of channels and any chunk.

#include <cstdint>
#include <vector>

#include "algorithms/nccl/execution.hpp"

namespace collsim::test {

struct SmallExecution {
  CollectiveKind kind = CollectiveKind::AllReduce;
  std::uint32_t ranks = 2;
  std::int64_t count = 1;
  std::uint32_t channels = 1;
  std::int64_t chunk = 1;  ///< elements
  InPlace in_place = InPlace::Yes;
  DataType type = DataType::Float32;
};

/// Those that every program is tried on: 2 to 16, 24, 32 and 64.
std::vector<std::uint32_t> rank_counts();

/// Equal parts, the last channel's the rest; channels without a part are left out.
nccl::Execution make(nccl::Algorithm algorithm, const SmallExecution& small);

/// What the switch and the ranks' NVLinks carry of a program's steps, in bytes.
struct MultimemTraffic {
  std::vector<Bytes> up;    ///< by rank: from the rank to the switch
  std::vector<Bytes> down;  ///< from the switch to the rank
};
/// Reading through the switch takes the step's bytes out of every sender and the rank itself, and
/// brings them once; writing takes them once and brings them to every receiver and the rank itself.
MultimemTraffic multimem_traffic(const Program& program);

/// What is wrong with a program by its laws or its data; empty: nothing.
std::string fault_of(const Program& program);

}  // namespace collsim::test
