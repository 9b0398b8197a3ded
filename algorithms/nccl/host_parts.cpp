#include "algorithms/nccl/host_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>

#include "algorithms/nccl/graph_search.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

[[noreturn]] void refuse(std::size_t part, const std::string& what) {
  throw InputError(
      "NCCL takes groups of GPUs of the host for nodes, and they are not alike: group " +
          std::to_string(part) + " has other " + what + " than group 0",
      {}, "GPUs that reach each other sooner over NICs are in different groups");
}

/// A graph of a part whose lowest rank is `first`, with the ranks of the first part in its place.
void renumber(Graph& graph, int first) {
  for (GraphChannel& channel : graph.channels) {
    for (int& gpu : channel.gpus) {
      gpu -= first;
    }
  }
}

bool same_orders(const Graph& a, const Graph& b) {
  return std::ranges::equal(a.channels, b.channels, {}, &GraphChannel::gpus, &GraphChannel::gpus);
}

/// NICs have other numbers in every part.
bool alike(const Graph& a, const Graph& b) {
  const auto figures = [](const Graph& graph) {
    return std::tuple(graph.pattern, graph.cross_nic, graph.same_channels, graph.bandwidth_intra,
                      graph.bandwidth_inter, graph.latency_inter, graph.type_intra,
                      graph.type_inter);
  };
  return figures(a) == figures(b) && same_orders(a, b);
}

bool alike(std::optional<Graph> part, int first, const std::optional<Graph>& of_first) {
  if (!part || !of_first) {
    return part.has_value() == of_first.has_value();
  }
  renumber(*part, first);
  return alike(*part, *of_first);
}

bool alike(const GraphSet& part, int first, const GraphSet& of_first) {
  return alike(part.ring, first, of_first.ring) && alike(part.tree, first, of_first.tree) &&
         alike(part.nvls, first, of_first.nvls) &&
         alike(part.collnet_chain, first, of_first.collnet_chain) &&
         alike(part.collnet_direct, first, of_first.collnet_direct);
}

}  // namespace

int like_parts(const Machine& machine, NodeCount nodes, const SearchOptions& search,
               const DetectedNode& node, const GraphSet& graphs) {
  // Graphs of a file hold for every node.
  const bool given = search.given_ring || search.given_tree || search.given_nvls;
  for (std::size_t part = 1; part < node.part_ranks.size(); ++part) {
    const int first = node.part_ranks[part];
    const DetectedNode other =
        detect(machine, nodes, node.options, static_cast<std::size_t>(first));
    if (other.gpus.size() != node.gpus.size()) {
      refuse(part, "numbers of GPUs");
    }
    for (std::size_t i = 0; i < other.gpus.size(); ++i) {
      const int rank = other.system.part(other.gpus[i]).gpu.rank;
      if (static_cast<std::size_t>(rank) != part * node.gpus.size() + i) {
        refuse(part, "ranks (those behind are expected)");
      }
    }
    if (!given && !alike(search_graphs(other, search), first, graphs)) {
      refuse(part, "graphs");
    }
  }
  return static_cast<int>(node.part_ranks.size());
}

}  // namespace collsim::nccl
