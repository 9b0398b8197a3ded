// Routes by way of given devices.

#include <compare>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"
#include "tests/topology/routes.hpp"
#include "topology/route_shares.hpp"
#include "topology/routing.hpp"

using namespace collsim;
using test::hops;
using test::Words;

namespace {

Route through(const Cluster& cluster, const std::string& from, const std::string& to,
              const std::vector<std::string>& stops) {
  std::vector<DeviceId> devices;
  for (const std::string& stop : stops) {
    devices.push_back(test::device(cluster.graph(), stop));
  }
  return cluster.router().route_through(test::device(cluster.graph(), from),
                                        test::device(cluster.graph(), to), devices);
}

}  // namespace

// GPUs and NICs 2p and 2p + 1 are on PCIe switch p, switches 0 and 1 at CPU 0.

TEST_CASE("a route by given NICs enters and leaves by them, wherever they are") {
  const Cluster cluster(test::dgx(2));
  CHECK(hops(cluster, through(cluster, "node0.gpu0", "node1.gpu2", {"node0.nic1", "node1.nic0"})) ==
        Words{"node0.gpu0 -> node0.pcie0", "node0.pcie0 -> node0.nic1", "node0.nic1 -> switch",
              "switch -> node1.nic0", "node1.nic0 -> node1.pcie0", "node1.pcie0 -> node1.cpu0",
              "node1.cpu0 -> node1.pcie1", "node1.pcie1 -> node1.gpu2"});
}

TEST_CASE("a GPU on the way is reached over NVLink and sends on by its own NIC") {
  const Cluster cluster(test::dgx(2));
  const Route route =
      through(cluster, "node0.gpu5", "node1.gpu0", {"node0.gpu0", "node0.nic0", "node1.nic0"});
  CHECK(hops(cluster, route) ==
        Words{"node0.gpu5 -> node0.nvswitch", "node0.nvswitch -> node0.gpu0",
              "node0.gpu0 -> node0.pcie0", "node0.pcie0 -> node0.nic0", "node0.nic0 -> switch",
              "switch -> node1.nic0", "node1.nic0 -> node1.pcie0", "node1.pcie0 -> node1.gpu0"});
  // NVLink 2 x 250, PCIe 4 x 150, cables 2 x 30, the switch 230.
  CHECK(route.latency == std::chrono::nanoseconds(1390));
}

TEST_CASE("through the memory of the host bytes go up to the CPU and down again") {
  const Cluster cluster(test::dgx(1));
  CHECK(hops(cluster, through(cluster, "gpu0", "gpu1", {"cpu0"})) ==
        Words{"gpu0 -> pcie0", "pcie0 -> cpu0", "cpu0 -> pcie0", "pcie0 -> gpu1"});
}

TEST_CASE("a stop where the route is already adds nothing") {
  const Cluster cluster(test::dgx(2));
  CHECK(hops(cluster, through(cluster, "node0.gpu1", "node0.gpu0",
                              {"node0.gpu1", "node0.nic0", "node0.nic0"})) ==
        Words{"node0.gpu1 -> node0.pcie0", "node0.pcie0 -> node0.nic0", "node0.nic0 -> node0.pcie0",
              "node0.pcie0 -> node0.gpu0"});
}

TEST_CASE("a link that is crossed twice carries twice the bytes and counts its latency twice") {
  const Cluster cluster(test::dgx(2));
  const Route walk = through(cluster, "node0.gpu0", "node0.gpu1",
                             {"node0.cpu0", "node0.nic0", "node0.nic1", "node0.cpu0"});
  // PCIe 4 x 150 to each of the NICs, and the network.
  CHECK(walk.latency == std::chrono::nanoseconds(8 * 150 + 2 * 30 + 230));
  CHECK(walk.hops.size() == 10);
  const Route route = detail::each_link_once(walk);
  CHECK(route.latency == walk.latency);
  CHECK(route.hops.size() == 8);
  for (const RouteHop& hop : route.hops) {
    const std::string name = cluster.graph().name(hop.link);
    const bool twice = name == "node0.pcie0 -> node0.cpu0" || name == "node0.cpu0 -> node0.pcie0";
    CHECK(hop.share_numerator == (twice ? 2 : 1));
    CHECK(hop.share_denominator == 1);
  }
  // Half of 64 GB/s, less than the cable's 50.
  CHECK(std::is_eq(compare(route.full_rate(cluster.graph()),
                           Rate(Bandwidth::bytes_per_second(32'000'000'000)))));
}

TEST_CASE("a CPU belongs to the GPUs that are fewest links away") {
  const Cluster cluster(test::dgx(2));
  const Graph& graph = cluster.graph();
  const Router& router = cluster.router();
  CHECK(router.cpu_of(test::device(graph, "node1.gpu3")) == test::device(graph, "node1.cpu0"));
  CHECK(router.cpu_of(test::device(graph, "node1.gpu4")) == test::device(graph, "node1.cpu1"));
  const Cluster star(test::star(2));
  CHECK(!star.router().cpu_of(star.graph().gpus()[0]));
}

TEST_CASE("a leg without a path is refused with both its ends") {
  const Cluster cluster(test::dgx(2));
  CHECK_THROWS_WITH(through(cluster, "node0.gpu0", "node1.gpu0", {"node1.nic0"}),
                    "there is no path from node0.gpu0 to node1.nic0");
}
