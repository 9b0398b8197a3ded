// What is told of routes without finding them is what finding them tells.

#include "topology/route_survey.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/fabrics.hpp"

using namespace collsim;

namespace {

bool same(Rate a, Rate b) { return compare(a, b) == 0; }

std::vector<DeviceId> others_than(const Graph& graph, DeviceId gpu) {
  std::vector<DeviceId> others(graph.gpus().begin(), graph.gpus().end());
  std::erase(others, gpu);
  return others;
}

bool is_of(const Cluster& cluster, const RouteFigures& figures, DeviceId from, DeviceId to) {
  const Graph& graph = cluster.graph();
  const Route route = cluster.router().route(from, to);
  LevelId level;
  for (const RouteHop& hop : route.hops) {
    level = std::max(level, graph.link(hop.link).level);
  }
  return figures.links == path_length(graph, route) && figures.latency == route.latency &&
         figures.level == level && same(figures.rate, route.full_rate(graph));
}

/// The positions of figures that differ from those of the route.
std::vector<std::size_t> wrong(const Cluster& cluster, DeviceId from,
                               const std::vector<DeviceId>& to,
                               const std::vector<RouteFigures>& figures) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (!figures[i].assumed && !is_of(cluster, figures[i], from, to[i])) {
      positions.push_back(i);
    }
  }
  return positions;
}

std::size_t assumed(const std::vector<RouteFigures>& figures) {
  return static_cast<std::size_t>(
      std::ranges::count_if(figures, [](const RouteFigures& one) { return one.assumed; }));
}

/// Of every GPU's routes to all others, with work enough for all and with none.
void check_all(const ClusterSpec& spec) {
  const Cluster cluster(spec);
  for (const DeviceId from : cluster.graph().gpus()) {
    const auto to = others_than(cluster.graph(), from);
    const auto all = survey_routes(cluster, from, to, SurveyRates::Yes);
    CHECK(assumed(all) == 0);
    CHECK(wrong(cluster, from, to, all).empty());
    CHECK(wrong(cluster, from, to, survey_routes(cluster, from, to, SurveyRates::Yes, 0)).empty());
  }
}

/// Nodes whose NICs have several ports on several planes, with all ways to choose NICs.
ClusterSpec striped(NicChoice choice) {
  ClusterSpec spec = test::rail_nodes(6, 4);
  spec.node.gpus = 2;
  spec.node.links[1].connect = Connect::All;
  spec.fabric.kind = FabricKind::LeafSpine;
  spec.fabric.tiers.assign(2, test::tier(16));
  spec.fabric.nic_ports = 2;
  spec.fabric.planes = 2;
  spec.fabric.nic_choice = choice;
  return spec;
}

}  // namespace

TEST_CASE("a survey tells what the routes are, on every fabric with every routing") {
  for (const RoutingKind routing : {RoutingKind::Fixed, RoutingKind::Spray, RoutingKind::Ecmp}) {
    for (ClusterSpec spec : {test::rail_optimized(6, 4, 2, 8), test::rail_optimized(12, 2, 3, 6),
                             test::dragonfly(12, 2, 2, 3, 2), test::torus({3, 4, 2}),
                             test::torus({7}), test::dgx_leaf_spine(4, 32, 1, routing),
                             test::textbook_nodes(3), test::mesh(4), striped(NicChoice::Nearest),
                             striped(NicChoice::Balanced), striped(NicChoice::RailAligned)}) {
      spec.fabric.routing = routing;
      check_all(spec);
    }
  }
}

TEST_CASE("paths of several widths, latencies and levels are looked at one by one") {
  // Two ways from gpu0 to gpu1, alike but for the latency of a link; static takes one of them.
  ClusterSpec spec = test::with_link(Connect::All, "gpu0", "sw");
  spec.node.links.push_back(test::link("sw0", "gpu1", test::textbook_bandwidth, Duration(7)));
  spec.node.links.push_back(
      test::link("sw1", "gpu1", test::textbook_bandwidth * 2, Duration(9), LinkKind::Nvlink));
  for (const RoutingKind routing : {RoutingKind::Fixed, RoutingKind::Spray, RoutingKind::Ecmp}) {
    spec.fabric.routing = routing;
    check_all(spec);
  }
}

TEST_CASE("the rate of a sprayed route is found, unless a link common to all paths sets it") {
  // In a torus with NICs three times as fast as the links between switches, two ways round the
  // corner carry twice what one does.
  ClusterSpec spec = test::torus({4, 4});
  spec.fabric.routing = RoutingKind::Spray;
  spec.fabric.tiers[0].link.bandwidth = test::textbook_bandwidth * 3;
  spec.node.links[1].bandwidth = test::textbook_bandwidth * 3;
  const Cluster cluster(spec);
  const DeviceId from = cluster.graph().gpus().front();
  const auto to = others_than(cluster.graph(), from);
  const auto figures = survey_routes(cluster, from, to, SurveyRates::Yes);
  CHECK(wrong(cluster, from, to, figures).empty());
  CHECK(same(figures[0].rate, Rate(test::textbook_bandwidth)));      // node1, beside
  CHECK(same(figures[4].rate, Rate(test::textbook_bandwidth * 2)));  // node5, diagonal
  // The four neighbours have one path each, which tells all. Without work for the others, one route of
  // each length is looked at: of 2, 3 and 4 links between switches.
  const auto some = survey_routes(cluster, from, to, SurveyRates::Yes, 0);
  CHECK(assumed(some) == 15 - 4 - 3);
  CHECK(wrong(cluster, from, to, some).empty());
  // Lengths and latencies are known without.
  const auto lengths = survey_routes(cluster, from, to, SurveyRates::No, 0);
  CHECK(assumed(lengths) == 0);
  for (std::size_t i = 0; i < to.size(); ++i) {
    CHECK(lengths[i].links == figures[i].links);
    CHECK(lengths[i].latency == figures[i].latency);
  }
}
