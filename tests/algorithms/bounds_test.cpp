#include "algorithms/bounds.hpp"

#include "algorithms/bounds_traffic.hpp"
#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"

using namespace collsim;
using namespace collsim::literals;

namespace {

CollectiveCall call_of(CollectiveKind kind, std::uint32_t ranks, std::int64_t bytes_of_count) {
  CollectiveCall call;
  call.kind = kind;
  call.ranks = ranks;
  call.count = bytes_of_count;
  call.type = DataType::Int8;
  return call;
}

std::vector<Bound> bounds_on(const Cluster& cluster, const CollectiveCall& call) {
  return lower_bounds(cluster, cluster.graph().gpus().first(call.ranks), call);
}

const Bound& named(const std::vector<Bound>& bounds, const std::string& name) {
  for (const Bound& bound : bounds) {
    if (bound.name == name) {
      return bound;
    }
  }
  FAIL("no bound " << name);
  return bounds.front();
}

bool has(const std::vector<Bound>& bounds, const std::string& name) {
  for (const Bound& bound : bounds) {
    if (bound.name == name) {
      return true;
    }
  }
  return false;
}

struct Expected {
  std::int64_t out = 0;
  std::int64_t in = 0;
};

void check_crossing(CollectiveKind kind, const std::vector<Expected>& expected) {
  // Five ranks, count 100 bytes, root 3; sets {0, 1, 4} and {2, 3}.
  CollectiveCall call = call_of(kind, 5, 100);
  call.root = Rank(3);
  const std::vector<std::uint32_t> set_of_rank{0, 0, 1, 1, 0};
  const auto sets = detail::cut_sets(call, set_of_rank, 2);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const detail::Crossing crossing = detail::must_cross(call, sets[i]);
    INFO(name_of(kind) << ", set " << i);
    CHECK((crossing.out == to_fine(Bytes(expected[i].out))));
    CHECK((crossing.in == to_fine(Bytes(expected[i].in))));
  }
}

}  // namespace

TEST_CASE("what must cross the border of a set of ranks") {
  using enum CollectiveKind;
  // The whole buffer to those without the root, or from them.
  check_crossing(Broadcast, {{0, 100}, {100, 0}});
  check_crossing(Reduce, {{100, 0}, {0, 100}});
  // A block for each rank on the side without the root.
  check_crossing(Scatter, {{0, 300}, {300, 0}});
  check_crossing(Gather, {{300, 0}, {0, 300}});
  // A block for each rank on the other side; sums of blocks the other way round.
  check_crossing(AllGather, {{300, 200}, {200, 300}});
  check_crossing(ReduceScatter, {{200, 300}, {300, 200}});
  check_crossing(AllReduce, {{100, 100}, {100, 100}});
  // A block for each pair.
  check_crossing(AllToAll, {{600, 600}, {600, 600}});
  // Rank 1 sends to 2, rank 3 to 4; no other pair is split.
  check_crossing(SendRecv, {{100, 100}, {100, 100}});
}

// 50 GB/s is 20 ps a byte; a route has 10^6 ps of latency.
TEST_CASE("the bounds of an all-reduce on a star, tightest first") {
  const auto bounds = bounds_on(Cluster(test::star(8)), call_of(CollectiveKind::AllReduce, 8, 800));
  REQUIRE(bounds.size() == 3);
  CHECK(bounds[0].name == "latency");
  CHECK(bounds[0].time == 1'000'000_ps);
  CHECK(bounds[0].where.empty());
  // 2·7·800 bytes over 8 links.
  CHECK(bounds[1].name == "total sent");
  CHECK(bounds[1].time == Duration(2 * 7 * 800 / 8 * 20));
  CHECK(bounds[2].name == "gpu cut");
  CHECK(bounds[2].time == Duration(800 * 20));
  CHECK(bounds[2].where == "gpu0");
}

TEST_CASE("a bound is rounded up, because every time is a whole number of picoseconds") {
  // 7 GB/s: a byte takes 142.86 ps.
  ClusterSpec spec = test::star(2);
  spec.node.links[0].bandwidth = 7_GBps;
  const auto bounds = bounds_on(Cluster(spec), call_of(CollectiveKind::AllGather, 2, 1));
  CHECK(named(bounds, "gpu cut").time == 143_ps);
}

