// Classes of alike devices: by hand, and on random graphs against the definition.

#include "topology/symmetry.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"
#include "tests/topology/fabrics.hpp"
#include "tests/topology/random_graph.hpp"

using namespace collsim;

namespace {

/// How many classes the devices of one kind fall into.
std::size_t classes_of(const Graph& graph, const SymmetryClasses& symmetry, DeviceKind kind) {
  std::set<std::uint32_t> classes;
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    if (graph.devices()[i].kind == kind) {
      classes.insert(symmetry.of_device[i]);
    }
  }
  return classes.size();
}

using Sight = std::tuple<int, LevelId, LinkKind, Bandwidth, Duration, std::uint32_t>;

/// What a device sees: its own class, its node's, and each link with the class at its other end.
std::pair<std::vector<std::uint32_t>, std::multiset<Sight>> sights(
    const Graph& graph, const std::vector<std::uint32_t>& of_device,
    const std::vector<std::uint32_t>& of_node, std::size_t index) {
  const DeviceId id(index);
  const Device& device = graph.device(id);
  std::multiset<Sight> seen;
  for (const LinkId link_id : graph.links_out(id)) {
    const Link& link = graph.link(link_id);
    seen.emplace(0, link.level, link.kind, link.bandwidth, link.latency,
                 of_device[link.target.index()]);
  }
  for (const LinkId link_id : graph.links_in(id)) {
    const Link& link = graph.link(link_id);
    seen.emplace(1, link.level, link.kind, link.bandwidth, link.latency,
                 of_device[link.source.index()]);
  }
  std::vector<std::uint32_t> own{of_device[index]};
  if (device.node) {
    own.push_back(of_node[device.node->index()]);
  }
  return {own, seen};
}

/// The same classes found the slow way: everything is looked at again until nothing changes.
SymmetryClasses refined_slowly(const Graph& graph) {
  SymmetryClasses classes;
  for (const Device& device : graph.devices()) {
    classes.of_device.push_back(static_cast<std::uint32_t>(device.kind));
  }
  classes.of_node.assign(graph.nodes(), 0);
  for (std::size_t round = 0; round <= graph.devices().size() + graph.nodes(); ++round) {
    std::map<std::pair<std::vector<std::uint32_t>, std::multiset<Sight>>, std::uint32_t> devices;
    std::map<std::pair<std::uint32_t, std::multiset<std::uint32_t>>, std::uint32_t> nodes;
    std::vector<std::uint32_t> next;
    for (std::size_t i = 0; i < graph.devices().size(); ++i) {
      const auto fresh = static_cast<std::uint32_t>(devices.size());
      next.push_back(
          devices.try_emplace(sights(graph, classes.of_device, classes.of_node, i), fresh)
              .first->second);
    }
    std::vector<std::multiset<std::uint32_t>> members(graph.nodes());
    for (std::size_t i = 0; i < graph.devices().size(); ++i) {
      if (const auto node = graph.devices()[i].node) {
        members[node->index()].insert(classes.of_device[i]);
      }
    }
    std::vector<std::uint32_t> next_nodes;
    for (std::size_t n = 0; n < graph.nodes(); ++n) {
      const auto fresh = static_cast<std::uint32_t>(nodes.size());
      next_nodes.push_back(
          nodes.try_emplace({classes.of_node[n], members[n]}, fresh).first->second);
    }
    classes.of_device = std::move(next);
    classes.of_node = std::move(next_nodes);
    classes.device_classes = static_cast<std::uint32_t>(devices.size());
    classes.node_classes = static_cast<std::uint32_t>(nodes.size());
  }
  return classes;
}

}  // namespace

TEST_CASE("all GPUs of a star are alike") {
  const Graph graph = build_graph(test::star(5));
  const SymmetryClasses symmetry = symmetry_classes(graph);
  // The GPUs, and the switch.
  CHECK(symmetry.device_classes == 2);
  CHECK(symmetry.of_device == std::vector<std::uint32_t>{0, 0, 0, 0, 0, 1});
  CHECK(symmetry.node_classes == 1);
}

