// Routes over fabrics of every kind: which NICs, which switches, how evenly.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/fabrics.hpp"
#include "tests/topology/routes.hpp"

using namespace collsim;
using test::hops;
using test::route;
using test::Words;

namespace {

std::string level_of(const Graph& graph, LinkId link) {
  return graph.levels()[graph.link(link).level.index()];
}

std::size_t links_of_level(const Graph& graph, const Route& route, const std::string& level) {
  return static_cast<std::size_t>(std::ranges::count_if(
      route.hops, [&](const RouteHop& hop) { return level_of(graph, hop.link) == level; }));
}

/// Every kind of fabric, small.
std::vector<ClusterSpec> fabrics() {
  ClusterSpec planes = test::rail_optimized(8, 2, 2, 8);
  planes.fabric.nic_ports = 2;
  planes.fabric.planes = 2;
  ClusterSpec dual = test::rail_optimized(8, 2, 2, 8);
  dual.fabric.nic_ports = 2;
  ClusterSpec tree = test::rail_nodes(12, 2);
  tree.fabric.kind = FabricKind::FatTree;
  tree.fabric.tiers = {test::tier(6), test::tier(4), test::tier(std::nullopt)};
  tree.fabric.tiers[1].oversubscription = 2;
  return {test::rail_optimized(16, 2, 2, 8),
          test::rail_optimized(32, 2, 3, 8),
          planes,
          dual,
          tree,
          test::dragonfly(12, 2, 2, 3, 2),
          test::dragonfly(10, 2, 3, 2, 1),
          test::torus({5}),
          test::torus({3, 4}),
          test::torus({2, 3, 4})};
}

}  // namespace

