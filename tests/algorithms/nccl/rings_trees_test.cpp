#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/nccl/rings.hpp"
#include "algorithms/nccl/trees.hpp"
#include "tests/algorithms/nccl/reference_machines.hpp"
#include "tests/catch.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

using test::h100;
using test::ReferenceMachine;

std::string text(const std::vector<Rank>& ranks) {
  std::string result;
  for (const Rank rank : ranks) {
    result += (result.empty() ? "" : " ") + std::to_string(rank.value());
  }
  return result;
}

/// "down 1 16 up -".
std::string text(const TreeLinks& links) {
  return "down " + text(links.down) + " up " +
         (links.up ? std::to_string(links.up->value()) : std::string("-"));
}

/// "parent-child" of every edge of a tree over nodes, in the order of children.
std::string edges(int nodes, int tree) {
  std::string result;
  for (int node = 0; node < nodes; ++node) {
    const NodeTree place = double_tree(nodes, node, tree);
    if (place.up) {
      result +=
          (result.empty() ? "" : " ") + std::to_string(*place.up) + "-" + std::to_string(node);
    }
  }
  return result;
}

std::vector<std::vector<Rank>> rings_of(const ReferenceMachine& machine) {
  return build_rings(machine.graphs,
                     {machine.communicator.nodes, machine.communicator.max_ranks_per_node},
                     execution_channels(machine.input()).collective);
}

std::vector<std::vector<TreeLinks>> trees_of(const ReferenceMachine& machine) {
  return build_trees(machine.graphs.tree,
                     {machine.communicator.nodes, machine.communicator.max_ranks_per_node},
                     execution_channels(machine.input()).collective);
}

/// Follows parents and children of every rank of a tree; empty if all agree and all ranks hang
/// together.
std::string fault(const std::vector<TreeLinks>& tree) {
  std::size_t roots = 0;
  for (std::size_t rank = 0; rank < tree.size(); ++rank) {
    if (!tree[rank].up) {
      ++roots;
    } else {
      const std::vector<Rank>& siblings = tree[tree[rank].up->index()].down;
      if (std::find(siblings.begin(), siblings.end(), Rank(rank)) == siblings.end()) {
        return "rank " + std::to_string(rank) + " is no child of its parent";
      }
    }
    for (const Rank child : tree[rank].down) {
      if (tree[child.index()].up != Rank(rank)) {
        return "rank " + std::to_string(rank) + " is not the parent of its child";
      }
    }
    std::size_t steps = 0;
    for (std::optional<Rank> at = tree[rank].up; at; at = tree[at->index()].up) {
      if (++steps > tree.size()) {
        return "rank " + std::to_string(rank) + " hangs in a circle";
      }
    }
  }
  return roots == 1 ? "" : std::to_string(roots) + " roots";
}

}  // namespace

// NCCL 2.28.9 on two nodes of 8 H100: odd nodes swap the channels of a pair.
TEST_CASE("rings: alternating rings of two nodes") {
  const auto rings = rings_of(h100(2));
  REQUIRE(rings.size() == 16);
  CHECK(text(rings[0]) == "0 7 6 5 4 3 2 1 9 10 11 12 13 14 15 8");
  CHECK(text(rings[1]) == "0 8 15 14 13 12 11 10 9 1 2 3 4 5 6 7");
  CHECK(rings[8] == rings[0]);
  CHECK(rings[15] == rings[7]);
}

TEST_CASE("rings: without alternation every node has the same order") {
  ReferenceMachine machine = h100(2);
  machine.graphs.ring.cross_nic = 1;
  // Channel 0 of both nodes: 0 7 6 5 4 3 2 1.
  CHECK(text(rings_of(machine)[0]) == "0 7 6 5 4 3 2 1 8 15 14 13 12 11 10 9");
}

TEST_CASE("rings: an odd number of search channels does not alternate") {
  ReferenceMachine machine = h100(2);
  machine.graphs.tree.channels.resize(7);  // the ring loses its last channel, too
  CHECK(text(rings_of(machine)[0]) == "0 7 6 5 4 3 2 1 8 15 14 13 12 11 10 9");
}

TEST_CASE("rings: each ring visits every rank once, on 2048 nodes as well") {
  const auto rings = rings_of(h100(2048));
  REQUIRE(rings.size() == 16);
  for (const std::vector<Rank>& ring : rings) {
    std::vector<bool> seen(std::size_t{2048} * 8, false);
    for (const Rank rank : ring) {
      seen.at(rank.index()) = true;
    }
    CHECK(ring.size() == seen.size());
    CHECK(std::count(seen.begin(), seen.end(), false) == 0);
  }
}

TEST_CASE("rings: a channel that does not visit each GPU once is refused") {
  const auto message = [](std::vector<int> gpus) {
    ReferenceMachine machine = h100(2);
    machine.graphs.ring.channels[3].gpus = std::move(gpus);
    try {
      static_cast<void>(rings_of(machine));
    } catch (const InputError& error) {
      return error.render();
    }
    return std::string("accepted");
  };
  CHECK(message({0, 1, 2, 3, 4, 5, 6, 6}) ==
        "error: channel[3]: a channel must visit each of the node's 8 GPUs once, got GPU 6 twice "
        "or out of range");
  CHECK(message({0, 1, 2, 3, 4, 5, 6, 8}) ==
        "error: channel[3]: a channel must visit each of the node's 8 GPUs once, got GPU 8 twice "
        "or out of range");
  CHECK(message({0, 1}) ==
        "error: channel[3]: a channel must visit each of the node's 8 GPUs once, got 2");
}

