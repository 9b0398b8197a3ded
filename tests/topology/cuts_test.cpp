// Cuts and shortest latencies of a cluster's graph.

#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <utility>

#include "tests/catch.hpp"
#include "tests/topology/fabrics.hpp"
#include "tests/topology/random_graph.hpp"
#include "topology/cluster.hpp"

using namespace collsim;

TEST_CASE("the cut around a GPU is the sum of its links") {
  ClusterSpec spec = test::star(3);
  spec.node.links.push_back(test::link("gpu0", "gpu1", test::textbook_bandwidth, Duration(1)));
  spec.node.links.back().duplex = Duplex::OneWay;
  const Graph graph = build_graph(spec);
  const auto cuts = gpu_cuts(graph, graph.gpus());
  REQUIRE(cuts.size() == 3);
  CHECK(cuts[0].out == test::textbook_bandwidth * 2);
  CHECK(cuts[0].in == test::textbook_bandwidth);
  CHECK(cuts[1].out == test::textbook_bandwidth);
  CHECK(cuts[1].in == test::textbook_bandwidth * 2);
}

TEST_CASE("the cut around a node is the sum of its NICs' cables") {
  const auto cuts = node_cuts(build_graph(test::dgx(3)));
  REQUIRE(cuts.size() == 3);
  for (const Cut& cut : cuts) {
    // 8 NICs of 50 GB/s.
    CHECK(cut.out == Bandwidth::bytes_per_second(400'000'000'000));
    CHECK(cut.in == cut.out);
  }
  CHECK(node_cuts(build_graph(test::star(2)))[0].out == Bandwidth());
}

TEST_CASE("cuts wider than 9 PB/s are refused, not wrapped") {
  ClusterSpec spec = test::star(2);
  spec.node.links[0].bandwidth = Bandwidth::from_units(std::numeric_limits<std::int64_t>::max());
  spec.node.links[0].count = 2;
  CHECK(test::error_of(spec) == "node.links: the links of gpu0 together exceed 9 PB/s");
  // Each GPU's fit, a node's four NICs' cables of 2.5 PB/s do not.
  ClusterSpec nodes = test::rail_nodes(2, 4);
  nodes.fabric.kind = FabricKind::SingleSwitch;
  nodes.fabric.tiers = {test::tier(std::nullopt)};
  nodes.fabric.tiers[0].link.bandwidth = Bandwidth::bytes_per_second(2'500'000'000'000'000);
  CHECK(test::error_of(nodes) ==
        "fabric.link.bandwidth: the links of node0 together exceed 9 PB/s");
}

TEST_CASE("the quickest path is not always the one with the fewest links") {
  ClusterSpec spec = test::star(2);
  spec.node.links.push_back(
      test::link("gpu0", "gpu1", test::textbook_bandwidth, std::chrono::microseconds(5)));
  const Graph graph = build_graph(spec);
  const auto latency = shortest_latencies(graph, graph.gpus()[0]);
  CHECK(latency[0] == Duration::zero());
  CHECK(latency[1] == Duration(std::chrono::microseconds(1)));
  CHECK(latency[2] == Duration(std::chrono::nanoseconds(500)));
}

TEST_CASE("shortest latencies agree with relaxing every link until nothing changes") {
  CHECK(rc::check("on random graphs", [] {
    const Graph graph = test::random_graph({.most_nics = 2});
    for (const DeviceId from : graph.gpus()) {
      std::map<DeviceId, Duration> known{{from, Duration::zero()}};
      for (std::size_t round = 0; round < graph.devices().size(); ++round) {
        for (const Link& link : graph.links()) {
          const bool forwards =
              link.source == from || graph.device(link.source).kind != DeviceKind::Gpu;
          if (!forwards || !known.contains(link.source)) {
            continue;
          }
          const Duration through = known[link.source] + link.latency;
          const auto [found, is_new] = known.emplace(link.target, through);
          if (!is_new) {
            found->second = std::min(found->second, through);
          }
        }
      }
      const auto latencies = shortest_latencies(graph, from);
      for (std::size_t i = 0; i < latencies.size(); ++i) {
        const auto found = known.find(DeviceId(i));
        RC_ASSERT(latencies[i].has_value() == (found != known.end()));
        if (latencies[i]) {
          RC_ASSERT(*latencies[i] == found->second);
        }
      }
    }
  }));
}