TEST_CASE("nodes that share a NIC are bound by it") {
  // Two nodes of 4 GPUs, one NIC each: 12.5 GB/s, 80 ps a byte. Latency of a route between nodes:
  // 500 ns + 1 us to the NIC, 1 us to the switch, and the same back.
  const Cluster cluster(test::textbook_nodes(2));
  const auto reduced = bounds_on(cluster, call_of(CollectiveKind::AllReduce, 8, 1 << 20));
  CHECK(reduced.front().name == "node cut");
  CHECK(reduced.front().where == "node0");
  CHECK(reduced.front().time == Duration((1 << 20) * 80));
  CHECK(named(reduced, "latency").time == 5'000'000_ps);
  // 4·4 blocks each way.
  const auto exchanged = bounds_on(cluster, call_of(CollectiveKind::AllToAll, 8, 1000));
  CHECK(named(exchanged, "node cut").time == Duration(16 * 1000 * 80));
  // Rank 3 to rank 4, and rank 7 to rank 0.
  const auto shifted = bounds_on(cluster, call_of(CollectiveKind::SendRecv, 8, 1000));
  CHECK(named(shifted, "node cut").time == Duration(1000 * 80));
  // One node: nothing leaves it.
  CHECK_FALSE(has(bounds_on(cluster, call_of(CollectiveKind::AllReduce, 4, 1000)), "node cut"));
}

TEST_CASE("the GPUs' own order decides what crosses") {
  const Cluster cluster(test::textbook_nodes(2));
  const auto gpus = cluster.graph().gpus();
  // Dealt out to the nodes in turn, every rank sends to the other node: 4·1000 bytes.
  std::vector<DeviceId> dealt;
  for (std::size_t i = 0; i < 4; ++i) {
    dealt.push_back(gpus[i]);
    dealt.push_back(gpus[4 + i]);
  }
  const auto bounds = lower_bounds(cluster, dealt, call_of(CollectiveKind::SendRecv, 8, 1000));
  CHECK(named(bounds, "node cut").time == Duration(4 * 1000 * 80));
}

TEST_CASE("leaves that are oversubscribed bind their nodes together") {
  // Leaves of 16 ports down (2 nodes of 8 NICs) and 4 up, 50 GB/s each: 4 nodes on 2 leaves.
  // all_gather: 16 blocks into each leaf over 200 GB/s (5 ps a byte), 24 into each node over
  // 400 GB/s.
  const Cluster cluster(test::dgx_leaf_spine(4, 20, 4, RoutingKind::Fixed));
  const auto bounds = bounds_on(cluster, call_of(CollectiveKind::AllGather, 32, 1 << 20));
  CHECK(named(bounds, "leaf group cut").time == Duration(16 * INT64_C(5) << 20));
  CHECK(named(bounds, "leaf group cut").where == "leaf0");
  CHECK(named(bounds, "node cut").time == Duration((24 * INT64_C(5) << 20) / 2));
  // Two nodes on one leaf: nothing need leave it.
  CHECK_FALSE(
      has(bounds_on(cluster, call_of(CollectiveKind::AllGather, 16, 1000)), "leaf group cut"));
  CHECK_FALSE(has(bounds_on(Cluster(test::dgx(4)), call_of(CollectiveKind::AllGather, 32, 1000)),
                  "leaf group cut"));
}

