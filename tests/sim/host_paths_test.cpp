// Flows through the memory of a host: what they have of it together, and their hops. A node of 8 GPUs, where each way into
// the memory and out of it has 64 GB/s.

#include "tests/catch.hpp"
#include "tests/sim/costly_programs.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

/// All its connections inside a node go through the memory of the receiver's host.
class ThroughHost final : public TableProgram {
 public:
  using TableProgram::TableProgram;
  [[nodiscard]] Waypoints waypoints(Rank /*rank*/, std::uint32_t /*lane*/,
                                    std::uint32_t /*slot*/) const override {
    Waypoints waypoints;
    waypoints.host_in = true;
    return waypoints;
  }
};

struct Send {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

template <class Kind>
Kind sends(const Lane& lane, Bytes bytes, const std::vector<Send>& all) {
  CollectiveCall call;
  call.ranks = 4;
  call.count = 1;
  Kind program(call);
  program.set_lanes(lane);
  for (const Send& send : all) {
    // A rank sends on its lane 0 and receives on its lane 1.
    const auto slot = program.connect({Rank(send.from), 0}, {Rank(send.to), 1});
    program.add(Rank(send.from), 0, step(bytes).from(input(0_B)).send(slot.send));
    program.add(Rank(send.to), 1, step(bytes).receive(slot.receive).to(output(0_B)));
  }
  return program;
}

template <class Kind>
RunResult run_sends(const Cluster& cluster, Kind program, const CostParameters& costs,
                    const std::vector<std::uint32_t>& on) {
  return run(cluster,
             {Collective{std::make_shared<const Kind>(std::move(program)), gpus(cluster, on),
                         Launch::Blocking}},
             paying(costs));
}

const Lane simple = lane_of(WireProtocol::Simple);
const std::vector<Send> there_and_back{{0, 1}, {1, 0}};
const std::vector<std::uint32_t> first_four{0, 1, 2, 3};

/// From GPU 0 by its CPU to GPU 1: four links of 150 ns.
constexpr Duration latency_by_host = ns(600);

}  // namespace

TEST_CASE("flows through the memory of a host share its rate") {
  CostParameters costs;
  set_rate(costs, CostItem::HostRate, 10_GBps);
  const Cluster cluster(dgx(1));
  // 200,000 bytes at 10 GB/s.
  const RunResult result =
      run_sends(cluster, sends<ThroughHost>(simple, 100'000_B, there_and_back), costs, first_four);
  CHECK(result.time == us(20) + latency_by_host);
  CHECK(part_of(result, CostItem::HostRate) == us(20));
  check_explained(result);
}

TEST_CASE("each further GPU that sends makes all take longer") {
  CostParameters costs;
  set_rate(costs, CostItem::HostRate, 10_GBps);
  set_share(costs, CostItem::HostLoss, 250'000);
  const Cluster cluster(dgx(1));
  const auto time = [&](const std::vector<Send>& all) {
    return run_sends(cluster, sends<ThroughHost>(simple, 100'000_B, all), costs, first_four).time;
  };
  // One alone: 10 GB/s. Two: 10 / 1.25 = 8 GB/s for 200,000 bytes. One that sends to two is one.
  CHECK(time({{0, 1}}) == us(10) + latency_by_host);
  CHECK(time(there_and_back) == us(25) + latency_by_host);
  CHECK(time({{0, 1}, {0, 1}}) == us(20) + latency_by_host);
}

TEST_CASE("nodes have memories of their own") {
  CostParameters costs;
  set_rate(costs, CostItem::HostRate, 10_GBps);
  const Cluster cluster(dgx(2));
  const RunResult result = run_sends(
      cluster, sends<ThroughHost>(simple, 100'000_B, {{0, 1}, {2, 3}}), costs, {0, 1, 8, 9});
  CHECK(result.time == us(10) + latency_by_host);
}

TEST_CASE("LL takes twice its data of the memory of a host") {
  CostParameters costs;
  set_rate(costs, CostItem::HostRate, 10_GBps);
  const Cluster cluster(dgx(1));
  const RunResult result =
      run_sends(cluster, sends<ThroughHost>(lane_of(WireProtocol::LL), 50'000_B, {{0, 1}}), costs,
                first_four);
  CHECK(result.time == us(10) + latency_by_host);
}

TEST_CASE("GPUs that talk directly, and programs without costs, do not ask the memory of a host") {
  CostParameters costs;
  set_rate(costs, CostItem::HostRate, 10_GBps);
  const Cluster cluster(dgx(1));
  // 450,000 bytes at NVLink's 450 GB/s, two links of 250 ns.
  const RunResult direct =
      run_sends(cluster, sends<TableProgram>(simple, 450'000_B, {{0, 1}}), costs, first_four);
  CHECK(direct.time == us(1) + ns(500));
  // 640,000 bytes at 64 GB/s of PCIe.
  const RunResult free =
      run_sends(cluster, sends<ThroughHost>(Lane{}, 640'000_B, {{0, 1}}), costs, first_four);
  CHECK(free.time == us(10) + latency_by_host);
}

TEST_CASE("a slice in the memory of a host has a hand-off of its own") {
  const CostParameters costs =
      costs_with({{CostItem::SimpleHandoffHost, us(5)}, {CostItem::SimpleHandoffPcie, us(70)}});
  const Cluster cluster(dgx(1));
  const RunResult result =
      run_sends(cluster, sends<ThroughHost>(simple, 64'000_B, {{0, 1}}), costs, first_four);
  CHECK(result.time == us(1) + latency_by_host + us(5));
  CHECK(part_of(result, CostItem::SimpleHandoffHost) == us(5));
}
