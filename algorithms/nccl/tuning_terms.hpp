#pragma once
// The parts of the tuning model: which graph an algorithm runs on, its bandwidth, its latency, its
// exclusion. See tuning.hpp.

#include "algorithms/nccl/tuning.hpp"

namespace collsim::nccl {

/// A place in the tuning table.
struct TableKey {
  Function function{};
  Algorithm algorithm{};
  Protocol protocol{};
};

/// The graph an algorithm runs on; null if there is none.
[[nodiscard]] const Graph* graph_of(const GraphSet& graphs, Algorithm algorithm);

/// Search channels of that graph, as the model counts them.
[[nodiscard]] int channels_of(const GraphSet& graphs, Algorithm algorithm);

/// Steps of a ring from one rank to the next.
[[nodiscard]] int ring_steps(Function function, int ranks);

[[nodiscard]] inline bool gathers_or_scatters(Function function) {
  return function == Function::AllGather || function == Function::ReduceScatter;
}

[[nodiscard]] inline bool is_collnet(Algorithm algorithm) {
  return algorithm == Algorithm::CollNetDirect || algorithm == Algorithm::CollNetChain;
}

[[nodiscard]] inline bool is_nvls(Algorithm algorithm) {
  return algorithm == Algorithm::Nvls || algorithm == Algorithm::NvlsTree;
}

/// floor(log2(value)) for value > 0.
[[nodiscard]] int floor_log2(int value);

/// GB/s to divide the bytes of a call by. Requires: the algorithm has a graph.
[[nodiscard]] float model_bandwidth(const TuningInput& input, TableKey key);

/// us; without a graph as with an empty one.
[[nodiscard]] float model_latency(const TuningInput& input, TableKey key);

/// The first rule that excludes an entry before its bandwidth is known.
[[nodiscard]] std::optional<Exclusion> exclusion(const TuningInput& input, TableKey key);

}  // namespace collsim::nccl
