#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "algorithms/nccl/log_findings.hpp"
#include "algorithms/nccl/rings.hpp"
#include "algorithms/nccl/trees.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

/// A graph of the log and the predicted one of the same role.
struct GraphPair {
  std::string name{};
  const Graph* predicted{nullptr};
  const LoggedGraph* logged{nullptr};
};

bool is_tree(Pattern pattern) {
  return pattern == Pattern::BalancedTree || pattern == Pattern::SplitTree ||
         pattern == Pattern::Tree;
}

/// NCCL prints ring, tree, CollNet, NVLS in this order; the pattern tells which is which, and the
/// second tree is CollNet's chain.
std::vector<GraphPair> pair_graphs(const GraphSet& graphs, const std::vector<LoggedGraph>& logged) {
  std::vector<GraphPair> pairs{{"ring", &graphs.ring, nullptr},
                               {"tree", &graphs.tree, nullptr},
                               {"NVLS", graphs.nvls ? &*graphs.nvls : nullptr, nullptr}};
  for (const LoggedGraph& graph : logged) {
    const Pattern pattern = graph.graph.pattern;
    const std::size_t at = pattern == Pattern::Ring ? 0 : is_tree(pattern) ? 1 : 2;
    if (pattern != Pattern::CollNetDirect && pairs.at(at).logged == nullptr) {
      pairs.at(at).logged = &graph;
    }
  }
  return pairs;
}

std::string pattern_text(const Graph& graph) {
  switch (graph.pattern) {
    case Pattern::BalancedTree:
      return "balanced tree";
    case Pattern::SplitTree:
      return "split tree";
    case Pattern::Tree:
      return "tree";
    case Pattern::Ring:
      return "ring";
    case Pattern::Nvls:
      return "NVLS";
    case Pattern::CollNetDirect:
      return "CollNet direct";
  }
  return "";
}

bool has_heads(const Graph& graph) { return graph.pattern == Pattern::Nvls; }

std::string order_text(const GraphChannel& channel, bool heads, bool nics) {
  std::string text = heads && !channel.gpus.empty() ? std::to_string(channel.gpus.front())
                                                    : ranks_text(channel.gpus);
  if (nics && channel.nic_in && channel.nic_out) {
    text = "NIC " + std::to_string(*channel.nic_in) + ": " + text + ", NIC " +
           std::to_string(*channel.nic_out);
  }
  return text;
}

void compare_orders(const GraphPair& pair, bool nics, Findings& findings) {
  const auto& predicted = pair.predicted->channels;
  const auto& logged = pair.logged->graph.channels;
  if (logged.empty() && !predicted.empty()) {
    findings.missing(pair.name + " graph: orders");
  }
  for (std::size_t i = 0; i < logged.size(); ++i) {
    const bool heads = has_heads(*pair.predicted);
    const std::string other = order_text(logged[i], heads, nics);
    const std::string ours =
        i < predicted.size() ? order_text(predicted[i], heads, nics) : "no such channel";
    findings.compare(pair.name + " graph: channel " + std::to_string(i), ours == other, ours,
                     other);
  }
}

void compare_pair(const GraphPair& pair, bool several_nodes, Findings& findings) {
  const Graph& predicted = *pair.predicted;
  const Graph& logged = pair.logged->graph;
  const auto compare = [&](const char* what, const std::string& ours, const std::string& other) {
    findings.compare(pair.name + " graph: " + what, ours == other, ours, other);
  };
  compare("channels", std::to_string(predicted.channels.size()),
          std::to_string(pair.logged->stated_channels));
  compare("pattern", pattern_text(predicted), pattern_text(logged));
  compare("GB/s inside", plain_text(predicted.bandwidth_intra), plain_text(logged.bandwidth_intra));
  compare("path inside", std::string(name(predicted.type_intra)),
          std::string(name(logged.type_intra)));
  compare("same channels", predicted.same_channels ? "yes" : "no",
          logged.same_channels ? "yes" : "no");
  if (several_nodes) {
    compare("GB/s to other nodes", plain_text(predicted.bandwidth_inter),
            plain_text(logged.bandwidth_inter));
    compare("path to NICs", std::string(name(predicted.type_inter)),
            std::string(name(logged.type_inter)));
    compare("crossNic", std::to_string(predicted.cross_nic), std::to_string(logged.cross_nic));
  }
  compare_orders(pair, several_nodes, findings);
}

/// The ranks around the first difference, or the first ones.
std::string around(std::span<const int> ranks, std::size_t at) {
  constexpr std::size_t shown = 16;
  const std::size_t begin = at < shown ? 0 : at - 2;
  const std::size_t end = std::min(ranks.size(), begin + shown);
  return (begin > 0 ? "… " : "") + ranks_text(ranks.subspan(begin, end - begin)) +
         (end < ranks.size() ? " …" : "");
}

using Ring = std::vector<int>;

std::vector<Ring> predicted_rings(const Decisions& decisions) {
  std::vector<Ring> rings;
  for (const std::vector<Rank>& ring : build_rings(decisions.graphs(), decisions.layout(),
                                                   decisions.tuning().channels.collective)) {
    Ring numbers;
    numbers.reserve(ring.size());
    for (const Rank rank : ring) {
      numbers.push_back(static_cast<int>(rank.value()));
    }
    rings.push_back(std::move(numbers));
  }
  return rings;
}

