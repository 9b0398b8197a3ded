// Which nodes may change places.

#include "topology/twin_nodes.hpp"

#include <cstdint>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"
#include "tests/topology/fabrics.hpp"

using namespace collsim;

// Leaves take two nodes here; between the last one and the others there is one half empty.
TEST_CASE("nodes on the same leaves are twins") {
  const Cluster leaves(test::dgx_leaf_spine(5, 32, 1, RoutingKind::Fixed));
  CHECK(first_twins(leaves) == std::vector<std::uint32_t>{0, 0, 2, 2, 4});
  // On a torus each has a switch of its own.
  CHECK(first_twins(Cluster(test::torus({3}))) == std::vector<std::uint32_t>{0, 1, 2});
  // Nodes of two kinds on one switch.
  ClusterSpec mixed = test::dgx_leaf_spine(2, 64, 1, RoutingKind::Fixed);
  mixed.more_nodes.push_back({2, mixed.node});
  CHECK(first_twins(Cluster(mixed)) == std::vector<std::uint32_t>{0, 0, 2, 2});
}

TEST_CASE("nodes of explicit graphs have no twins") {
  ClusterSpec spec;
  spec.graph.emplace();
  spec.graph->devices = {
      {"a", DeviceKind::Gpu, 0}, {"b", DeviceKind::Gpu, 1}, {"hub", DeviceKind::NetworkSwitch, {}}};
  spec.graph->links = {test::link("a", "hub", test::textbook_bandwidth, Duration(1)),
                       test::link("b", "hub", test::textbook_bandwidth, Duration(1))};
  // Without templates nothing says that their devices are the same.
  CHECK(first_twins(Cluster(spec)) == std::vector<std::uint32_t>{0, 1});
}
