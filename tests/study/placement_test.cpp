#include "study/placement.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"
#include "topology/error.hpp"

namespace collsim {
namespace {

/// Three nodes of four GPUs.
const Graph& machine() {
  static const Graph graph = build_graph(test::textbook_nodes(3));
  return graph;
}

std::vector<std::string> names(const Graph& graph, const Communicator& gpus) {
  std::vector<std::string> names;
  for (const DeviceId gpu : gpus) {
    names.push_back(graph.name(gpu));
  }
  return names;
}

std::vector<std::string> placed(const PlacementRequest& request) {
  return names(machine(), place_ranks(machine(), request));
}

std::string refusal(const PlacementRequest& request) {
  try {
    static_cast<void>(place_ranks(machine(), request));
  } catch (const InputError& error) {
    return error.render();
  }
  return "none";
}

using Names = std::vector<std::string>;

TEST_CASE("block order goes node by node") {
  const Names all = placed({});
  REQUIRE(all.size() == 12);
  CHECK(all.front() == "node0.gpu0");
  CHECK(all[4] == "node1.gpu0");
  CHECK(all.back() == "node2.gpu3");
}

TEST_CASE("counts take the first nodes, the first GPUs of each, then the first ranks") {
  PlacementRequest request;
  request.nodes = 2;
  request.gpus_per_node = 2;
  CHECK(placed(request) == Names{"node0.gpu0", "node0.gpu1", "node1.gpu0", "node1.gpu1"});
  request.ranks = 3;
  CHECK(placed(request) == Names{"node0.gpu0", "node0.gpu1", "node1.gpu0"});
  PlacementRequest five;
  five.ranks = 5;
  CHECK(placed(five) ==
        Names{"node0.gpu0", "node0.gpu1", "node0.gpu2", "node0.gpu3", "node1.gpu0"});
}

TEST_CASE("cyclic order deals the chosen GPUs out over the nodes") {
  PlacementRequest request;
  request.order = Placement::Cyclic;
  request.gpus_per_node = 2;
  CHECK(placed(request) ==
        Names{"node0.gpu0", "node1.gpu0", "node2.gpu0", "node0.gpu1", "node1.gpu1", "node2.gpu1"});
  // Filled by nodes first: the second node has one GPU, the third none.
  PlacementRequest five;
  five.order = Placement::Cyclic;
  five.ranks = 5;
  CHECK(placed(five) ==
        Names{"node0.gpu0", "node1.gpu0", "node0.gpu1", "node0.gpu2", "node0.gpu3"});
}

TEST_CASE("a list gives any GPUs in any order") {
  PlacementRequest request;
  request.order = Placement::Listed;
  request.listed = {{"node2.gpu3"}, {"node0.gpu1"}};
  CHECK(placed(request) == Names{"node2.gpu3", "node0.gpu1"});
}

TEST_CASE("a list of nodes as Slurm writes it") {
  PlacementRequest request;
  request.node_list = "node[2,0]";
  request.gpus_per_node = 1;
  CHECK(placed(request) == Names{"node2.gpu0", "node0.gpu0"});
  request.node_list = "node2,node[0-1]";
  CHECK(placed(request) == Names{"node2.gpu0", "node0.gpu0", "node1.gpu0"});
  request.node_list = "0-1,2";
  request.order = Placement::Cyclic;
  request.gpus_per_node = 2;
  CHECK(placed(request) ==
        Names{"node0.gpu0", "node1.gpu0", "node2.gpu0", "node0.gpu1", "node1.gpu1", "node2.gpu1"});
  const auto message = [&](const std::string& list) {
    request.node_list = list;
    return refusal(request);
  };
  const std::string syntax =
      "error: --node-list: expected a list of nodes such as \"node[0-3,7]\", got ";
  for (const std::string bad : {"node", "node[", "node[]", "node[0", "node[0-]", "node[0,]",
                                "node0,", "gpu0", "node[0]x", "node-1", "0 1"}) {
    CHECK(message(bad) == syntax + in_quotes(bad));
  }
  CHECK(message("node[2-1]") == "error: --node-list: a range of nodes goes up, got 2-1");
  CHECK(message("node[0-4000000000]") ==
        "error: --node-list: there is no node3: the nodes are node0 to node2\n"
        "hint: a larger cluster: --set nodes=4");
  CHECK(message("node[0-1,1]") == "error: --node-list: node1 is listed twice");
  request.nodes = 2;
  CHECK(message("node0") == "error: --node-list: already says which nodes: leave out --nodes");
}

TEST_CASE("random nodes: the same for the same seed, each once, GPUs of a node together") {
  PlacementRequest request;
  request.order = Placement::Random;
  std::set<Names> orders;
  for (request.seed = 0; request.seed < 60; ++request.seed) {
    const Names names = placed(request);
    CHECK(names == placed(request));
    REQUIRE(names.size() == 12);
    CHECK(std::set<std::string>(names.begin(), names.end()).size() == 12);
    for (std::size_t rank = 0; rank < 12; ++rank) {
      CHECK(names[rank].ends_with(".gpu" + std::to_string(rank % 4)));
    }
    orders.insert(names);
  }
  // Six orders of three nodes; that one of them is missing from 60 draws has a chance of 6 · (5/6)^60.
  CHECK(orders.size() == 6);
  request.nodes = 1;
  CHECK(placed(request).size() == 4);
}

TEST_CASE("on one node block and cyclic are the same") {
  const Graph star = build_graph(test::star(5));
  PlacementRequest cyclic;
  cyclic.order = Placement::Cyclic;
  CHECK(place_ranks(star, cyclic) == place_ranks(star, {}));
}

TEST_CASE("more than there is") {
  PlacementRequest nodes;
  nodes.nodes = 4;
  CHECK(refusal(nodes) ==
        "error: --nodes: asks for 4 nodes; the cluster has 3 with GPUs\n"
        "hint: a larger cluster: --set nodes=4");
  PlacementRequest gpus;
  gpus.gpus_per_node = 5;
  CHECK(refusal(gpus) == "error: --gpus-per-node: asks for 5 GPUs a node; node 0 has 4");
  PlacementRequest ranks;
  ranks.nodes = 1;
  ranks.ranks = 5;
  CHECK(refusal(ranks) ==
        "error: --ranks: asks for 5 ranks; there are 4 GPUs to place them on\n"
        "hint: a larger cluster: --set nodes=N or --set gpus=N");
}

TEST_CASE("none at all") {
  PlacementRequest nodes;
  nodes.nodes = 0;
  CHECK(refusal(nodes) == "error: --nodes: must be at least 1");
  PlacementRequest gpus;
  gpus.gpus_per_node = 0;
  CHECK(refusal(gpus) == "error: --gpus-per-node: must be at least 1");
  PlacementRequest ranks;
  ranks.ranks = 0;
  CHECK(refusal(ranks) == "error: --ranks: must be at least 1");
}

TEST_CASE("a list that names what is not there, twice, or nothing") {
  PlacementRequest request;
  request.order = Placement::Listed;
  CHECK(refusal(request) == "error: --placement: the list names no GPU");
  request.listed = {{"node0.gpu9"}};
  CHECK(refusal(request) ==
        "error: --placement: there is no GPU \"node0.gpu9\"\nhint: did you mean \"node0.gpu0\"?");
  request.listed = {{"x"}};
  CHECK(refusal(request) ==
        "error: --placement: there is no GPU \"x\"\nhint: the first is called node0.gpu0");
  request.listed = {{"node0.gpu0"}, {"node0.gpu0"}};
  CHECK(refusal(request) == "error: --placement: GPU \"node0.gpu0\" is listed twice");
  request.list_name = "gpus.txt";
  request.listed = {{"node0.gpu0", 2, 1}, {"node0.gpu0", 4, 3}};
  CHECK(refusal(request) ==
        "gpus.txt:4:3: error: --placement: GPU \"node0.gpu0\" is listed twice, first in line 2");
  request.listed = {{"node0.gpu0"}};
  request.ranks = 1;
  CHECK(refusal(request) ==
        "error: --placement: a list of GPUs already says how many: leave out --nodes, --node-list, "
        "--gpus-per-node and --ranks");
}

TEST_CASE("nodes of a job") {
  PlacementRequest request;
  request.ranks = 5;
  CHECK(nodes_of(machine(), place_ranks(machine(), request)) == 2);
  CHECK(nodes_of(machine(), {}) == 0);
}

TEST_CASE("orders have names") {
  CHECK(name_of(Placement::Block) == "block");
  CHECK(name_of(Placement::Cyclic) == "cyclic");
  CHECK(name_of(Placement::Listed) == "listed");
}

}  // namespace
}  // namespace collsim
