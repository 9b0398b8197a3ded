#include "algorithms/nccl/rings.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr int alternating = 2;

/// The ring of a search channel, from the first rank of its order on node 0 on.
std::vector<Rank> joined(const Graph& ring, RankLayout layout, int channel, bool swaps) {
  std::vector<Rank> ranks;
  ranks.reserve(static_cast<std::size_t>(layout.ranks()));
  for (int node = 0; node < layout.nodes; ++node) {
    const int here = swaps && node % 2 == 1 ? channel ^ 1 : channel;
    for (const int gpu : ring.channels[static_cast<std::size_t>(here)].gpus) {
      ranks.emplace_back(node * layout.ranks_per_node + gpu);
    }
  }
  return ranks;
}

}  // namespace

void check_orders(const Graph& graph, int ranks_per_node, int count) {
  const auto ranks = static_cast<std::size_t>(ranks_per_node);
  for (std::size_t channel = 0; channel < static_cast<std::size_t>(count); ++channel) {
    std::vector<bool> seen(ranks, false);
    const std::vector<int>& gpus = graph.channels[channel].gpus;
    for (const int gpu : gpus) {
      if (gpu < 0 || gpu >= ranks_per_node || seen[static_cast<std::size_t>(gpu)]) {
        throw InputError("a channel must visit each of the node's " +
                             std::to_string(ranks_per_node) + " GPUs once, got GPU " +
                             std::to_string(gpu) + " twice or out of range",
                         "channel[" + std::to_string(channel) + "]");
      }
      seen[static_cast<std::size_t>(gpu)] = true;
    }
    if (gpus.size() != ranks) {
      throw InputError("a channel must visit each of the node's " + std::to_string(ranks_per_node) +
                           " GPUs once, got " + std::to_string(gpus.size()),
                       "channel[" + std::to_string(channel) + "]");
    }
  }
}

std::vector<std::vector<Rank>> build_rings(const GraphSet& graphs, RankLayout layout,
                                           std::span<const ExecutionChannel> channels) {
  const int count = search_channels(graphs);
  check_orders(graphs.ring, layout.ranks_per_node, count);

  // A search channel without a partner has nothing to swap with, so then none does.
  const bool swaps = graphs.ring.cross_nic == alternating && count % 2 == 0;
  std::vector<std::vector<Rank>> of_search(static_cast<std::size_t>(count));
  for (int channel = 0; channel < count; ++channel) {
    std::vector<Rank>& ranks = of_search[static_cast<std::size_t>(channel)];
    ranks = joined(graphs.ring, layout, channel, swaps);
    std::rotate(ranks.begin(), std::find(ranks.begin(), ranks.end(), Rank(0)), ranks.end());
  }

  std::vector<std::vector<Rank>> rings;
  rings.reserve(channels.size());
  for (const ExecutionChannel& channel : channels) {
    rings.push_back(of_search.at(static_cast<std::size_t>(channel.search_channel)));
  }
  return rings;
}

}  // namespace collsim::nccl
