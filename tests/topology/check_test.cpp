#include "topology/check.hpp"

#include <rapidcheck.h>

#include <utility>

#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"
#include "tests/topology/random_graph.hpp"

using namespace collsim;

namespace {

bool reaches(const Graph& graph, DeviceId from, DeviceId to) {
  return !test::shortest_paths(graph, from, {to}).empty();
}

}  // namespace

TEST_CASE("an unreachable pair is found just where there is one") {
  CHECK(rc::check("on random graphs, against a search for every pair", [] {
    const Graph graph = test::random_graph({.most_nics = 2});
    const auto pair = unreachable_pair(graph);
    if (pair) {
      RC_ASSERT(!reaches(graph, pair->first, pair->second));
      return;
    }
    for (const DeviceId from : graph.gpus()) {
      for (const DeviceId to : graph.gpus()) {
        RC_ASSERT(from == to || reaches(graph, from, to));
      }
    }
  }));
}

TEST_CASE("GPUs may be joined without a device that all of them share") {
  // Three switches, each for two of three GPUs: every pair is joined, no switch is reached by all.
  ClusterSpec spec = test::star(3);
  spec.node.devices = {{"sw", DeviceKind::Nvswitch, 3}};
  spec.node.links.clear();
  for (const auto& [gpu, to] : {std::pair("gpu0", "sw0"),
                                {"gpu1", "sw0"},
                                {"gpu1", "sw1"},
                                {"gpu2", "sw1"},
                                {"gpu2", "sw2"},
                                {"gpu0", "sw2"}}) {
    spec.node.links.push_back(test::link(gpu, to, test::textbook_bandwidth, Duration(1)));
  }
  CHECK(test::error_of(spec) == "none");
  spec.node.links.pop_back();
  CHECK(test::error_of(spec) ==
        "node.links: expected a path between any two GPUs, got none from \"gpu0\" to "
        "\"gpu2\"\nhint: GPUs forward nothing");
}
