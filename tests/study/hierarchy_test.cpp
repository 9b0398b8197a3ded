// Which rungs a cluster has, and their figures, worked out by hand from its links.

#include "study/hierarchy.hpp"

#include <array>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"

namespace collsim {
namespace {

using namespace collsim::literals;

constexpr std::array<Bytes, 2> sizes{1_MiB, 1_GiB};

/// L1 of 32 MiB at 16 TB/s after 20 ns; memory of 80 GB at 2 TB/s after 400 ns.
std::vector<MemoryLevelSpec> two_levels() {
  MemoryLevelSpec near;
  near.level = MemoryLevel::L1;
  near.name = "L1";
  near.capacity = {32 * 1_MiB, FigureSource::Nominal};
  near.bandwidth = {16'000_GBps, FigureSource::Estimate};
  near.latency = {20'000_ps, FigureSource::Measured};
  near.note = "a note";
  MemoryLevelSpec far;
  far.level = MemoryLevel::Memory;
  far.name = "HBM9";
  far.capacity = {Bytes(80'000'000'000), FigureSource::Nominal};
  far.bandwidth = {2000_GBps, FigureSource::Nominal};
  far.latency = {400'000_ps, FigureSource::Literature};
  return {near, far};
}

Hierarchy ladder_of(const ClusterSpec& spec) { return build_hierarchy(Cluster(spec), sizes); }

std::vector<std::string> names(const Hierarchy& hierarchy) {
  std::vector<std::string> names;
  for (const Rung& rung : hierarchy.rungs) {
    names.push_back(rung.name);
  }
  return names;
}

const Rung& rung(const Hierarchy& hierarchy, const std::string& name) {
  for (const Rung& rung : hierarchy.rungs) {
    if (rung.name == name) {
      return rung;
    }
  }
  COLLSIM_ENSURE(false, "no rung " + name);
}

bool has_rate(const Rung& rung, Bandwidth bandwidth) {
  return rung.bandwidth && compare(rung.bandwidth->value, Rate(bandwidth)) == 0;
}

/// GPUs g0, g1, … on one switch. The link of g_i has a latency of (i + 1) · 100 ns.
ClusterSpec uneven_star(std::size_t gpus) {
  ClusterSpec spec;
  spec.name = "uneven";
  spec.graph.emplace();
  spec.graph->devices = {{"hub", DeviceKind::PcieSwitch, 0}};
  for (std::size_t i = 0; i < gpus; ++i) {
    const std::string name = "g" + std::to_string(i);
    spec.graph->devices.push_back({name, DeviceKind::Gpu, 0});
    spec.graph->links.push_back(test::link(name, "hub", 10_GBps,
                                           Duration(static_cast<std::int64_t>(i + 1) * 100'000),
                                           LinkKind::Pcie));
  }
  return spec;
}

}  // namespace

TEST_CASE("inside the GPU the rungs are what the description says") {
  ClusterSpec spec = test::star(1);
  spec.node.gpu_memory = two_levels();
  const Hierarchy ladder = ladder_of(spec);
  REQUIRE(names(ladder) == std::vector<std::string>{"L1", "HBM9"});
  const Rung& l1 = ladder.rungs[0];
  CHECK(l1.kind == RungKind::Memory);
  CHECK(l1.scope == RungScope::Gpu);
  CHECK(l1.level == "l1");
  CHECK(l1.capacity->value == 32 * 1_MiB);
  CHECK(l1.capacity->source == FigureSource::Nominal);
  CHECK(has_rate(l1, 16'000_GBps));
  CHECK(l1.bandwidth->source == FigureSource::Estimate);
  CHECK(l1.latency->value == 20'000_ps);
  CHECK(l1.latency->source == FigureSource::Measured);
  CHECK(l1.load == 20'000_ps);
  CHECK(l1.note == "a note");
  CHECK(l1.times_slower == 0.125);  // 2 TB/s over 16 TB/s
  REQUIRE(l1.times.size() == 2);
  // 1048576 B at 16 B/ps are 65536 ps.
  CHECK(l1.times[0].bytes == 1_MiB);
  CHECK(l1.times[0].time == 85'536_ps);
  CHECK_FALSE(l1.times[1].fits);  // 1 GiB in 32 MiB
  CHECK_FALSE(l1.times[1].time.has_value());

  const Rung& memory = ladder.rungs[1];
  CHECK(ladder.memory == 1U);
  CHECK(memory.times_slower == 1.0);
  // 2 B/ps: 524288 ps and 536870912 ps.
  CHECK(memory.times[0].time == 924'288_ps);
  CHECK(memory.times[1].time == 537'270'912_ps);
}

TEST_CASE("what is not known stays unknown") {
  ClusterSpec spec = test::star(2);
  spec.node.gpu_memory = two_levels();
  spec.node.gpu_memory[0].bandwidth.reset();
  spec.node.gpu_memory[1].latency.reset();
  spec.node.gpu_memory[1].capacity.reset();
  const Hierarchy ladder = ladder_of(spec);
  const Rung& l1 = rung(ladder, "L1");
  CHECK_FALSE(l1.times_slower.has_value());
  CHECK(l1.times[0].fits);
  CHECK_FALSE(l1.times[0].time.has_value());
  const Rung& memory = rung(ladder, "HBM9");
  CHECK_FALSE(memory.load.has_value());
  CHECK_FALSE(memory.times[0].time.has_value());
  // The other GPU's figures are those of the link; what its memory adds is not known.
  const Rung& peer = rung(ladder, "GPU over a link");
  CHECK_FALSE(peer.load.has_value());
  CHECK_FALSE(peer.capacity.has_value());
  CHECK(peer.times_slower == 40.0);  // 2000 over 50 GB/s
  CHECK(peer.times[0].time.has_value());
}

TEST_CASE("without the memory's bandwidth nothing is compared with it") {
  ClusterSpec spec = test::star(2);
  for (const Rung& rung : ladder_of(spec).rungs) {
    CHECK_FALSE(rung.times_slower.has_value());
  }
  spec.node.gpu_memory = two_levels();
  spec.node.gpu_memory[1].bandwidth.reset();
  for (const Rung& rung : ladder_of(spec).rungs) {
    CHECK_FALSE(rung.times_slower.has_value());
  }
}

TEST_CASE("outside the GPU the rungs are the levels that its routes cross") {
  // Leaves of 32 ports, 16 of them down: two nodes of 8 NICs each.
  ClusterSpec spec = test::dgx_leaf_spine(4, 32, 1, RoutingKind::Fixed);
  spec.node.gpu_memory = two_levels();
  const Cluster cluster(spec);
  const Hierarchy ladder = build_hierarchy(cluster, sizes);
  CHECK(cluster.graph().name(ladder.gpu) == "node0.gpu0");
  REQUIRE(names(ladder) == std::vector<std::string>{"L1", "HBM9", "GPU over NVLink",
                                                    "CPU over PCIe", "CPU over the socket link",
                                                    "GPU over NIC and leaf",
                                                    "GPU over NIC and spine"});

  const Rung& nvlink = rung(ladder, "GPU over NVLink");
  CHECK(nvlink.kind == RungKind::Gpu);
  CHECK(nvlink.scope == RungScope::Node);
  CHECK(nvlink.level == "nvlink");
  CHECK(nvlink.devices == 7);
  CHECK(nvlink.example == test::device(cluster.graph(), "node0.gpu1"));
  CHECK(nvlink.through == std::vector<DeviceKind>{DeviceKind::Nvswitch});
  CHECK(has_rate(nvlink, 450_GBps));
  CHECK_FALSE(nvlink.bandwidth->source.has_value());
  CHECK(nvlink.latency->value == 500'000_ps);               // 250 ns to the switch and from it
  CHECK(nvlink.load == 1'400'000_ps);                       // there, back, and 400 ns of memory
  CHECK(nvlink.capacity->value == Bytes(560'000'000'000));  // 7 times 80 GB
  CHECK(nvlink.capacity->source == FigureSource::Nominal);
  CHECK(*nvlink.times_slower == Approx(2000.0 / 450.0));
  // 1048576 B at 0.45 B/ps: 2330168.9 ps, and the way.
  CHECK(nvlink.times[0].time == 2'830'169_ps);

  // 150 ns to the PCIe switch and 150 ns to the CPU; 200 ns to the other one.
  const Rung& host = rung(ladder, "CPU over PCIe");
  CHECK(host.kind == RungKind::Cpu);
  CHECK(host.scope == RungScope::Node);
  CHECK(host.latency->value == 300'000_ps);
  CHECK(has_rate(host, 64_GBps));
  CHECK(host.devices == 1);
  CHECK_FALSE(host.load.has_value());  // how fast its memory is, is not described
  CHECK_FALSE(host.capacity.has_value());
  const Rung& other_host = rung(ladder, "CPU over the socket link");
  CHECK(other_host.latency->value == 500'000_ps);
  CHECK(has_rate(other_host, 64_GBps));  // PCIe is the narrowest

  // 300 ns to the NIC, 30 ns to the leaf, 230 + 30 ns to the other NIC, 300 ns to the GPU.
  const Rung& leaf = rung(ladder, "GPU over NIC and leaf");
  CHECK(leaf.scope == RungScope::Cluster);
  CHECK(leaf.devices == 8);
  CHECK(leaf.latency->value == 890'000_ps);
  CHECK(leaf.load == 2'180'000_ps);
  CHECK(has_rate(leaf, 50_GBps));
  CHECK(leaf.through == std::vector<DeviceKind>{DeviceKind::PcieSwitch, DeviceKind::Nic,
                                                DeviceKind::NetworkSwitch, DeviceKind::Nic,
                                                DeviceKind::PcieSwitch});
  // Besides, 230 + 30 ns to the spine and 240 + 30 ns from it.
  const Rung& spine = rung(ladder, "GPU over NIC and spine");
  CHECK(spine.devices == 16);
  CHECK(spine.latency->value == 1'420'000_ps);
  CHECK(spine.capacity->value == Bytes(1'280'000'000'000));
  CHECK(has_rate(spine, 50_GBps));
  CHECK(*spine.times_slower == Approx(40));
}

TEST_CASE("a sprayed route is told by one of its ways") {
  ClusterSpec spec = test::dgx_leaf_spine(4, 32, 1, RoutingKind::Spray);
  const Rung spine = ladder_of(spec).rungs.back();
  CHECK(spine.name == "GPU over NIC and spine");
  CHECK(spine.through ==
        std::vector<DeviceKind>{DeviceKind::PcieSwitch, DeviceKind::Nic, DeviceKind::NetworkSwitch,
                                DeviceKind::NetworkSwitch, DeviceKind::NetworkSwitch,
                                DeviceKind::Nic, DeviceKind::PcieSwitch});
  CHECK(has_rate(spine, 50_GBps));  // the cable of the NIC
}

TEST_CASE("a CPU that is reached over NICs alone is no host") {
  ClusterSpec spec = test::star(2);
  spec.node.devices.push_back({"nic", DeviceKind::Nic, std::nullopt});
  spec.node.devices.push_back({"cpu", DeviceKind::Cpu, std::nullopt});
  spec.node.links.push_back(test::link("nic", "switch", 10_GBps, 0_ps));
  spec.node.links.push_back(test::link("nic", "cpu", 10_GBps, 0_ps));
  CHECK(names(ladder_of(spec)) == std::vector<std::string>{"GPU over a link"});
}

TEST_CASE("a CPU's rung has the memory behind it, where that is described") {
  // Two CPUs, one over PCIe of 64 GB/s (2 x 150 ns), one farther over the socket link (200 ns).
  ClusterSpec spec = test::dgx(1);
  spec.node.host_memory = HostMemorySpec{"DDR9",
                                         {{1'000'000'000'000_B, FigureSource::Nominal}},
                                         {{300_GBps, FigureSource::Nominal}},
                                         {{100'000_ps, FigureSource::Measured}}};
  const Hierarchy ladder = ladder_of(spec);
  const Rung& near = rung(ladder, "CPU over PCIe");
  CHECK(near.capacity->value == 1'000'000'000'000_B);
  CHECK(near.capacity->source == FigureSource::Nominal);
  CHECK(has_rate(near, 64_GBps));
  CHECK(near.load == 2 * 300'000_ps + 100'000_ps);
  CHECK(near.note == "DDR9: 300 GB/s for each CPU, nominal");
  CHECK(rung(ladder, "CPU over the socket link").load == 2 * 500'000_ps + 100'000_ps);
  // Memory that is narrower than the way to it sets the bandwidth.
  spec.node.host_memory->bandwidth->value = 20_GBps;
  const Hierarchy narrow = ladder_of(spec);
  CHECK(has_rate(rung(narrow, "CPU over PCIe"), 20_GBps));
  CHECK(rung(narrow, "CPU over PCIe").bandwidth->source == FigureSource::Nominal);
  spec.node.host_memory.reset();
  CHECK_FALSE(rung(ladder_of(spec), "CPU over PCIe").capacity);
  CHECK(rung(ladder_of(spec), "CPU over PCIe").note.empty());
}

TEST_CASE("of one level, the wider way at the same latency is the nearer") {
  ClusterSpec spec = uneven_star(3);
  for (LinkSpec& link : spec.graph->links) {
    link.latency = 100'000_ps;
  }
  spec.graph->links[1].bandwidth = 5_GBps;
  const Hierarchy ladder = ladder_of(spec);
  REQUIRE(names(ladder) ==
          std::vector<std::string>{"GPU over PCIe, nearest", "GPU over PCIe, farthest"});
  CHECK(has_rate(ladder.rungs[0], 10_GBps));
  CHECK(has_rate(ladder.rungs[1], 5_GBps));
}

TEST_CASE("a few distances of one level are rungs each") {
  const Hierarchy ladder = ladder_of(uneven_star(5));
  REQUIRE(names(ladder) ==
          std::vector<std::string>{"GPU over PCIe, nearest", "GPU over PCIe, 2nd nearest",
                                   "GPU over PCIe, 3rd nearest", "GPU over PCIe, farthest"});
  // 100 ns to the hub, (i + 1) · 100 ns from it.
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(ladder.rungs[i].latency->value == Duration(static_cast<std::int64_t>(i + 3) * 100'000));
    CHECK(ladder.rungs[i].devices == 1);
    CHECK(ladder.rungs[i].note.empty());
  }
}

TEST_CASE("of many distances of one level the nearest stands alone, the rest is as the farthest") {
  const Hierarchy ladder = ladder_of(uneven_star(6));
  REQUIRE(names(ladder) ==
          std::vector<std::string>{"GPU over PCIe, nearest", "GPU over PCIe, farthest"});
  CHECK(ladder.rungs[0].devices == 1);
  CHECK(ladder.rungs[0].latency->value == 300'000_ps);
  CHECK(ladder.rungs[0].note.empty());
  CHECK(ladder.rungs[1].devices == 4);
  CHECK(ladder.rungs[1].latency->value == 700'000_ps);
  CHECK(ladder.rungs[1].note == "4 distances; the figures are of the farthest");
}

TEST_CASE("the way back may be longer than the way there") {
  ClusterSpec spec = test::star(2);
  spec.node.gpu_memory = two_levels();
  spec.node.links = {test::link("gpu0", "gpu1", 10_GBps, 100'000_ps),
                     test::link("gpu1", "gpu0", 10_GBps, 700'000_ps)};
  for (LinkSpec& link : spec.node.links) {
    link.duplex = Duplex::OneWay;
  }
  spec.node.devices.clear();
  const Rung peer = ladder_of(spec).rungs.back();
  CHECK(peer.latency->value == 100'000_ps);
  CHECK(peer.load == 1'200'000_ps);  // and 400 ns of memory
}

TEST_CASE("where GPUs differ, those far away count with their own memory") {
  ClusterSpec spec = test::textbook_nodes(2);
  spec.node.gpu_memory = two_levels();
  NodeGroupSpec other;
  other.node = spec.node;
  other.node.gpu_memory[1].capacity->value = Bytes(100'000'000'000);
  other.node.gpu_memory[1].latency->value = 300'000_ps;
  spec.more_nodes.push_back(other);
  const Hierarchy ladder = ladder_of(spec);
  // Four of 80 GB in the node like this one, four of 100 GB in the other.
  CHECK(ladder.rungs.back().capacity->value == Bytes(720'000'000'000));
  CHECK(ladder.rungs.back().load == 2 * ladder.rungs.back().latency->value + 400'000_ps);

  spec.nodes = 1;
  const Rung far = ladder_of(spec).rungs.back();
  CHECK(far.capacity->value == Bytes(400'000'000'000));
  CHECK(far.load == 2 * far.latency->value + 300'000_ps);

  spec.more_nodes[0].node.gpu_memory.clear();
  CHECK_FALSE(ladder_of(spec).rungs.back().capacity.has_value());
  CHECK_FALSE(ladder_of(spec).rungs.back().load.has_value());
}

TEST_CASE("one GPU without a word on its inside has no rungs") {
  CHECK(ladder_of(test::star(1)).rungs.empty());
}

}  // namespace collsim
