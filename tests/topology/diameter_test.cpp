// The longest routes.

#include "topology/diameter.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"
#include "tests/topology/fabrics.hpp"

using namespace collsim;

namespace {

Diameter diameter_of(const Cluster& cluster, const DiameterLimits& limits = {}) {
  return diameter(cluster, symmetry_classes(cluster.graph()), limits);
}

constexpr Duration ns(std::int64_t value) { return std::chrono::nanoseconds(value); }

}  // namespace

TEST_CASE("the diameter of a star is two links") {
  const Diameter found = diameter_of(Cluster(test::star(4)));
  CHECK(found.most_links.links == 2);
  CHECK(found.most_links.latency == ns(2 * 500));
  CHECK(found.most_links.from == DeviceId(0));
  CHECK(found.most_links.to == DeviceId(1));
  CHECK(found.sources == 4);
  CHECK(found.classes == 1);
}

TEST_CASE("between leaves a route has eight links") {
  const Cluster cluster(test::dgx_leaf_spine(5, 32, 1, RoutingKind::Fixed));
  // gpu, pcie, nic, leaf, spine, leaf, nic, pcie, gpu: 150 + 150 + 30 + (30 + 230) + (30 + 240) +
  // (30 + 230) + 150 + 150 ns.
  const Diameter found = diameter_of(cluster);
  CHECK(found.most_links.links == 8);
  CHECK(found.most_links.latency == ns(1420));
  CHECK(found.slowest.links == 8);
  CHECK(found.sources == 40);
  // From one GPU of each class (two full leaves, one half full) it is the same.
  const Diameter quick = diameter_of(cluster, {0, 3 * 39});
  CHECK(quick.sources == 2);
  CHECK(quick.classes == 2);
  CHECK(quick.most_links.links == 8);
  CHECK(quick.most_links.latency == ns(1420));
  // And where the work does not allow as many, of those that it does, one at least.
  CHECK(diameter_of(cluster, {0, 1}).sources == 1);
}

// All routes one by one, against those from one GPU of each class to one of each set of twins.
TEST_CASE("the diameter from one GPU of each class is that of all routes") {
  std::vector<ClusterSpec> specs{test::dgx_leaf_spine(5, 32, 1, RoutingKind::Fixed),
                                 test::rail_optimized(7, 4, 2, 8),
                                 test::rail_optimized(9, 2, 3, 8),  // the last pod is not full
                                 test::dragonfly(23, 2, 4, 3, 1),   // nor the last group
                                 test::dragonfly(12, 2, 3, 4, 2),
                                 test::torus({5, 4}),
                                 test::torus({3, 2, 4}),
                                 test::torus({9})};
  for (ClusterSpec& spec : specs) {
    for (const RoutingKind routing : {RoutingKind::Fixed, RoutingKind::Spray, RoutingKind::Ecmp}) {
      spec.fabric.routing = routing;
      const Cluster cluster(spec);
      const Graph& graph = cluster.graph();
      std::size_t links = 0;
      Duration latency{};
      for (const DeviceId from : graph.gpus()) {
        for (const DeviceId to : graph.gpus()) {
          if (from != to) {
            const Route route = cluster.router().route(from, to);
            links = std::max(links, path_length(graph, route));
            latency = std::max(latency, route.latency);
          }
        }
      }
      INFO(spec.name << " of " << graph.nodes() << " nodes");
      for (const DiameterLimits& limits : {DiameterLimits{}, DiameterLimits{0, 1U << 18U}}) {
        const Diameter found = diameter_of(cluster, limits);
        CHECK(found.most_links.links == links);
        CHECK(found.slowest.latency == latency);
        CHECK(found.assumed == 0);
      }
    }
  }
}

TEST_CASE("a sprayed route is as long as each of its paths") {
  const Cluster cluster(test::dgx_leaf_spine(4, 32, 1, RoutingKind::Spray));
  const Diameter found = diameter_of(cluster);
  CHECK(found.most_links.links == 8);
  const Route route = cluster.router().route(found.most_links.from, found.most_links.to);
  CHECK(route.hops.size() == 6 + 2 * 16);  // sixteen spines
  CHECK(path_length(cluster.graph(), route) == 8);
}

TEST_CASE("the slowest route need not have the most links") {
  // Two GPUs on a switch, and a third with a slow cable to each.
  ClusterSpec spec = test::star(2);
  spec.node.gpus = 3;
  spec.node.links[0].from = "gpu0";
  spec.node.links.push_back(test::link("gpu1", "switch", test::textbook_bandwidth, ns(500)));
  for (const char* near : {"gpu0", "gpu1"}) {
    spec.node.links.push_back(test::link("gpu2", near, test::textbook_bandwidth, ns(5000)));
  }
  const Diameter found = diameter_of(Cluster(spec));
  CHECK(found.most_links.links == 2);
  CHECK(found.most_links.latency == ns(1000));
  CHECK(found.slowest.links == 1);
  CHECK(found.slowest.latency == ns(5000));
  CHECK(found.slowest.from == DeviceId(0));
  CHECK(found.slowest.to == DeviceId(2));
}
