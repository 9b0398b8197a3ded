// The classes of nvidia-smi, on nodes small enough to see them.

#include "topology/path_class.hpp"

#include <chrono>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"

using namespace collsim;

namespace {

/// "gpu0 pcie gpu1": the kinds of links between names, all of one node unless the name begins with
/// "out".
class Sketch {
 public:
  Sketch& device(const std::string& name, DeviceKind kind) {
    spec_.devices.push_back({name, kind, std::nullopt});
    if (!name.starts_with("out")) {
      spec_.devices.back().node = 0;
    }
    return *this;
  }
  Sketch& link(const std::string& from, const std::string& to, LinkKind kind,
               std::uint16_t bonded = 1) {
    spec_.links.push_back(
        test::link(from, to, test::textbook_bandwidth, std::chrono::nanoseconds(1), kind));
    spec_.links.back().bonded = bonded;
    return *this;
  }
  Sketch& one_way() {
    spec_.links.back().duplex = Duplex::OneWay;
    return *this;
  }

  /// What stands in the row of `from` and the column of `to`.
  [[nodiscard]] std::string between(const std::string& from, const std::string& to) const {
    ClusterSpec cluster;
    cluster.graph = spec_;
    const Graph graph = build_graph(cluster);
    const std::vector<DeviceId> target{test::device(graph, to)};
    return to_text(path_types(graph, test::device(graph, from), target).front());
  }

 private:
  ExplicitGraphSpec spec_;
};

Sketch two_gpus() { return Sketch().device("a", DeviceKind::Gpu).device("b", DeviceKind::Gpu); }

std::vector<std::string> row(const Graph& graph, const std::string& from,
                             const std::vector<std::string>& to) {
  std::vector<DeviceId> devices;
  for (const std::string& name : to) {
    devices.push_back(test::device(graph, name));
  }
  std::vector<std::string> texts;
  for (const PathType type : path_types(graph, test::device(graph, from), devices)) {
    texts.push_back(to_text(type));
  }
  return texts;
}

}  // namespace

TEST_CASE("direct NVLinks are counted, bonded ones each") {
  CHECK(two_gpus().link("a", "b", LinkKind::Nvlink).between("a", "b") == "NV1");
  CHECK(two_gpus().link("a", "b", LinkKind::Nvlink, 4).between("b", "a") == "NV4");
  CHECK(two_gpus()
            .link("a", "b", LinkKind::Nvlink, 2)
            .link("a", "b", LinkKind::Nvlink)
            .between("a", "b") == "NV3");
  CHECK(two_gpus().link("a", "b", LinkKind::Nvlink).between("a", "a") == "X");
}

TEST_CASE("through NVSwitches the end with fewer links counts") {
  Sketch sketch = two_gpus()
                      .device("s", DeviceKind::Nvswitch)
                      .device("t", DeviceKind::Nvswitch)
                      .link("a", "s", LinkKind::Nvlink, 6)
                      .link("a", "t", LinkKind::Nvlink, 6)
                      .link("b", "s", LinkKind::Nvlink, 5)
                      .link("b", "t", LinkKind::Nvlink, 4);
  CHECK(sketch.between("a", "b") == "NV9");
  CHECK(sketch.between("b", "a") == "NV9");
}

TEST_CASE("links to an NVSwitch that does not lead on do not count") {
  Sketch sketch = two_gpus()
                      .device("s", DeviceKind::Nvswitch)
                      .device("t", DeviceKind::Nvswitch)
                      .link("a", "s", LinkKind::Nvlink, 2)
                      .link("a", "t", LinkKind::Nvlink, 6)
                      .link("b", "s", LinkKind::Nvlink, 12);
  CHECK(sketch.between("a", "b") == "NV2");
  // A second layer does lead on.
  CHECK(sketch.link("s", "t", LinkKind::Nvlink, 8).between("a", "b") == "NV8");
}

TEST_CASE("NVLink wins over PCIe, and other GPUs do not forward") {
  Sketch sketch = two_gpus()
                      .device("c", DeviceKind::Gpu)
                      .device("p", DeviceKind::PcieSwitch)
                      .link("a", "p", LinkKind::Pcie)
                      .link("b", "p", LinkKind::Pcie)
                      .link("c", "p", LinkKind::Pcie)
                      .link("a", "b", LinkKind::Nvlink)
                      .link("b", "c", LinkKind::Nvlink);
  CHECK(sketch.between("a", "b") == "NV1");
  CHECK(sketch.between("a", "c") == "PIX");
}