void compare_ring(const std::vector<Ring>& predicted, const LoggedRing& ring, Findings& findings) {
  const std::string what = "ring " + std::to_string(ring.channel);
  const auto channel = static_cast<std::size_t>(ring.channel);
  if (channel >= predicted.size()) {
    findings.compare(what, false, "no such channel", around(ring.ranks, 0));
    return;
  }
  const Ring& ours = predicted[channel];
  const auto [mine, other] = std::ranges::mismatch(ours, ring.ranks);
  const auto at = static_cast<std::size_t>(other - ring.ranks.begin());
  findings.compare(what, other == ring.ranks.end(), around(ours, at), around(ring.ranks, at));
}

/// Positions of ranks in a ring. Shapes: result[rank].
std::vector<std::size_t> positions(const Ring& ring) {
  std::vector<std::size_t> result(ring.size());
  for (std::size_t i = 0; i < ring.size(); ++i) {
    result[static_cast<std::size_t>(ring[i])] = i;
  }
  return result;
}

std::string neighbours_text(int previous, int rank, int next) {
  return std::to_string(previous) + " > " + std::to_string(rank) + " > " + std::to_string(next);
}

void compare_neighbours(const std::vector<Ring>& predicted,
                        const std::vector<LoggedNeighbours>& logged, Findings& findings) {
  std::map<std::size_t, std::vector<std::size_t>> places;
  for (const LoggedNeighbours& line : logged) {
    const auto channel = static_cast<std::size_t>(line.channel);
    const auto rank = static_cast<std::size_t>(line.rank);
    std::string ours = "no such channel";
    if (channel < predicted.size() && rank < predicted[channel].size()) {
      const Ring& ring = predicted[channel];
      if (!places.contains(channel)) {
        places[channel] = positions(ring);
      }
      const std::size_t at = places[channel][rank];
      ours = neighbours_text(ring[(at + ring.size() - 1) % ring.size()], line.rank,
                             ring[(at + 1) % ring.size()]);
    }
    const std::string other = neighbours_text(line.previous, line.rank, line.next);
    findings.compare(
        "ring " + std::to_string(line.channel) + " at rank " + std::to_string(line.rank),
        ours == other, ours, other);
  }
}

std::string tree_text(std::span<const int> down, int rank, std::optional<int> up) {
  return (down.empty() ? std::string("none") : ranks_text(down)) + " > " + std::to_string(rank) +
         " > " + (up ? std::to_string(*up) : "none");
}

std::string tree_text(const TreeLinks& links, int rank) {
  std::vector<int> down;
  down.reserve(links.down.size());
  for (const Rank child : links.down) {
    down.push_back(static_cast<int>(child.value()));
  }
  return tree_text(down, rank,
                   links.up ? std::optional(static_cast<int>(links.up->value())) : std::nullopt);
}

}  // namespace

std::vector<LogFinding> compare_graphs(const Decisions& decisions, const LoggedCommunicator& log) {
  Findings findings(LogSubject::Graphs);
  if (log.graphs.empty()) {
    findings.missing("graphs");
    return findings.take();
  }
  const bool several = decisions.communicator().nodes > 1 && log.nodes.value_or(2) > 1;
  for (const GraphPair& pair : pair_graphs(decisions.graphs(), log.graphs)) {
    if (pair.predicted != nullptr && pair.logged != nullptr) {
      compare_pair(pair, several, findings);
    } else if (pair.predicted != nullptr || pair.logged != nullptr) {
      findings.compare(pair.name + " graph", false, pair.predicted != nullptr ? "there" : "none",
                       pair.logged != nullptr ? "there" : "none");
    }
  }
  return findings.take();
}

std::vector<LogFinding> compare_rings(const Decisions& decisions, const LoggedCommunicator& log) {
  Findings findings(LogSubject::Rings);
  if (log.rings.empty() && log.neighbours.empty()) {
    findings.missing("rings");
    return findings.take();
  }
  const std::vector<Ring> predicted = predicted_rings(decisions);
  for (const LoggedRing& ring : log.rings) {
    compare_ring(predicted, ring, findings);
  }
  compare_neighbours(predicted, log.neighbours, findings);
  return findings.take();
}

std::vector<LogFinding> compare_trees(const Decisions& decisions, const LoggedCommunicator& log) {
  Findings findings(LogSubject::Trees);
  if (log.trees.empty()) {
    findings.missing("trees");
    return findings.take();
  }
  std::map<int, std::vector<TreeLinks>> of_rank;
  for (const LoggedTree& tree : log.trees) {
    std::string ours = "no such channel";
    if (tree.rank < decisions.communicator().ranks) {
      if (!of_rank.contains(tree.rank)) {
        of_rank[tree.rank] = tree_links(decisions.graphs().tree, decisions.layout(),
                                        decisions.tuning().channels.collective,
                                        Rank(static_cast<std::uint32_t>(tree.rank)));
      }
      const auto& channels = of_rank[tree.rank];
      if (static_cast<std::size_t>(tree.channel) < channels.size()) {
        ours = tree_text(channels[static_cast<std::size_t>(tree.channel)], tree.rank);
      }
    }
    const std::string other = tree_text(tree.down, tree.rank, tree.up);
    findings.compare(
        "tree " + std::to_string(tree.channel) + " at rank " + std::to_string(tree.rank),
        ours == other, ours, other);
  }
  return findings.take();
}

}  // namespace collsim::nccl
