#include "algorithms/nccl/trees.hpp"

#include <algorithm>
#include <cstddef>

#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

/// The lowest power of two that a node's number contains; for node 0 the least that is not less
/// than the number of nodes.
int level_of(int nodes, int node) {
  int bit = 1;
  while (bit < nodes && (node & bit) == 0) {
    bit *= 2;
  }
  return bit;
}

/// The binary tree whose root is node 0 and whose leaves are the odd nodes.
NodeTree binary_tree(int nodes, int node) {
  NodeTree place;
  const int level = level_of(nodes, node);
  if (node == 0) {
    // Its only child has a greater number, which makes it the second one.
    if (nodes > 1) {
      place.second_down = level / 2;
    }
    return place;
  }
  const int above = (node ^ level) | (2 * level);
  place.up = above < nodes ? above : node ^ level;
  place.first_child = node < *place.up;
  if (level == 1) {
    return place;
  }
  place.first_down = node - level / 2;
  for (int distance = level / 2; distance > 0; distance /= 2) {
    if (node + distance < nodes) {
      place.second_down = node + distance;
      break;
    }
  }
  return place;
}

template <class Rename>
NodeTree renamed(const NodeTree& place, Rename rename) {
  NodeTree result = place;
  for (std::optional<int>* node : {&result.up, &result.first_down, &result.second_down}) {
    if (*node) {
      *node = rename(**node);
    }
  }
  return result;
}

/// The positions in the chain at which child nodes are joined.
struct ChildPositions {
  std::size_t first;
  std::size_t second;
};

ChildPositions child_positions(Pattern pattern, std::size_t ranks_per_node) {
  if (ranks_per_node == 1) {
    return {0, 0};
  }
  switch (pattern) {
    case Pattern::BalancedTree:
      return {1, 0};
    case Pattern::SplitTree:
      return {1, 1};
    default:
      return {0, 0};
  }
}

/// One search channel's chain of GPUs, and how it is joined to other nodes.
class ChannelTree {
 public:
  ChannelTree(const Graph& tree, RankLayout layout, ExecutionChannel channel)
      : layout_(layout),
        tree_(channel.tree),
        gpus_(tree.channels[static_cast<std::size_t>(channel.search_channel)].gpus),
        children_(child_positions(tree.pattern, gpus_.size())) {}

  /// Of the rank at a position of the chain of a node, whose place among the nodes is given.
  [[nodiscard]] TreeLinks links(int node, const NodeTree& place, std::size_t position) const {
    TreeLinks links;
    if (position > 0) {
      links.up = rank(node, position - 1);
    } else if (place.up) {
      links.up = rank(*place.up, place.first_child ? children_.first : children_.second);
    }
    if (position + 1 < gpus_.size()) {
      links.down.push_back(rank(node, position + 1));
    }
    if (place.first_down && position == children_.first) {
      links.down.push_back(rank(*place.first_down, 0));
    }
    if (place.second_down && position == children_.second) {
      links.down.push_back(rank(*place.second_down, 0));
    }
    return links;
  }

  [[nodiscard]] NodeTree place(int node) const { return double_tree(layout_.nodes, node, tree_); }
  [[nodiscard]] Rank rank(int node, std::size_t position) const {
    return Rank(node * layout_.ranks_per_node + gpus_[position]);
  }
  [[nodiscard]] std::size_t length() const { return gpus_.size(); }
  [[nodiscard]] std::size_t position_of(int gpu) const {
    return static_cast<std::size_t>(std::find(gpus_.begin(), gpus_.end(), gpu) - gpus_.begin());
  }

 private:
  RankLayout layout_;
  int tree_;
  const std::vector<int>& gpus_;
  ChildPositions children_;
};

}  // namespace

NodeTree double_tree(int nodes, int node, int tree) {
  if (tree == 0) {
    return binary_tree(nodes, node);
  }
  if (nodes % 2 == 0) {
    const auto mirrored = [nodes](int other) { return nodes - 1 - other; };
    return renamed(binary_tree(nodes, mirrored(node)), mirrored);
  }
  return renamed(binary_tree(nodes, (node - 1 + nodes) % nodes),
                 [nodes](int other) { return (other + 1) % nodes; });
}

std::vector<std::vector<TreeLinks>> build_trees(const Graph& tree, RankLayout layout,
                                                std::span<const ExecutionChannel> channels) {
  check_orders(tree, layout.ranks_per_node, static_cast<int>(tree.channels.size()));
  std::vector<std::vector<TreeLinks>> trees;
  trees.reserve(channels.size());
  for (const ExecutionChannel& channel : channels) {
    const ChannelTree channel_tree(tree, layout, channel);
    std::vector<TreeLinks> links(static_cast<std::size_t>(layout.ranks()));
    for (int node = 0; node < layout.nodes; ++node) {
      const NodeTree place = channel_tree.place(node);
      for (std::size_t position = 0; position < channel_tree.length(); ++position) {
        links[channel_tree.rank(node, position).index()] =
            channel_tree.links(node, place, position);
      }
    }
    trees.push_back(std::move(links));
  }
  return trees;
}

std::vector<TreeLinks> tree_links(const Graph& tree, RankLayout layout,
                                  std::span<const ExecutionChannel> channels, Rank rank) {
  COLLSIM_ENSURE(static_cast<int>(rank.value()) < layout.ranks(), "a rank of the communicator");
  check_orders(tree, layout.ranks_per_node, static_cast<int>(tree.channels.size()));
  const int node = static_cast<int>(rank.value()) / layout.ranks_per_node;
  const int gpu = static_cast<int>(rank.value()) % layout.ranks_per_node;
  std::vector<TreeLinks> links;
  links.reserve(channels.size());
  for (const ExecutionChannel& channel : channels) {
    const ChannelTree channel_tree(tree, layout, channel);
    links.push_back(
        channel_tree.links(node, channel_tree.place(node), channel_tree.position_of(gpu)));
  }
  return links;
}

}  // namespace collsim::nccl