TEST_CASE("one wider link sets a GPU apart, and its like with it") {
  ClusterSpec spec = test::star(4);
  spec.node.links.push_back(test::link("gpu1", "gpu3", test::textbook_bandwidth * 2, Duration(1)));
  const SymmetryClasses both = symmetry_classes(build_graph(spec));
  CHECK(both.of_device == std::vector<std::uint32_t>{0, 1, 0, 1, 2});
  // One way only: the two ends differ.
  spec.node.links.back().duplex = Duplex::OneWay;
  const SymmetryClasses one = symmetry_classes(build_graph(spec));
  CHECK(one.of_device == std::vector<std::uint32_t>{0, 1, 0, 2, 3});
}

TEST_CASE("like nodes on like leaves are alike") {
  // Leaves of 32 ports, 16 down: two nodes of 8 NICs each; 4 nodes fill 2 leaves.
  const Graph full = build_graph(test::dgx_leaf_spine(4, 32, 1, RoutingKind::Fixed));
  const SymmetryClasses symmetry = symmetry_classes(full);
  CHECK(symmetry.node_classes == 1);
  // gpu, nvswitch, pcie switch, cpu, nic, leaf, spine.
  CHECK(symmetry.device_classes == 7);
}

TEST_CASE("a node alone on its leaf is unlike those in company") {
  const Graph graph = build_graph(test::dgx_leaf_spine(3, 32, 1, RoutingKind::Fixed));
  const SymmetryClasses symmetry = symmetry_classes(graph);
  CHECK(symmetry.of_node == std::vector<std::uint32_t>{0, 0, 1});
  CHECK(classes_of(graph, symmetry, DeviceKind::Gpu) == 2);
  CHECK(classes_of(graph, symmetry, DeviceKind::NetworkSwitch) == 3);  // two leaves, the spines
}

