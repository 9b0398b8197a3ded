#pragma once
// NCCL's search for the channels of a node: attempts with ever laxer wishes (channels may differ,
// simpler trees, worse paths inside, worse paths to the NICs, NICs of other rails, less speed), then a
// second pass that raises the speed of what was found. The best graph is the one that carries most;
// among equals the first found with the fewest links.
//
// Budgets (visits) end a search early, as in NCCL: the answer is NCCL's, not the optimum.
//
// Source: NCCL 2.28.9, src/graph/search.cc, src/init.cc; reference vectors in the tests.

#include <cstddef>
#include <optional>

#include "algorithms/nccl/detect.hpp"
#include "algorithms/nccl/graph.hpp"
#include "algorithms/nccl/options.hpp"

namespace collsim::nccl {

/// Searches all of them. Several nodes: what holds for one holds for each, if they are equal.
/// Complexity: bounded by SearchConstants::visits_in_all visits a graph.
[[nodiscard]] GraphSet search_graphs(const DetectedNode& node, const SearchOptions& options = {});

/// Which graph is searched.
struct GraphWish {
  Pattern pattern{Pattern::Ring};
  std::size_t least_channels{1};
  std::size_t most_channels{1};
  bool collnet{false};  ///< only over network devices that reduce in the network
};

/// Searches one graph. Without any channel NCCL falls back to one in the order of the file, at
/// 0.1 GB/s (ring and tree), or to none (NVLS and CollNet).
[[nodiscard]] Graph search_graph(const DetectedNode& node, const SearchOptions& options,
                                 const GraphWish& wish);

}  // namespace collsim::nccl
