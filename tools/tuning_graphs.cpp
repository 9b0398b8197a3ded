#include "tools/tuning_graphs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <optional>

#include "algorithms/nccl/rings.hpp"
#include "algorithms/nccl/trees.hpp"

namespace collsim {

std::vector<NamedGraph> named_graphs(const nccl::GraphSet& graphs) {
  std::vector<NamedGraph> named{{"ring", &graphs.ring}, {"tree", &graphs.tree}};
  const auto add = [&named](const char* name, const std::optional<nccl::Graph>& graph) {
    if (graph) {
      named.push_back({name, &*graph});
    }
  };
  add("nvls", graphs.nvls);
  add("collnet_chain", graphs.collnet_chain);
  add("collnet_direct", graphs.collnet_direct);
  return named;
}

bool has_heads(const NamedGraph& graph) {
  // With one GPU a node NVLS has the pattern of a tree.
  return graph.name == "nvls" || graph.name == "collnet_direct";
}

std::string_view pattern_word(nccl::Pattern pattern) {
  switch (pattern) {
    case nccl::Pattern::BalancedTree:
      return "balanced_tree";
    case nccl::Pattern::SplitTree:
      return "split_tree";
    case nccl::Pattern::Tree:
      return "tree";
    case nccl::Pattern::Ring:
      return "ring";
    case nccl::Pattern::Nvls:
      return "nvls";
    case nccl::Pattern::CollNetDirect:
      return "collnet_direct";
  }
  return "";
}

std::string_view rail_word(int cross_nic) {
  switch (cross_nic) {
    case 0:
      return "one rail";
    case 1:
      return "any NIC";
    default:
      return "two rails in turn";
  }
}

std::string channel_text(const NamedGraph& named) {
  const nccl::Graph& graph = *named.graph;
  if (graph.channels.empty()) {
    return "";
  }
  if (has_heads(named)) {
    return fmt::format("heads {}", fmt::join(nccl::heads(graph), " "));
  }
  const nccl::GraphChannel& channel = graph.channels.front();
  std::string text = fmt::format("{}", fmt::join(channel.gpus, " "));
  if (channel.nic_in && channel.nic_out) {
    text = fmt::format("NIC {} > {} > NIC {}", *channel.nic_in, text, *channel.nic_out);
  }
  return text;
}

std::string rings_text(const nccl::Decisions& decisions) {
  std::string text = "\nRings (ranks)\n";
  const auto& channels = decisions.tuning().channels.collective;
  std::size_t number = 0;
  for (const std::vector<Rank>& ring :
       nccl::build_rings(decisions.graphs(), decisions.layout(), channels)) {
    text += fmt::format("  {:2}  ", number++);
    for (const Rank rank : ring) {
      text += fmt::format("{} ", rank.value());
    }
    text.back() = '\n';
  }
  text += "\nTrees of rank 0 (children > 0 > parent)\n";
  number = 0;
  for (const nccl::TreeLinks& links :
       nccl::tree_links(decisions.graphs().tree, decisions.layout(), channels, Rank(0))) {
    text += fmt::format("  {:2}  ", number++);
    for (const Rank down : links.down) {
      text += fmt::format("{} ", down.value());
    }
    text += links.up ? fmt::format("> 0 > {}\n", links.up->value()) : "> 0\n";
  }
  return text;
}

}  // namespace collsim