TEST_CASE("which node a device is in makes a difference") {
  // Four GPUs on one switch; three in one node, one in another.
  ClusterSpec spec;
  spec.graph = ExplicitGraphSpec{};
  for (std::uint32_t i = 0; i < 4; ++i) {
    spec.graph->devices.push_back({"g" + std::to_string(i), DeviceKind::Gpu, i == 3 ? 1U : 0U});
  }
  spec.graph->devices.push_back({"s", DeviceKind::Nvswitch, std::nullopt});
  for (std::uint32_t i = 0; i < 4; ++i) {
    spec.graph->links.push_back(
        test::link("g" + std::to_string(i), "s", test::textbook_bandwidth, Duration(1)));
  }
  const SymmetryClasses symmetry = symmetry_classes(build_graph(spec));
  CHECK(symmetry.of_device == std::vector<std::uint32_t>{0, 0, 0, 1, 2});
  CHECK(symmetry.of_node == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("a fault at one end of a chain is noticed at the other") {
  // GPUs in a row; the ends are alike until one gets another link.
  ClusterSpec spec;
  spec.node.gpus = 6;
  spec.node.devices = {{"hub", DeviceKind::Nvswitch, std::nullopt}};
  spec.node.links = {test::link("gpu", "hub", test::textbook_bandwidth, Duration(1))};
  for (std::uint32_t i = 0; i + 1 < 6; ++i) {
    spec.node.links.push_back(test::link("gpu" + std::to_string(i), "gpu" + std::to_string(i + 1),
                                         test::textbook_bandwidth, Duration(2)));
  }
  CHECK(symmetry_classes(build_graph(spec)).of_device ==
        std::vector<std::uint32_t>{0, 1, 2, 2, 1, 0, 3});
  spec.node.links.push_back(test::link("gpu0", "hub", test::textbook_bandwidth, Duration(3)));
  CHECK(symmetry_classes(build_graph(spec)).device_classes == 7);
}

// Two rings of three switches cannot be told from one of six by walking along links.
TEST_CASE("one class is no proof of a symmetry") {
  const auto rings = [](std::uint32_t length) {
    ExplicitGraphSpec spec;
    for (std::uint32_t i = 0; i < 6; ++i) {
      const std::string name = std::to_string(i);
      const std::uint32_t next = i / length * length + (i + 1) % length;
      spec.devices.push_back({"s" + name, DeviceKind::NetworkSwitch, std::nullopt});
      spec.devices.push_back({"g" + name, DeviceKind::Gpu, i});
      spec.links.push_back(test::link("s" + name, "s" + std::to_string(next),
                                      test::textbook_bandwidth, Duration(1)));
      spec.links.push_back(
          test::link("s" + name, "g" + name, test::textbook_bandwidth, Duration(1)));
    }
    return detail::build_explicit(spec);
  };
  CHECK(symmetry_classes(rings(6)).of_device == symmetry_classes(rings(3)).of_device);
  CHECK(symmetry_classes(rings(6)).device_classes == 2);
}

TEST_CASE("classes agree with looking at everything until nothing changes") {
  CHECK(rc::check("on random graphs", [] {
    const Graph graph = test::random_graph({.most_nics = 2, .one_bandwidth = true});
    const SymmetryClasses quick = symmetry_classes(graph);
    const SymmetryClasses slow = refined_slowly(graph);
    // Both number classes in order of their first member.
    RC_ASSERT(quick.of_device == slow.of_device);
    RC_ASSERT(quick.of_node == slow.of_node);
    RC_ASSERT(quick.device_classes == slow.device_classes);
  }));
}

TEST_CASE("classes agree on regular graphs with a few faults, too") {
  CHECK(rc::check("on rings of GPUs and switches", [] {
    const auto count = *rc::gen::inRange(3U, 12U);
    ExplicitGraphSpec spec;
    for (std::uint32_t i = 0; i < count; ++i) {
      spec.devices.push_back({"s" + std::to_string(i), DeviceKind::NetworkSwitch, std::nullopt});
      spec.devices.push_back({"g" + std::to_string(i), DeviceKind::Gpu, i / 2});
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::string name = std::to_string(i);
      const bool fault = *rc::gen::inRange(0, 6) == 0;
      spec.links.push_back(test::link("s" + name, "s" + std::to_string((i + 1) % count),
                                      test::textbook_bandwidth * (fault ? 2 : 1),
                                      std::chrono::nanoseconds(1)));
      spec.links.push_back(test::link("g" + name, "s" + name, test::textbook_bandwidth,
                                      std::chrono::nanoseconds(1)));
    }
    const Graph graph = detail::build_explicit(spec);
    const SymmetryClasses slow = refined_slowly(graph);
    RC_ASSERT(symmetry_classes(graph).of_device == slow.of_device);
    RC_ASSERT(symmetry_classes(graph).of_node == slow.of_node);
  }));
}

// Here every class splits again and again, by several kinds of links.
TEST_CASE("classes agree on dragonflies and tori") {
  CHECK(rc::check("of any size", [] {
    const auto nodes = *rc::gen::inRange(2U, 20U);
    const ClusterSpec spec =
        *rc::gen::arbitrary<bool>()
            ? test::dragonfly(nodes, *rc::gen::inRange(1U, 3U), *rc::gen::inRange(1U, 4U),
                              *rc::gen::inRange(1U, 4U), *rc::gen::inRange(1U, 5U))
            : test::torus({nodes, *rc::gen::inRange(1U, 4U)});
    const Graph graph = build_graph(spec);
    const SymmetryClasses slow = refined_slowly(graph);
    RC_ASSERT(symmetry_classes(graph).of_device == slow.of_device);
    RC_ASSERT(symmetry_classes(graph).of_node == slow.of_node);
  }));
}