TEST_CASE("latency counts what other GPUs can pass on") {
  // From a to c: 2000 ns through the switch, 200 ns by way of b. Back only through the switch.
  using std::chrono::nanoseconds;
  ClusterSpec spec;
  spec.name = "relay";
  spec.graph = ExplicitGraphSpec{};
  for (const char* name : {"a", "b", "c"}) {
    spec.graph->devices.push_back({name, DeviceKind::Gpu, std::nullopt});
  }
  spec.graph->devices.push_back({"switch", DeviceKind::NetworkSwitch, std::nullopt});
  for (const char* name : {"a", "b", "c"}) {
    spec.graph->links.push_back(test::link(name, "switch", 1_GBps, nanoseconds(1000)));
  }
  spec.graph->links.push_back(test::link("a", "b", 1_GBps, nanoseconds(100)));
  spec.graph->links.push_back(test::link("b", "c", 1_GBps, nanoseconds(100)));
  spec.graph->links[3].duplex = Duplex::OneWay;
  spec.graph->links[4].duplex = Duplex::OneWay;
  const Cluster cluster(spec);

  CollectiveCall call = call_of(CollectiveKind::Broadcast, 3, 1);
  CHECK(named(bounds_on(cluster, call), "latency").time == 200'000_ps);
  // Into the root: from a by way of b, no farther than 200 ns.
  call.root = Rank(2);
  call.kind = CollectiveKind::Reduce;
  CHECK(named(bounds_on(cluster, call), "latency").time == 200'000_ps);
  call.kind = CollectiveKind::Broadcast;
  CHECK(named(bounds_on(cluster, call), "latency").time == 2'000'000_ps);
  call.kind = CollectiveKind::AllGather;
  CHECK(named(bounds_on(cluster, call), "latency").time == 2'000'000_ps);
}

TEST_CASE("bounds of what does not fit 64 bits are exact") {
  // 8 ranks, links of 1 PB/s = 1000 B/ps. all_reduce of S = 2^60 bytes: 14 S over 8 GPUs' egress
  // is 14/8 · 2^60 / 1000 ps = 7 · 2^58 / 1000, rounded up; 14 S is more than 2^63 bytes.
  ClusterSpec spec = test::star(8);
  spec.node.links[0].bandwidth = Bandwidth::bytes_per_second(1'000'000'000'000'000);
  const Cluster fast(spec);
  const std::int64_t size = std::int64_t{1} << 60;
  CHECK(named(bounds_on(fast, call_of(CollectiveKind::AllReduce, 8, size)), "total sent").time ==
        Duration((std::int64_t{7} << 58) / 1000 + 1));

  // all_to_all on 2 nodes of 4: 16 blocks of 2^59 bytes are 2^63 bytes each way over the node's one
  // link of 1 PB/s.
  ClusterSpec nodes = test::textbook_nodes(2);
  nodes.fabric.tiers[0].link.bandwidth = Bandwidth::bytes_per_second(1'000'000'000'000'000);
  for (LinkSpec& inside : nodes.node.links) {
    inside.bandwidth = nodes.fabric.tiers[0].link.bandwidth;
  }
  const std::int64_t block = std::int64_t{1} << 59;
  CHECK(named(bounds_on(Cluster(nodes), call_of(CollectiveKind::AllToAll, 8, block)), "node cut")
            .time == Duration(INT64_MAX / 1000 + 1));
}

TEST_CASE("bounds out of range are the user's fault") {
  // 2^62 bytes at 1 B/s take longer than 106 days.
  ClusterSpec slow = test::star(2);
  slow.node.links[0].bandwidth = Bandwidth::bytes_per_second(1);
  const CollectiveCall call = call_of(CollectiveKind::AllReduce, 2, std::int64_t{1} << 62);
  CHECK_THROWS_AS(bounds_on(Cluster(slow), call), InputError);

  // 16 uplinks of 1 PB/s: the group of a leaf switch has more than 9 PB/s.
  ClusterSpec wide = test::dgx_leaf_spine(4, 32, 1, RoutingKind::Spray);
  wide.fabric.tiers[1].link.bandwidth = Bandwidth::bytes_per_second(1'000'000'000'000'000);
  CHECK_THROWS_AS(bounds_on(Cluster(wide), call_of(CollectiveKind::AllReduce, 32, 1)), InputError);
}

TEST_CASE("one rank or no data: no bounds") {
  const Cluster cluster(test::star(4));
  CHECK(bounds_on(cluster, call_of(CollectiveKind::AllReduce, 1, 1000)).empty());
  CHECK(bounds_on(cluster, call_of(CollectiveKind::AllReduce, 4, 0)).empty());
}