TEST_CASE("every pair has a sound route on every fabric, by every routing and choice of NICs") {
  for (ClusterSpec spec : fabrics()) {
    for (const RoutingKind routing : {RoutingKind::Fixed, RoutingKind::Spray, RoutingKind::Ecmp}) {
      for (const NicChoice choice :
           {NicChoice::Nearest, NicChoice::Balanced, NicChoice::RailAligned}) {
        spec.fabric.routing = routing;
        spec.fabric.nic_choice = choice;
        const Cluster cluster(spec);
        const auto gpus = cluster.graph().gpus();
        for (const DeviceId from : gpus) {
          for (const DeviceId to : gpus) {
            if (from != to) {
              test::require_sound(cluster.graph(), cluster.router().route(from, to, 3), from, to);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("on rails a route crosses one switch, three, or the GPU that owns the rail") {
  // 8 ports: groups of 4 nodes, 2 leaves each; 2 spines with 2 cables from each leaf.
  ClusterSpec spec = test::rail_optimized(8, 2, 2, 8);
  const Cluster crossing(spec);
  CHECK(hops(crossing, route(crossing, "node0.gpu0", "node2.gpu0")) ==
        Words{"node0.gpu0 -> node0.nic0", "node0.nic0 -> leaf0", "leaf0 -> node2.nic0",
              "node2.nic0 -> node2.gpu0"});
  // Another rail: up to a spine. node2 is number 2 on its leaf: cable 2 of 4.
  CHECK(hops(crossing, route(crossing, "node0.gpu0", "node2.gpu1")) ==
        Words{"node0.gpu0 -> node0.nic0", "node0.nic0 -> leaf0", "leaf0 -> spine0#1",
              "spine0 -> leaf1#1", "leaf1 -> node2.nic1", "node2.nic1 -> node2.gpu1"});
  spec.fabric.nic_choice = NicChoice::RailAligned;
  const Cluster aligned(spec);
  CHECK(hops(aligned, route(aligned, "node0.gpu0", "node2.gpu1")) ==
        Words{"node0.gpu0 -> node0.nvswitch", "node0.nvswitch -> node0.gpu1",
              "node0.gpu1 -> node0.nic1", "node0.nic1 -> leaf1", "leaf1 -> node2.nic1",
              "node2.nic1 -> node2.gpu1"});
  // Two crossings of NVLink and the NIC's PCIe, a NIC's cable, a leaf's latency and cable, PCIe.
  CHECK(route(aligned, "node0.gpu0", "node2.gpu1").latency ==
        std::chrono::nanoseconds(250 + 250 + 470 + 30 + 200 + 30 + 470));
  // The own rail needs nobody.
  CHECK(hops(aligned, route(aligned, "node0.gpu1", "node2.gpu1")).size() == 4);
}

TEST_CASE("between planes the bytes go by the GPU in the receiver's plane") {
  ClusterSpec spec = test::rail_nodes(2, 2);
  spec.fabric.kind = FabricKind::FatTree;
  spec.fabric.tiers = {test::tier(8), test::tier(std::nullopt)};
  spec.fabric.planes = 2;
  spec.fabric.nic_choice = NicChoice::RailAligned;
  const Cluster cluster(spec);
  CHECK(hops(cluster, route(cluster, "node0.gpu0", "node1.gpu1")) ==
        Words{"node0.gpu0 -> node0.nvswitch", "node0.nvswitch -> node0.gpu1",
              "node0.gpu1 -> node0.nic1", "node0.nic1 -> leaf1", "leaf1 -> node1.nic1",
              "node1.nic1 -> node1.gpu1"});
}

TEST_CASE("balanced: GPUs share the NICs that are equally near") {
  ClusterSpec spec = test::dgx(2);
  spec.fabric.nic_choice = NicChoice::Balanced;
  const Cluster two_by_two(spec);
  const auto nics = [](const Cluster& cluster, const std::string& gpu) {
    Words names;
    for (const DeviceId nic : cluster.router().nics_of(test::device(cluster.graph(), gpu))) {
      names.push_back(cluster.graph().name(nic));
    }
    return names;
  };
  // GPUs 2p and 2p + 1 and NICs 2p and 2p + 1 are on PCIe switch p: one each.
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
    CHECK(nics(two_by_two, "node1.gpu" + std::to_string(gpu)) ==
          Words{"node1.nic" + std::to_string(gpu)});
  }

  // Four NICs for one GPU: a quarter of the bytes each. All four behind one link of 4 x 50 GB/s.
  spec = test::star(1);
  spec.nodes = 2;
  spec.node.devices.push_back({"nic", DeviceKind::Nic, 4});
  spec.node.links[0].bandwidth = test::textbook_bandwidth * 4;
  spec.node.links.push_back(
      test::link("nic", "switch", test::textbook_bandwidth, std::chrono::nanoseconds(100)));
  spec.fabric.kind = FabricKind::SingleSwitch;
  spec.fabric.tiers.assign(1, test::tier(std::nullopt));
  spec.fabric.nic_choice = NicChoice::Balanced;
  const Cluster striped(spec);
  const Route found = route(striped, "node0.gpu0", "node1.gpu0");
  CHECK(hops(striped, found) ==
        Words{"node0.gpu0 -> node0.switch", "node0.switch -> node0.nic0 1/4",
              "node0.switch -> node0.nic1 1/4", "node0.switch -> node0.nic2 1/4",
              "node0.switch -> node0.nic3 1/4", "node0.nic0 -> switch 1/4",
              "node0.nic1 -> switch 1/4", "node0.nic2 -> switch 1/4", "node0.nic3 -> switch 1/4",
              "switch -> node1.nic0 1/4", "switch -> node1.nic1 1/4", "switch -> node1.nic2 1/4",
              "switch -> node1.nic3 1/4", "node1.nic0 -> node1.switch 1/4",
              "node1.nic1 -> node1.switch 1/4", "node1.nic2 -> node1.switch 1/4",
              "node1.nic3 -> node1.switch 1/4", "node1.switch -> node1.gpu0"});
  CHECK((compare(found.full_rate(striped.graph()), Rate(test::textbook_bandwidth * 4)) == 0));

  // One NIC for four GPUs.
  ClusterSpec shared = test::textbook_nodes(2);
  shared.fabric.nic_choice = NicChoice::Balanced;
  CHECK(nics(Cluster(shared), "node0.gpu3") == Words{"node0.nic"});
}

TEST_CASE("a dragonfly's routes are minimal: at most one global link, a local one on each side") {
  const Cluster cluster(test::dragonfly(12, 2, 2, 3, 2));
  const Graph& graph = cluster.graph();
  std::size_t most_local = 0;
  for (const DeviceId from : graph.gpus()) {
    for (const DeviceId to : graph.gpus()) {
      if (graph.device(from).node == graph.device(to).node) {
        continue;
      }
      const Route found = cluster.router().route(from, to);
      // 6 NICs, 3 nodes a group.
      const bool same_group =
          graph.device(from).node->value() / 3 == graph.device(to).node->value() / 3;
      REQUIRE(links_of_level(graph, found, "global") == (same_group ? 0U : 1U));
      const std::size_t local = links_of_level(graph, found, "local");
      REQUIRE(local <= (same_group ? 1U : 2U));
      most_local = std::max(most_local, local);
    }
  }
  CHECK(most_local == 2);
}

TEST_CASE("a torus's routes go the shorter way around each dimension") {
  const std::vector<std::uint32_t> size{5, 4, 3};
  const Cluster cluster(test::torus(size));
  const Graph& graph = cluster.graph();
  const auto gpus = graph.gpus();
  for (std::uint32_t a = 0; a < gpus.size(); ++a) {
    for (std::uint32_t b = 0; b < gpus.size(); ++b) {
      if (a == b) {
        continue;
      }
      std::uint32_t distance = 0;
      std::uint32_t stride = 1;
      for (const std::uint32_t n : size) {
        const std::uint32_t apart = (b / stride % n + n - a / stride % n) % n;
        distance += std::min(apart, n - apart);
        stride *= n;
      }
      REQUIRE(links_of_level(graph, cluster.router().route(gpus[a], gpus[b]), "torus") == distance);
    }
  }
}

TEST_CASE("static goes along x, then y, then z, and at half a ring by the destination's place") {
  const Cluster cluster(test::torus({4, 4, 3}));
  const auto switches = [&](const std::string& from, const std::string& to) {
    const Route found = route(cluster, from + ".gpu0", to + ".gpu0");
    Words names;
    for (const RouteHop& hop : found.hops) {
      const Link& link = cluster.graph().link(hop.link);
      if (level_of(cluster.graph(), hop.link) == "torus") {
        names.push_back(cluster.graph().name(link.target));
      }
    }
    return names;
  };
  // Node x + 4 y + 16 z. To (1, 1, 1).
  CHECK(switches("node0", "node21") == Words{"switch1", "switch5", "switch21"});
  // To (3, 0, 2): each around the edge.
  CHECK(switches("node0", "node35") == Words{"switch3", "switch35"});
  // Half way around: to places 2 and 0 upwards, to 3 and 1 downwards; y likewise.
  CHECK(switches("node0", "node2") == Words{"switch1", "switch2"});
  CHECK(switches("node2", "node0") == Words{"switch3", "switch0"});
  CHECK(switches("node1", "node3") == Words{"switch0", "switch3"});
  CHECK(switches("node3", "node1") == Words{"switch2", "switch1"});
  CHECK(switches("node4", "node12") == Words{"switch0", "switch12"});
  CHECK(switches("node0", "node10") == Words{"switch1", "switch2", "switch6", "switch10"});
}

TEST_CASE("static loads all links of a torus of rings of 4 alike in an all-to-all") {
  const Cluster cluster(test::torus({4, 4}));
  const Graph& graph = cluster.graph();
  std::map<LinkId, int> load;
  for (const DeviceId from : graph.gpus()) {
    for (const DeviceId to : graph.gpus()) {
      if (from != to) {
        for (const RouteHop& hop : cluster.router().route(from, to).hops) {
          load[hop.link] += level_of(graph, hop.link) == "torus" ? 1 : 0;
        }
      }
    }
  }
  // 16 senders, 16 receivers, on average 1 link in each dimension; 2 links each way of a dimension a node.
  for (const auto& [link, messages] : load) {
    REQUIRE(messages == (level_of(graph, link) == "torus" ? 16 * 16 / (16 * 2) : 0));
  }
}

TEST_CASE("ecmp: a connection keeps its path, others spread, another seed is another spread") {
  // 16 uplinks from each leaf.
  ClusterSpec spec = test::rail_optimized(32, 1, 2, 32);
  spec.fabric.kind = FabricKind::LeafSpine;
  spec.fabric.routing = RoutingKind::Ecmp;
  const Cluster cluster(spec);
  spec.fabric.seed = 1;
  const Cluster other_seed(spec);
  std::map<std::string, int> used;
  int moved = 0;
  constexpr int connections = 1600;
  for (std::uint32_t connection = 0; connection < connections; ++connection) {
    const Words path = hops(cluster, route(cluster, "node0.gpu0", "node16.gpu0", connection));
    REQUIRE(path == hops(cluster, route(cluster, "node0.gpu0", "node16.gpu0", connection)));
    ++used[path.at(2)];
    if (path != hops(other_seed, route(other_seed, "node0.gpu0", "node16.gpu0", connection))) {
      ++moved;
    }
  }
  CHECK(used.size() == 16);
  // Binomial: 100 expected on each, standard deviation 9.7; five of them.
  CHECK(std::ranges::all_of(
      used, [](const auto& entry) { return entry.second > 100 - 49 && entry.second < 100 + 49; }));
  // 15 of 16 take another uplink: 1500 expected, standard deviation 9.7.
  CHECK(moved > 1500 - 49);
}

TEST_CASE("static spreads a shift by whole groups evenly over the cables of every tier") {
  // Every GPU sends to its counterpart in the next group: each cable between switches is used once each
  // way. Leaf groups of 4 nodes with 2 rails; with cores, pods of 8 nodes.
  struct Case {
    ClusterSpec spec;
    std::uint32_t shift = 0;
  };
  ClusterSpec merged = test::rail_optimized(32, 2, 3, 8);
  merged.fabric.tiers[2].count = 4;
  merged.fabric.tiers[2].ports = 16;
  for (const Case& entry :
       {Case{test::rail_optimized(16, 2, 2, 8), 4}, Case{test::rail_optimized(8, 2, 2, 8), 4},
        Case{test::rail_optimized(32, 2, 3, 8), 8}, Case{merged, 8}}) {
    const Cluster cluster(entry.spec);
    const Graph& graph = cluster.graph();
    std::map<LinkId, int> load;
    for (std::uint32_t node = 0; node < entry.spec.nodes; ++node) {
      for (const std::string gpu : {".gpu0", ".gpu1"}) {
        const Route found =
            route(cluster, "node" + std::to_string(node) + gpu,
                  "node" + std::to_string((node + entry.shift) % entry.spec.nodes) + gpu);
        for (const RouteHop& hop : found.hops) {
          ++load[hop.link];
        }
      }
    }
    for (std::size_t i = 0; i < graph.links().size(); ++i) {
      const std::string level = level_of(graph, LinkId(i));
      if (level == "spine" || level == "core") {
        CAPTURE(graph.name(LinkId(i)));
        REQUIRE(load[LinkId(i)] == 1);
      }
    }
  }
}

TEST_CASE("static routes commute with a shift by whole leaf groups on rails") {
  const Cluster cluster(test::rail_optimized(16, 2, 2, 8));
  const Graph& graph = cluster.graph();
  // Node n goes to n + 4, leaf l to l + 2; spines stay.
  const auto image = [&](DeviceId device) {
    const std::string name = graph.name(device);
    const auto moved = [&](std::size_t stem, int by, int count) {
      const std::size_t end = std::min(name.find('.'), name.size());
      const int number = std::stoi(name.substr(stem, end - stem));
      return test::device(
          graph, name.substr(0, stem) + std::to_string((number + by) % count) + name.substr(end));
    };
    return name.starts_with("node")   ? moved(4, 4, 16)
           : name.starts_with("leaf") ? moved(4, 2, 8)
                                      : device;
  };
  for (const DeviceId from : graph.gpus()) {
    for (const DeviceId to : graph.gpus()) {
      if (from == to) {
        continue;
      }
      const Route here = cluster.router().route(from, to);
      const Route there = cluster.router().route(image(from), image(to));
      REQUIRE(here.hops.size() == there.hops.size());
      for (std::size_t i = 0; i < here.hops.size(); ++i) {
        const Link& link = graph.link(here.hops[i].link);
        const Link& other = graph.link(there.hops[i].link);
        REQUIRE((image(link.source) == other.source && image(link.target) == other.target));
      }
    }
  }
}
