#include "topology/check.hpp"

#include <rapidcheck.h>

#include <string>
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

TEST_CASE("GPUs with links to the same devices are one to the check, but for themselves") {
  // Four GPUs send to each of two switches; both switches send to all GPUs. No switch is a hub.
  ClusterSpec spec = test::star(8);
  spec.node.devices = {{"sw", DeviceKind::Nvswitch, 2}};
  LinkSpec link = test::link("gpu", "sw", test::textbook_bandwidth, Duration(1));
  link.duplex = Duplex::OneWay;
  link.connect = Connect::Grouped;
  spec.node.links = {link};
  link.connect = Connect::All;
  std::swap(link.from, link.to);
  spec.node.links.push_back(link);
  CHECK(test::error_of(spec) == "none");
  // Now sw0 does not send to the GPU that is left out: sw0's other GPUs do not reach it.
  const auto without = [&spec](const std::string& left_out) {
    LinkSpec down = spec.node.links[1];
    spec.node.links.resize(1);
    down.from = "sw1";
    spec.node.links.push_back(down);
    down.from = "sw0";
    for (int gpu = 0; gpu < 8; ++gpu) {
      down.to = "gpu" + std::to_string(gpu);
      if (down.to != left_out) {
        spec.node.links.push_back(down);
      }
    }
    return test::error_of(spec);
  };
  const auto error = [](const std::string& from, const std::string& to) {
    return "node.links: expected a path between any two GPUs, got none from \"" + from +
           "\" to \"" + to + "\"\nhint: GPUs forward nothing";
  };
  CHECK(without("gpu0") == error("gpu1", "gpu0"));
  CHECK(without("gpu3") == error("gpu0", "gpu3"));
}
