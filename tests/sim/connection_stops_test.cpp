// Waypoints of a program as devices of the machine.

#include "sim/connection_stops.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"
#include "topology/error.hpp"

using namespace collsim;

namespace {

using Words = std::vector<std::string>;

/// The stops from rank 1 to rank 8, the first GPU of the second node.
Words stops(const Cluster& cluster, const Waypoints& waypoints) {
  const auto all = cluster.graph().gpus();
  Words names;
  for (const DeviceId device :
       detail::stops_of(cluster, {all.begin(), all.end()}, Rank(1), Rank(8), waypoints)) {
    names.push_back(cluster.graph().name(device));
  }
  return names;
}

}  // namespace

TEST_CASE("stops come in the order in which bytes meet them") {
  const Cluster cluster(test::dgx(2));
  Waypoints waypoints;
  CHECK(stops(cluster, waypoints).empty());
  waypoints.through = Rank(6);
  waypoints.nic_out = 7;
  waypoints.nic_in = 2;
  CHECK(stops(cluster, waypoints) == Words{"node0.gpu6", "node0.nic7", "node1.nic2"});
  waypoints.host_out = true;
  waypoints.host_in = true;
  // Four GPUs a CPU: that of GPU 6, which sends last, is the second one.
  CHECK(stops(cluster, waypoints) ==
        Words{"node0.gpu6", "node0.cpu1", "node0.nic7", "node1.nic2", "node1.cpu0"});
}

TEST_CASE("waypoints that the machine does not have are refused by name") {
  const Cluster cluster(test::dgx(2));
  Waypoints nic;
  nic.nic_in = 8;
  CHECK_THROWS_WITH(stops(cluster, nic),
                    "a connection of node1.gpu0 is to go by NIC 8 of its node, which has 8");
  Waypoints rank;
  rank.through = Rank(16);
  CHECK_THROWS_WITH(stops(cluster, rank),
                    "a connection of rank 1 is to go through rank 16, which does not exist");
  Waypoints host;
  host.host_out = true;
  const Cluster star(test::star(9));
  CHECK_THROWS_WITH(stops(star, host),
                    "a connection is to go through the host memory of gpu1, which reaches no CPU");
}
