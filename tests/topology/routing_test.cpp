#include "topology/routing.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"

using namespace collsim;

namespace {

using Words = std::vector<std::string>;

Route route(const Cluster& cluster, const std::string& from, const std::string& to) {
  const Graph& graph = cluster.graph();
  return cluster.router().route(test::device(graph, from), test::device(graph, to));
}

/// The names of the links, with their share where it is not all.
Words hops(const Cluster& cluster, const Route& route) {
  Words words;
  for (const RouteHop& hop : route.hops) {
    std::string word = cluster.graph().name(hop.link);
    if (hop.share_denominator != 1) {
      word +=
          " " + std::to_string(hop.share_numerator) + "/" + std::to_string(hop.share_denominator);
    }
    words.push_back(word);
  }
  return words;
}

bool same(Rate a, Rate b) { return compare(a, b) == 0; }

Words hops(const Cluster& cluster, const std::string& from, const std::string& to) {
  return hops(cluster, route(cluster, from, to));
}

}  // namespace

TEST_CASE("a route in a star crosses the switch") {
  const Cluster cluster(test::star(8));
  const Route found = route(cluster, "gpu2", "gpu7");
  CHECK(hops(cluster, found) == Words{"gpu2 -> switch", "switch -> gpu7"});
  CHECK(found.latency == std::chrono::microseconds(1));
  CHECK(same(found.full_rate(cluster.graph()), Rate(test::textbook_bandwidth)));
}

TEST_CASE("a route in a mesh is the direct link") {
  const Cluster cluster(test::mesh(8));
  CHECK(hops(cluster, "gpu5", "gpu1") == Words{"gpu5 -> gpu1"});
}

TEST_CASE("traffic between nodes goes by NIC and network switch") {
  const Cluster cluster(test::textbook_nodes(2));
  const Route found = route(cluster, "node0.gpu1", "node1.gpu3");
  CHECK(hops(cluster, found) == Words{"node0.gpu1 -> node0.switch", "node0.switch -> node0.nic",
                                      "node0.nic -> switch", "switch -> node1.nic",
                                      "node1.nic -> node1.switch", "node1.switch -> node1.gpu3"});
  // Twice 500 ns + 1 us + 1 us.
  CHECK(found.latency == std::chrono::microseconds(5));
  CHECK(cluster.graph().name(found.narrowest(cluster.graph())) == "node0.switch -> node0.nic");
}

TEST_CASE("NVLink wins over PCIe, and each GPU has its own NIC or the first of equals") {
  const Cluster cluster(test::dgx(2));
  CHECK(hops(cluster, "node1.gpu0", "node1.gpu1") ==
        Words{"node1.gpu0 -> node1.nvswitch", "node1.nvswitch -> node1.gpu1"});
  // GPUs 2p and 2p + 1 and NICs 2p and 2p + 1 are on PCIe switch p: both NICs are as near.
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
    const auto nic = cluster.router().nic_of(cluster.graph().gpus()[gpu]);
    REQUIRE(nic.has_value());
    CHECK(cluster.graph().name(*nic) == "node0.nic" + std::to_string(gpu / 2 * 2));
  }
  CHECK(hops(cluster, "node0.gpu5", "node1.gpu2") ==
        Words{"node0.gpu5 -> node0.pcie2", "node0.pcie2 -> node0.nic4", "node0.nic4 -> switch",
              "switch -> node1.nic2", "node1.nic2 -> node1.pcie1", "node1.pcie1 -> node1.gpu2"});
}
