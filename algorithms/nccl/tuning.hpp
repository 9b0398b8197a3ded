#pragma once
// NCCL's tuning model: for every function, algorithm and protocol a latency and a bandwidth, or the
// rule that excludes it.
//
// The model chooses; how long a collective really takes is another matter (the simulation's).
//   time = latency · pipelined operations + bytes / (1000 · bandwidth)
// in us, with bytes the larger of what a rank sends and receives. All of it is computed in `float`,
// in NCCL's order of operations, since rounding decides between equal candidates.
//
// Source: NCCL 2.28.9, src/graph/tuning.cc; older and newer formulas as TuningConstants names them.

#include <cstdint>
#include <optional>
#include <string_view>

#include "algorithms/nccl/channels.hpp"
#include "algorithms/nccl/vocabulary.hpp"

namespace collsim::nccl {

/// Why an entry takes no part.
enum class Exclusion : std::uint8_t {
  OneRank,               ///< nothing to model
  NotImplemented,        ///< the function has no such algorithm
  SimpleOnly,            ///< the algorithm has no such protocol
  PatDisabled,           ///< PAT is for one rank a node, sm 60 and up, or NCCL_PAT_ENABLE=1
  NvlsDisabled,          ///< no NVLS here
  NvlsFewChannels,       ///< NVLS needs two search channels
  NvlsTreeOneNode,       ///< NVLSTree joins nodes
  NvlsNeedsCollNet,      ///< NVLS over several nodes
  CollNetDisabled,       ///< no plugin, or not switched on
  CollNetNeedsNvSwitch,  ///< CollNetDirect
  CollNetNoOperation,    ///< the plugin (or NVLS with it) lacks the function
  CollNetFewHeads,       ///< AG and RS need a head for each local rank
  LL128OverNetwork,      ///< the way to the NIC may reorder
  LL128InNode,           ///< the way between GPUs may reorder
  LL128MixedGpus,        ///< different compute capabilities
  LL128OldGpu,           ///< compute capability
  LL128Cuda118,          ///< fault of CUDA 11.8
  AlgorithmRestricted,   ///< NCCL_ALGO
  ProtocolRestricted,    ///< NCCL_PROTO
  NoBandwidth,           ///< the model gives it 0 GB/s
  // Of a call, not of the table:
  CollNetManyRanks,  ///< more than 8 ranks on a node
  NvlsManyRanks,     ///< AG and RS, more local ranks than NVLS has heads
  NvlsType,          ///< type or reduction
  PatAverage,        ///< ReduceScatter with an average
};

/// The rule in words, for a reader: "NVLSTree needs several nodes".
[[nodiscard]] std::string_view rule(Exclusion exclusion);

struct TuningEntry {
  float latency{0};    ///< us; of an excluded entry what NCCL's log shows
  float bandwidth{0};  ///< GB/s; 0 where excluded
  std::optional<Exclusion> excluded{};
};

using TuningTable = ByFunction<ByAlgorithm<ByProtocol<TuningEntry>>>;

/// The whole table. Throws: InputError where the configuration asks for what the version lacks.
/// Complexity: O(1).
[[nodiscard]] TuningTable tuning_table(const TuningInput& input);

/// What the decisions for single calls are made from.
struct Tuning {
  Channels channels{};
  TuningTable table{};
};

[[nodiscard]] Tuning tune(const TuningInput& input);

}  // namespace collsim::nccl
