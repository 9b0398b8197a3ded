#pragma once

// Which GPUs a job runs on and in what order: from a few numbers to a communicator.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/workload.hpp"
#include "topology/graph.hpp"

namespace collsim {

/// The order of ranks.
enum class Placement : std::uint8_t {
  Block,   ///< node by node: ranks 0 … g-1 on the first node
  Cyclic,  ///< round robin: rank r on node r mod nodes
  Random,  ///< node by node, the nodes drawn at random: what a busy scheduler gives
  Listed,  ///< as `listed` says
};
[[nodiscard]] std::string_view name_of(Placement placement);

/// A GPU by name ("node3.gpu0"), and where a list has it.
struct ListedGpu {
  std::string name;
  std::uint32_t line = 0;  ///< 1-based; 0: unknown
  std::uint32_t column = 0;
};

struct PlacementRequest {
  std::optional<std::uint32_t> nodes;  ///< the first so many nodes; default: all
  /// Or these, in this order ("node[0-3,7]"); empty: see `nodes`.
  std::string node_list;
  std::optional<std::uint32_t> gpus_per_node;  ///< the first so many GPUs of each; default: all
  std::optional<std::uint32_t> ranks;          ///< the first so many of those, filling nodes
  Placement order = Placement::Block;
  std::uint64_t seed = 0;         ///< of Placement::Random
  std::vector<ListedGpu> listed;  ///< for Placement::Listed: a GPU a rank
  std::string list_name;          ///< the file with the list, for messages
};

/// The GPUs of a job, in rank order.
/// Throws: InputError naming the option ("--ranks", "--nodes", …) where the cluster has not so many,
/// a name is unknown (with the nearest) or occurs twice (both with its place), or a list is combined with counts.
[[nodiscard]] Communicator place_ranks(const Graph& graph, const PlacementRequest& request);

/// How many nodes the GPUs are on. GPUs without a node count as one.
[[nodiscard]] std::uint32_t nodes_of(const Graph& graph, const Communicator& gpus);

}  // namespace collsim
