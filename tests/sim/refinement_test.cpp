#include "sim/refinement.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "tests/catch.hpp"

using namespace collsim::detail;

namespace {

using Vertex = LabelledGraph::Vertex;

constexpr std::size_t any_moves = 1'000'000;

/// Both ways.
void join(LabelledGraph& graph, Vertex a, Vertex b, std::uint64_t label) {
  graph.add_edge(a, b, label);
  graph.add_edge(b, a, label);
}

LabelledGraph circle(std::uint32_t vertices) {
  LabelledGraph graph;
  for (std::uint32_t i = 0; i < vertices; ++i) {
    (void)graph.add_vertex(0);
  }
  for (std::uint32_t i = 0; i < vertices; ++i) {
    join(graph, i, (i + 1) % vertices, 1);
  }
  return graph;
}

/// Splits all classes by what their vertices see, over and over: the definition.
std::vector<std::uint32_t> slowly_refined(const LabelledGraph& graph) {
  using Sight = std::tuple<std::uint32_t, std::uint64_t,
                           std::vector<std::pair<std::uint64_t, std::uint32_t>>>;
  std::vector<std::uint32_t> classes(graph.vertices());
  std::size_t before = 0;
  while (true) {
    std::vector<Sight> sights(graph.vertices());
    for (Vertex v = 0; v < graph.vertices(); ++v) {
      sights[v] = {classes[v], graph.colours()[v], {}};
    }
    for (const LabelledGraph::Edge& edge : graph.all_edges()) {
      std::get<2>(sights[edge.vertex]).emplace_back(edge.label, classes[edge.other]);
    }
    std::map<Sight, std::uint32_t> number;
    for (Vertex v = 0; v < graph.vertices(); ++v) {
      std::ranges::sort(std::get<2>(sights[v]));
      classes[v] =
          number.try_emplace(sights[v], static_cast<std::uint32_t>(number.size())).first->second;
    }
    if (number.size() == before) {
      return classes;
    }
    before = number.size();
  }
}

/// Whether two vertices are of a class in the one partition just where they are in the other.
bool are_equal(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  std::map<std::uint32_t, std::uint32_t> to;
  std::map<std::uint32_t, std::uint32_t> from;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (to.try_emplace(a[i], b[i]).first->second != b[i] ||
        from.try_emplace(b[i], a[i]).first->second != a[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("on a circle all vertices are alike, and with one marked those as far from it") {
  LabelledGraph graph = circle(8);
  CHECK(coarsest_partition(graph, any_moves)->classes == 1);
  graph.set_colour(3, 7);
  const Partition partition = *coarsest_partition(graph, any_moves);
  // Distances 0 to 4.
  CHECK(partition.classes == 5);
  CHECK(partition.of_vertex[2] == partition.of_vertex[4]);
  CHECK(partition.of_vertex[7] != partition.of_vertex[3]);
  CHECK(is_equitable(graph, partition));
}

TEST_CASE("labels and the number of edges tell vertices apart") {
  LabelledGraph graph;
  for (int i = 0; i < 6; ++i) {
    (void)graph.add_vertex(0);
  }
  graph.add_edge(0, 4, 1);
  graph.add_edge(1, 5, 1);
  graph.add_edge(2, 4, 2);
  graph.add_edge(3, 4, 1);
  graph.add_edge(3, 5, 1);
  const Partition partition = *coarsest_partition(graph, any_moves);
  CHECK(partition.classes == 4);
  CHECK(partition.of_vertex[0] == partition.of_vertex[1]);
  CHECK(partition.of_vertex[4] == partition.of_vertex[5]);
}

TEST_CASE("a partition in which vertices of a class differ is not equitable") {
  LabelledGraph graph = circle(6);
  Partition partition{std::vector<std::uint32_t>(6, 0), 1};
  CHECK(is_equitable(graph, partition));
  partition = {{0, 0, 0, 1, 1, 1}, 2};
  CHECK_FALSE(is_equitable(graph, partition));
  partition = {{0, 1, 0, 1, 0, 1}, 2};
  CHECK(is_equitable(graph, partition));
  graph.set_colour(0, 1);
  CHECK_FALSE(is_equitable(graph, partition));
}

TEST_CASE("refinement gives up after so many moves") {
  LabelledGraph graph = circle(64);
  graph.set_colour(0, 1);
  CHECK_FALSE(coarsest_partition(graph, 10).has_value());
}

TEST_CASE("refinement gives the partition that its definition gives") {
  CHECK(rc::check("coarsest", [] {
    LabelledGraph graph;
    const auto vertices = *rc::gen::inRange<std::uint32_t>(1, 24);
    for (std::uint32_t i = 0; i < vertices; ++i) {
      (void)graph.add_vertex(*rc::gen::inRange<std::uint64_t>(0, 2));
    }
    const auto edges = *rc::gen::inRange(0, 60);
    for (int i = 0; i < edges; ++i) {
      graph.add_edge(*rc::gen::inRange<Vertex>(0, vertices), *rc::gen::inRange<Vertex>(0, vertices),
                     *rc::gen::inRange<std::uint64_t>(0, 3));
    }
    const Partition partition = *coarsest_partition(graph, any_moves);
    RC_ASSERT(is_equitable(graph, partition));
    RC_ASSERT(are_equal(partition.of_vertex, slowly_refined(graph)));
  }));
}