// Trees over nodes, drawn by hand from the rule of the paper: the parent of a node with lowest set
// bit B is (r xor B) | 2B, or r xor B where that is out of range.
TEST_CASE("trees: the first tree over nodes") {
  CHECK(edges(1, 0).empty());
  CHECK(edges(2, 0) == "0-1");
  CHECK(edges(4, 0) == "2-1 0-2 2-3");
  CHECK(edges(8, 0) == "2-1 4-2 2-3 0-4 6-5 4-6 6-7");
  // 5 nodes: 4 is below 0; 2 is (2 xor 2) | 4 = 4's child; 3's parent is 2.
  CHECK(edges(5, 0) == "2-1 4-2 2-3 0-4");
  // 6 nodes: 5's parent (5 xor 1) | 2 = 6 is out of range, so 4.
  CHECK(edges(6, 0) == "2-1 4-2 2-3 0-4 4-5");
}

TEST_CASE("trees: the second tree is mirrored for even numbers of nodes and shifted for odd") {
  CHECK(edges(2, 1) == "1-0");
  CHECK(edges(4, 1) == "1-0 3-1 1-2");
  // Shifted by one: the edges of tree 0 over 5 nodes, each number one higher modulo 5.
  CHECK(edges(5, 1) == "1-0 3-2 0-3 3-4");
}

TEST_CASE("trees: the first child has the smaller number") {
  const NodeTree two = double_tree(8, 2, 0);
  CHECK(two.first_down == 1);
  CHECK(two.second_down == 3);
  CHECK(two.first_child);
  CHECK_FALSE(double_tree(8, 6, 0).first_child);
  // The root's only child is its second: its number is greater.
  CHECK(double_tree(8, 0, 0) == NodeTree{std::nullopt, std::nullopt, 4, true});
}

// NCCL 2.28.9 on four nodes of 8 H100, channel 0 (pattern TREE).
TEST_CASE("trees: four nodes of chains") {
  const std::vector<TreeLinks> tree = trees_of(h100(4))[0];
  CHECK(text(tree[0]) == "down 1 16 up -");
  CHECK(text(tree[16]) == "down 17 8 24 up 0");
  CHECK(text(tree[8]) == "down 9 up 16");
  CHECK(text(tree[24]) == "down 25 up 16");
  CHECK(text(tree[1]) == "down 2 up 0");
  CHECK(text(tree[7]) == "down  up 6");
}

TEST_CASE("trees: where child nodes are joined depends on the pattern") {
  ReferenceMachine machine = h100(4);
  // Node 2 (ranks 16-23) has children 1 and 3; its chain in channel 0 is 16, 17, …
  machine.graphs.tree.pattern = Pattern::BalancedTree;
  std::vector<TreeLinks> tree = trees_of(machine)[0];
  CHECK(text(tree[16]) == "down 17 24 up 0");  // node 2 is the second child: joined at rank 0
  CHECK(text(tree[17]) == "down 18 8 up 16");
  CHECK(text(tree[8]) == "down 9 up 17");
  machine.graphs.tree.pattern = Pattern::SplitTree;
  tree = trees_of(machine)[0];
  CHECK(text(tree[16]) == "down 17 up 1");
  CHECK(text(tree[17]) == "down 18 8 24 up 16");
  CHECK(text(tree[1]) == "down 2 16 up 0");
}

TEST_CASE("trees: nodes of one GPU are joined at it in every pattern") {
  for (const Pattern pattern : {Pattern::Tree, Pattern::BalancedTree, Pattern::SplitTree}) {
    ReferenceMachine machine = test::single_h100(4);
    machine.graphs.tree.pattern = pattern;
    CHECK(text(trees_of(machine)[0][2]) == "down 1 3 up 0");
  }
}

TEST_CASE("trees: every tree hangs together, on any number of nodes") {
  for (const Pattern pattern : {Pattern::Tree, Pattern::BalancedTree, Pattern::SplitTree}) {
    for (int nodes = 1; nodes <= 40; ++nodes) {
      ReferenceMachine machine = h100(2);
      machine.communicator.nodes = nodes;
      machine.graphs.tree.pattern = pattern;
      const auto trees = trees_of(machine);
      for (const std::vector<TreeLinks>& tree : trees) {
        INFO(nodes << " nodes");
        CHECK(fault(tree).empty());
      }
    }
  }
}

TEST_CASE("trees: 2048 nodes hang together, too") {
  const auto trees = trees_of(h100(2048));
  REQUIRE(trees.size() == 16);
  for (const std::vector<TreeLinks>& tree : trees) {
    CHECK(fault(tree).empty());
  }
}

TEST_CASE("trees: the links of one rank are those of the whole tree") {
  const ReferenceMachine machine = h100(6);
  const auto trees = trees_of(machine);
  const std::vector<ExecutionChannel> channels = execution_channels(machine.input()).collective;
  for (const int rank : {0, 7, 8, 23, 47}) {
    const std::vector<TreeLinks> links =
        tree_links(machine.graphs.tree, {6, 8}, channels, Rank(rank));
    REQUIRE(links.size() == trees.size());
    for (std::size_t channel = 0; channel < links.size(); ++channel) {
      CHECK(links[channel] == trees[channel][static_cast<std::size_t>(rank)]);
    }
  }
}

}  // namespace collsim::nccl