TEST_CASE("PCIe switches are counted, CPUs and sockets come after them") {
  Sketch sketch = two_gpus()
                      .device("c", DeviceKind::Gpu)
                      .device("d", DeviceKind::Gpu)
                      .device("p", DeviceKind::PcieSwitch)
                      .device("q", DeviceKind::PcieSwitch)
                      .device("cpu", DeviceKind::Cpu)
                      .device("far", DeviceKind::Cpu)
                      .device("nic", DeviceKind::Nic)
                      .link("a", "p", LinkKind::Pcie)
                      .link("b", "q", LinkKind::Pcie)
                      .link("p", "q", LinkKind::Pcie)
                      .link("p", "cpu", LinkKind::Pcie)
                      .link("c", "cpu", LinkKind::Pcie)
                      .link("cpu", "far", LinkKind::Socket)
                      .link("d", "far", LinkKind::Pcie)
                      .link("nic", "a", LinkKind::Pcie);
  CHECK(sketch.between("a", "b") == "PXB");
  CHECK(sketch.between("a", "c") == "PHB");
  CHECK(sketch.between("a", "d") == "SYS");
  // No switch at all: "at most one".
  CHECK(sketch.between("a", "nic") == "PIX");
  CHECK(sketch.between("nic", "a") == "PIX");
}

TEST_CASE("several CPUs without a link between sockets are NODE") {
  CHECK(two_gpus()
            .device("x", DeviceKind::Cpu)
            .device("y", DeviceKind::Cpu)
            .link("a", "x", LinkKind::Pcie)
            .link("x", "y", LinkKind::Generic)
            .link("y", "b", LinkKind::Pcie)
            .between("a", "b") == "NODE");
}

TEST_CASE("the best of several ways counts, even if it is longer") {
  Sketch sketch = two_gpus()
                      .device("x", DeviceKind::Cpu)
                      .device("p", DeviceKind::PcieSwitch)
                      .device("q", DeviceKind::PcieSwitch)
                      .link("a", "x", LinkKind::Pcie)
                      .link("x", "b", LinkKind::Pcie)
                      .link("a", "p", LinkKind::Pcie)
                      .link("p", "q", LinkKind::Pcie)
                      .link("q", "b", LinkKind::Pcie);
  CHECK(sketch.between("a", "b") == "PXB");
}

TEST_CASE("xGMI and links of no kind have classes of their own") {
  CHECK(two_gpus().link("a", "b", LinkKind::Xgmi).between("a", "b") == "XGMI");
  CHECK(two_gpus().link("a", "b", LinkKind::Generic).between("a", "b") == "LINK");
  const Graph star = build_graph(test::star(3));
  CHECK(row(star, "gpu1", {"gpu0", "gpu1", "gpu2"}) ==
        std::vector<std::string>{"LINK", "X", "LINK"});
}

TEST_CASE("NICs and switches of no node are the network") {
  CHECK(two_gpus()
            .device("out", DeviceKind::NetworkSwitch)
            .link("a", "out", LinkKind::Ethernet)
            .link("b", "out", LinkKind::Ethernet)
            .between("a", "b") == "NET");
  CHECK(two_gpus()
            .device("m", DeviceKind::Nic)
            .device("n", DeviceKind::Nic)
            .link("a", "m", LinkKind::Pcie)
            .link("m", "n", LinkKind::Infiniband)
            .link("n", "b", LinkKind::Pcie)
            .between("a", "b") == "NET");
  // An NVSwitch outside the nodes is no network.
  CHECK(two_gpus()
            .device("out", DeviceKind::Nvswitch)
            .link("a", "out", LinkKind::Nvlink, 18)
            .link("b", "out", LinkKind::Nvlink, 18)
            .between("a", "b") == "NV18");
}

TEST_CASE("links one way only give a class one way only") {
  Sketch sketch = two_gpus()
                      .device("p", DeviceKind::PcieSwitch)
                      .link("a", "p", LinkKind::Pcie)
                      .link("b", "p", LinkKind::Pcie)
                      .link("a", "b", LinkKind::Nvlink)
                      .one_way();
  CHECK(sketch.between("a", "b") == "NV1");
  CHECK(sketch.between("b", "a") == "PIX");
}

TEST_CASE("a node with two GPUs and two NICs a switch, two switches a socket") {
  // Positions from the description: switch i / 2, socket i / 4; NVLink between GPUs.
  const Graph graph = build_graph(test::dgx(2));
  CHECK(row(graph, "node0.gpu0",
            {"node0.gpu0", "node0.gpu7", "node0.nic0", "node0.nic1", "node0.nic2", "node0.nic4",
             "node1.gpu0", "node1.nic0"}) ==
        std::vector<std::string>{"X", "NV1", "PIX", "PIX", "PHB", "SYS", "NET", "NET"});
  CHECK(row(graph, "node1.nic3", {"node1.nic2", "node1.nic1", "node1.nic7", "node0.nic3"}) ==
        std::vector<std::string>{"PIX", "PHB", "SYS", "NET"});
}

TEST_CASE("the words have meanings") {
  CHECK(name_of(PathClass::Nvlink) == "NV#");
  CHECK(meaning_of(PathClass::Pix) == "PCIe, at most one switch");
  CHECK(to_text({PathClass::Nvlink, 12}) == "NV12");
  CHECK(to_text({PathClass::Sys, 0}) == "SYS");
}
