#include "sim/step_costs.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "tests/catch.hpp"
#include "tests/sim/cost_sets.hpp"
#include "tests/sim/programs.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

constexpr LaneWork block(WireProtocol protocol, std::uint32_t threads = 512,
                         std::uint32_t channels = 1) {
  LaneWork work;
  work.protocol = protocol;
  work.threads = threads;
  work.channels = channels;
  return work;
}

constexpr LaneWork with(LaneWork work, Kernel kernel) {
  work.kernel = kernel;
  return work;
}

void check(const CostPart& part, CostItem item, Duration time) {
  CHECK(name_of(part.item) == name_of(item));
  CHECK(part.time == time);
}

StepCost routed(const CostParameters& costs, const LaneWork& work, Primitive primitive,
                Bytes bytes) {
  StepWork step;
  step.primitive = primitive;
  step.bytes = bytes;
  return step_cost(costs, work, step);
}

}  // namespace

TEST_CASE("a slice of Simple synchronises, then a whole block's bytes take the channel's rate") {
  CostParameters costs =
      costs_with({{CostItem::SimpleSliceCopy, us(3)}, {CostItem::SimpleSliceReduce, us(2)}});
  set_rate(costs, CostItem::SimpleChannelRate, 10_GBps);
  set_rate(costs, CostItem::SimpleLocalRate, 5_GBps);
  const LaneWork work = block(WireProtocol::Simple);

  // 100,000 bytes at 10 GB/s: 10 us; into the own memory, at 5 GB/s, 20 us.
  const StepCost send = routed(costs, work, Primitive::ReceiveCopySend, 100'000_B);
  check(send.held, CostItem::SimpleSliceCopy, us(3));
  check(send.work, CostItem::SimpleChannelRate, us(10));
  const StepCost reduce = routed(costs, work, Primitive::ReceiveReduceSend, 100'000_B);
  check(reduce.held, CostItem::SimpleSliceReduce, us(2));
  check(reduce.work, CostItem::SimpleChannelRate, us(10));
  const StepCost last = routed(costs, work, Primitive::Receive, 100'000_B);
  check(last.held, CostItem::SimpleSliceCopy, us(3));
  check(last.work, CostItem::SimpleLocalRate, us(20));
  check(routed(costs, work, Primitive::ReceiveReduceCopy, 100'000_B).held,
        CostItem::SimpleSliceReduce, us(2));
  // A quarter of the threads, a quarter of the rate. An empty slice only synchronises.
  check(routed(costs, block(WireProtocol::Simple, 128), Primitive::Send, 100'000_B).work,
        CostItem::SimpleChannelRate, us(40));
  const StepCost empty = routed(costs, work, Primitive::Send, 0_B);
  check(empty.held, CostItem::SimpleSliceCopy, us(3));
  CHECK(empty.work.time == Duration{});
}

TEST_CASE("blocks receive into their own memory unevenly, each sort of channel by turns") {
  CostParameters costs;
  set_rate(costs, CostItem::SimpleChannelRate, 10_GBps);
  set_rate(costs, CostItem::SimpleLocalRate, 5_GBps);
  set_share(costs, CostItem::SimpleUnevenness, 300'000);
  const auto time = [&](Primitive primitive, std::uint32_t channel, std::uint64_t index) {
    LaneWork work = block(WireProtocol::Simple, 512, 8);
    work.channel = channel;
    return step_cost(costs, work, {.primitive = primitive, .index = index, .bytes = 100'000_B})
        .work.time;
  };
  std::set<std::uint32_t> slowest;
  for (std::uint64_t index = 0; index < 20; ++index) {
    // 20 us, and 3/10 of it less, 1/10 less, 1/10 more, 3/10 more.
    std::map<Duration, std::uint32_t> channel_of;
    for (std::uint32_t channel = 0; channel < channel_sorts; ++channel) {
      const Duration taken = time(Primitive::Receive, channel, index);
      channel_of[taken] = channel;
      CHECK(time(Primitive::Receive, channel + channel_sorts, index) == taken);
      CHECK(time(Primitive::Send, channel, index) == us(10));
    }
    CHECK(channel_of.contains(us(14)));
    CHECK(channel_of.contains(us(18)));
    CHECK(channel_of.contains(us(22)));
    REQUIRE(channel_of.contains(us(26)));
    slowest.insert(channel_of[us(26)]);
  }
  CHECK(slowest.size() == channel_sorts);
}

TEST_CASE("sums of one byte have a rate of their own, if one is given") {
  CostParameters costs;
  set_rate(costs, CostItem::SimpleChannelRate, 10_GBps);
  LaneWork work = block(WireProtocol::Simple);
  work.narrow = true;
  check(routed(costs, work, Primitive::ReceiveReduceSend, 100'000_B).work,
        CostItem::SimpleChannelRate, us(10));
  set_rate(costs, CostItem::SimpleNarrowRate, 4_GBps);
  check(routed(costs, work, Primitive::ReceiveReduceSend, 100'000_B).work,
        CostItem::SimpleNarrowRate, us(25));
  check(routed(costs, work, Primitive::ReceiveCopySend, 100'000_B).work,
        CostItem::SimpleChannelRate, us(10));
}

TEST_CASE("LL pays for wide blocks by threads and by channels") {
  const CostParameters costs =
      costs_with({{CostItem::LLWideCopy, ns(400)}, {CostItem::LLWideReduce, ns(200)}});
  const auto held = [&](Primitive primitive, std::uint32_t threads, std::uint32_t channels) {
    return routed(costs, block(WireProtocol::LL, threads, channels), primitive, 8_B).held;
  };
  // 3/4 by threads (q^1.5 of 128 … 512), 1/4 for more than one block.
  check(held(Primitive::Send, 128, 1), CostItem::LLWideCopy, ns(0));
  check(held(Primitive::Send, 64, 1), CostItem::LLWideCopy, ns(0));
  check(held(Primitive::Send, 128, 2), CostItem::LLWideCopy, ns(100));
  check(held(Primitive::Send, 512, 1), CostItem::LLWideCopy, ns(300));
  check(held(Primitive::ReceiveCopySend, 512, 2), CostItem::LLWideCopy, ns(400));
  check(held(Primitive::ReceiveReduceSend, 640, 2), CostItem::LLWideReduce, ns(200));
  // 224 threads: a quarter of the way, so 3/4 · 1/8 of 400.
  check(held(Primitive::Send, 224, 1), CostItem::LLWideCopy, Duration(37'500));
  // What only receives does not.
  CHECK(held(Primitive::Receive, 512, 2).time == Duration{});
  CHECK(held(Primitive::ReceiveReduceCopy, 512, 2).time == Duration{});
}

TEST_CASE("LL takes a pass for every 8 bytes of a thread, the first one free") {
  const CostParameters costs =
      costs_with({{CostItem::LLPassCopy, ns(500)}, {CostItem::LLPassReduce, ns(450)}});
  const auto work = [&](Primitive primitive, Bytes bytes) {
    return routed(costs, block(WireProtocol::LL, 512), primitive, bytes).work;
  };
  check(work(Primitive::Send, 0_B), CostItem::LLPassCopy, ns(0));
  check(work(Primitive::Send, 4096_B), CostItem::LLPassCopy, ns(0));  // 512 · 8
  check(work(Primitive::Send, 4097_B), CostItem::LLPassCopy, ns(500));
  check(work(Primitive::ReceiveReduceSend, 3 * 4096_B), CostItem::LLPassReduce, ns(900));
  check(work(Primitive::Receive, 8193_B), CostItem::LLPassCopy, ns(1000));
  check(routed(costs, block(WireProtocol::LL, 128), Primitive::Send, 4096_B).work,
        CostItem::LLPassCopy, ns(1500));  // passes of 1,024
}

TEST_CASE("LL128's channels share the GPU's rate") {
  CostParameters costs;
  set_rate(costs, CostItem::LL128GpuRate, 160_GBps);
  // 16 channels: 10 GB/s each, whatever the threads and whether it sends.
  for (const Primitive primitive : {Primitive::Send, Primitive::Receive}) {
    const StepCost cost = routed(costs, block(WireProtocol::LL128, 320, 16), primitive, 100'000_B);
    check(cost.work, CostItem::LL128GpuRate, us(10));
    CHECK(cost.held.time == Duration{});
  }
}

TEST_CASE("a send or receive has half a block's threads") {
  CostParameters costs;
  set_rate(costs, CostItem::SendRecvChannelRate, 10_GBps);
  set_rate(costs, CostItem::SendRecvReceiveRate, 20_GBps);
  set_rate(costs, CostItem::SendRecvLLRate, 5_GBps);
  const LaneWork half = with(block(WireProtocol::Simple, 256), Kernel::SendRecv);
  check(routed(costs, half, Primitive::Send, 100'000_B).work, CostItem::SendRecvChannelRate,
        us(10));
  check(routed(costs, half, Primitive::Receive, 100'000_B).work, CostItem::SendRecvReceiveRate,
        us(5));
  check(routed(costs, half, Primitive::Copy, 100'000_B).work, CostItem::SendRecvChannelRate,
        us(10));
  // More threads do not help, fewer hurt.
  const LaneWork most = with(block(WireProtocol::Simple, 640), Kernel::SendRecv);
  check(routed(costs, most, Primitive::Send, 100'000_B).work, CostItem::SendRecvChannelRate,
        us(10));
  const LaneWork few = with(block(WireProtocol::Simple, 64), Kernel::SendRecv);
  check(routed(costs, few, Primitive::Send, 100'000_B).work, CostItem::SendRecvChannelRate, us(40));
  const LaneWork ll = with(block(WireProtocol::LL, 256), Kernel::SendRecv);
  check(routed(costs, ll, Primitive::Send, 100'000_B).work, CostItem::SendRecvLLRate, us(20));
  // The receiver takes each line as it comes.
  check(routed(costs, ll, Primitive::Receive, 100'000_B).work, CostItem::SendRecvLLRate, us(0));
}

TEST_CASE("a stage of NVLS synchronises once a loop, and copies at the channel's rate") {
  CostParameters costs = costs_with({{CostItem::MulticastStage, us(8)}});
  set_rate(costs, CostItem::MulticastCopyRate, 20_GBps);
  const LaneWork work = with(block(WireProtocol::Simple), Kernel::Multicast);
  const StepWork copy{.primitive = Primitive::Copy, .movement = Movement::Post, .bytes = 100'000_B};
  const StepCost first = step_cost(costs, work, copy);
  check(first.held, CostItem::MulticastStage, us(8));
  check(first.work, CostItem::MulticastCopyRate, us(5));
  const StepWork next{.primitive = Primitive::Copy,
                      .movement = Movement::Post,
                      .continues = true,
                      .bytes = 100'000_B};
  check(step_cost(costs, work, next).held, CostItem::MulticastStage, us(0));
  check(step_cost(costs, work, next).work, CostItem::MulticastCopyRate, us(5));
  // Through the switch no thread copies.
  const StepWork reduce{.primitive = Primitive::ReceiveReduceCopySend,
                        .movement = Movement::Multimem,
                        .bytes = 100'000_B};
  const StepCost through = step_cost(costs, work, reduce);
  check(through.held, CostItem::MulticastStage, us(8));
  CHECK(through.work.time == Duration{});
}

TEST_CASE("blocks on symmetric memory load, store and drive the switch at rates of their own") {
  CostParameters costs;
  set_rate(costs, CostItem::SymmetricBlockRate, 50_GBps);
  set_rate(costs, CostItem::SymmetricMulticastRate, 10_GBps);
  set_rate(costs, CostItem::SymmetricLLRate, 5_GBps);
  const LaneWork work = with(block(WireProtocol::Simple), Kernel::Symmetric);
  check(routed(costs, work, Primitive::Send, 100'000_B).work, CostItem::SymmetricBlockRate, us(2));
  // What peers stored is there.
  CHECK(routed(costs, work, Primitive::Receive, 100'000_B).work.time == Duration{});
  const StepWork posted{
      .primitive = Primitive::Send, .movement = Movement::Post, .bytes = 100'000_B};
  CHECK(step_cost(costs, work, posted).work.time == Duration{});
  const StepWork reduced{.primitive = Primitive::ReceiveReduceCopySend,
                         .movement = Movement::Multimem,
                         .received = 7,
                         .bytes = 100'000_B};
  check(step_cost(costs, with(work, Kernel::SymmetricMulticast), reduced).work,
        CostItem::SymmetricMulticastRate, us(10));
  // In LL a block looks at every line that peers push; pushing costs nothing besides.
  const LaneWork ll = with(block(WireProtocol::LL), Kernel::Symmetric);
  const StepWork taken{
      .primitive = Primitive::ReceiveReduceCopy, .received = 7, .bytes = 100'000_B};
  check(step_cost(costs, ll, taken).work, CostItem::SymmetricLLRate, us(140));
  CHECK(routed(costs, ll, Primitive::Send, 100'000_B).work.time == Duration{});
}

TEST_CASE("what the fabric reduces for one rank alone is a reduction late, once") {
  const CostParameters costs = costs_with({{CostItem::NetworkReduction, us(19)}});
  const LaneWork work = block(WireProtocol::Simple, 0);
  StepWork read{.primitive = Primitive::ReceiveReduceCopy,
                .movement = Movement::Multimem,
                .bytes = 100'000_B};
  check(step_cost(costs, work, read).held, CostItem::NetworkReduction, us(19));
  read.index = 1;
  CHECK(step_cost(costs, work, read).held.time == Duration{});
  // Messages bring it.
  const StepWork both{.primitive = Primitive::ReceiveReduceCopySend,
                      .movement = Movement::Multimem,
                      .bytes = 100'000_B};
  CHECK(step_cost(costs, work, both).held.time == Duration{});
}

TEST_CASE("copy engines take a start for each copy, and none for a flag") {
  const CostParameters costs = costs_with({{CostItem::CopyEngineCopy, us(2)}});
  const LaneWork work = with(block(WireProtocol::Simple), Kernel::CopyEngine);
  check(routed(costs, work, Primitive::Send, 100'000_B).held, CostItem::CopyEngineCopy, us(2));
  check(routed(costs, work, Primitive::Copy, 100'000_B).held, CostItem::CopyEngineCopy, us(2));
  CHECK(routed(costs, work, Primitive::Send, 0_B).held.time == Duration{});
  CHECK(routed(costs, work, Primitive::Receive, 100'000_B).held.time == Duration{});
}

TEST_CASE("what a primitive of NVLS keeps in registers between its steps is not copied") {
  CostParameters costs;
  set_rate(costs, CostItem::MulticastCopyRate, 20_GBps);
  const LaneWork work = with(block(WireProtocol::Simple), Kernel::Multicast);
  const auto copies = [&](const StepWork& step) { return step_cost(costs, work, step).work.time; };
  const StepWork partial{
      .primitive = Primitive::ReceiveReduceCopy, .to_scratch = true, .bytes = 100'000_B};
  CHECK(copies(partial) == us(0));
  const StepWork sent_on{.primitive = Primitive::ReduceSend, .continues = true, .bytes = 100'000_B};
  CHECK(copies(sent_on) == us(0));
  // What begins a primitive and sends, and what ends one in the output, is.
  CHECK(copies({.primitive = Primitive::ReduceSend, .bytes = 100'000_B}) == us(5));
  CHECK(copies({.primitive = Primitive::Receive, .continues = true, .bytes = 100'000_B}) == us(5));
  // Staging buffers are scratch memory, too, and are copied to.
  const StepWork staged{.primitive = Primitive::Copy,
                        .movement = Movement::Post,
                        .to_scratch = true,
                        .bytes = 100'000_B};
  CHECK(copies(staged) == us(5));
}

TEST_CASE("a message costs what its protocol and its path say") {
  using enum CostItem;
  CostParameters costs;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(cost_items); ++i) {
    if (definition_of(static_cast<CostItem>(i)).unit == CostUnit::Picoseconds) {
      costs.set(static_cast<CostItem>(i), {100 + i, CostSource::Estimate});
    }
  }
  const auto pays = [&](const LaneWork& work, PathKind path, CostItem item) {
    check(message_cost(costs, work, path), item, Duration(100 + static_cast<int>(item)));
  };
  const LaneWork simple = block(WireProtocol::Simple);
  pays(simple, PathKind::Nvlink, SimpleHandoffNvlink);
  pays(simple, PathKind::Pcie, SimpleHandoffPcie);
  pays(simple, PathKind::Host, SimpleHandoffHost);
  pays(simple, PathKind::Network, SimpleHandoffNetwork);
  const LaneWork ll = block(WireProtocol::LL);
  pays(ll, PathKind::Nvlink, LLHopNvlink);
  pays(ll, PathKind::Pcie, LLHopPcie);
  pays(ll, PathKind::Host, LLHopHost);
  pays(ll, PathKind::Network, LLHopNetwork);
  pays(with(ll, Kernel::SendRecv), PathKind::Nvlink, LLHopNvlink);
  const LaneWork ll128 = block(WireProtocol::LL128);
  pays(ll128, PathKind::Nvlink, LL128HopNvlink);
  pays(ll128, PathKind::Pcie, LL128HopPcie);
  pays(ll128, PathKind::Host, LL128HopHost);
  pays(ll128, PathKind::Network, LL128HopNetwork);
  pays(with(simple, Kernel::SendRecv), PathKind::Nvlink, SendRecvHandoffNvlink);
  pays(with(simple, Kernel::SendRecv), PathKind::Pcie, SendRecvHandoffPcie);
  pays(with(simple, Kernel::SendRecv), PathKind::Host, SendRecvHandoffHost);
  pays(with(simple, Kernel::SendRecv), PathKind::Network, SendRecvHandoffNetwork);
  pays(with(simple, Kernel::Multicast), PathKind::Nvlink, MulticastHandoff);
  pays(with(simple, Kernel::Multicast), PathKind::Network, SimpleHandoffNetwork);
}

TEST_CASE("narrow blocks of Simple save synchronisation and hand-offs inside a node") {
  using enum CostItem;
  CostParameters costs = costs_with(
      {{SimpleSliceCopy, us(10)}, {SimpleHandoffNvlink, us(20)}, {SimpleHandoffNetwork, us(30)}});
  set_share(costs, SimpleNarrowSaving, 500'000);
  LaneWork work = block(WireProtocol::Simple);
  const auto expect = [&](std::uint32_t threads, std::uint32_t channels, Duration slice,
                          Duration handoff) {
    work.threads = threads;
    work.channels = channels;
    const StepWork send{.primitive = Primitive::Send, .bytes = 1000_B};
    CHECK(step_cost(costs, work, send).held.time == slice);
    CHECK(message_cost(costs, work, PathKind::Nvlink).time == handoff);
    CHECK(message_cost(costs, work, PathKind::Network).time == us(30));
  };
  // Half is saved of what is not wide: (threads - 128) / 384 times (1 + log2(channels)) / 5.
  expect(128, 1, us(5), us(10));
  expect(128, 24, us(5), us(10));
  expect(512, 1, us(6), us(12));      // wide 1 / 5
  expect(512, 4, us(8), us(16));      // 3 / 5
  expect(320, 16, ns(7500), us(15));  // 1 / 2
  expect(512, 16, us(10), us(20));
  expect(544, 32, us(10), us(20));
}

TEST_CASE("a path is named after its slowest kind of link") {
  const Cluster cluster(dgx(2));
  const Graph& graph = cluster.graph();
  const auto kind = [&](DeviceId from, DeviceId to) {
    return kind_of(graph, cluster.router().route(from, to));
  };
  CHECK(kind(graph.gpus()[0], graph.gpus()[1]) == PathKind::Nvlink);
  CHECK(kind(graph.gpus()[0], graph.gpus()[8]) == PathKind::Network);
  const auto nic = std::ranges::find(graph.devices(), DeviceKind::Nic, &Device::kind);
  const auto position = static_cast<std::size_t>(nic - graph.devices().begin());
  CHECK(kind(graph.gpus()[0], DeviceId(position)) == PathKind::Pcie);
}

TEST_CASE("flags make messages longer on the wire") {
  CHECK(wire_factor(WireProtocol::Simple).numerator ==
        wire_factor(WireProtocol::Simple).denominator);
  CHECK(wire_factor(WireProtocol::LL).numerator == 2 * wire_factor(WireProtocol::LL).denominator);
  CHECK(wire_factor(WireProtocol::LL128).numerator * 15 ==
        wire_factor(WireProtocol::LL128).denominator * 16);
}

namespace {

/// What a GPU pays whose first lane is such, among so many channels.
std::vector<CostPart> launch(const CostParameters& costs, WireProtocol protocol, Kernel kernel,
                             std::uint32_t threads, std::uint32_t channels,
                             CallIs call = CallIs::BackToBack,
                             LaunchFrom from = LaunchFrom::Stream) {
  TableProgram program = program_for(2);
  for (std::uint32_t channel = 0; channel < channels; ++channel) {
    Lane lane;
    lane.channel = channel;
    lane.protocol = protocol;
    lane.kernel = kernel;
    lane.threads = threads;
    program.set_lane(Rank(0), channel, lane);
  }
  return launch_costs(costs, program, Rank(0), call, from);
}

}  // namespace

TEST_CASE("a launch costs by kernel, protocol, width and how the call is made") {
  const CostParameters costs = costs_with({{CostItem::LaunchCollective, us(5)},
                                           {CostItem::LaunchSendRecv, us(6)},
                                           {CostItem::LaunchIsolated, us(3)},
                                           {CostItem::LaunchGraph, us(7)},
                                           {CostItem::LLStart, us(1)},
                                           {CostItem::LL128Start, us(10)},
                                           {CostItem::MulticastStart, us(4)}});
  const auto check_parts = [](const std::vector<CostPart>& parts,
                              const std::vector<std::pair<CostItem, Duration>>& expected) {
    REQUIRE(parts.size() == expected.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      check(parts[i], expected[i].first, expected[i].second);
    }
  };
  using enum CostItem;
  check_parts(launch(costs, WireProtocol::Simple, Kernel::Collective, 512, 2),
              {{LaunchCollective, us(5)}});
  // LL: 4/10 by width, 6/10 for more than one block; what is nothing is no part.
  check_parts(launch(costs, WireProtocol::LL, Kernel::Collective, 128, 1),
              {{LaunchCollective, us(5)}});
  check_parts(launch(costs, WireProtocol::LL, Kernel::Collective, 128, 2),
              {{LaunchCollective, us(5)}, {LLStart, ns(600)}});
  check_parts(launch(costs, WireProtocol::LL, Kernel::Collective, 320, 1),
              {{LaunchCollective, us(5)}, {LLStart, ns(200)}});
  check_parts(launch(costs, WireProtocol::LL, Kernel::Collective, 512, 2),
              {{LaunchCollective, us(5)}, {LLStart, us(1)}});
  check_parts(launch(costs, WireProtocol::LL128, Kernel::Collective, 640, 1),
              {{LaunchCollective, us(5)}, {LL128Start, us(10)}});
  check_parts(launch(costs, WireProtocol::Simple, Kernel::Multicast, 512, 1),
              {{LaunchCollective, us(5)}, {MulticastStart, us(4)}});
  check_parts(launch(costs, WireProtocol::LL, Kernel::SendRecv, 512, 2), {{LaunchSendRecv, us(6)}});
  check_parts(launch(costs, WireProtocol::Simple, Kernel::Collective, 512, 1, CallIs::Isolated,
                     LaunchFrom::CudaGraph),
              {{LaunchCollective, us(5)}, {LaunchIsolated, us(3)}, {LaunchGraph, us(7)}});
  CHECK(launch(costs, WireProtocol::None, Kernel::Collective, 0, 1).empty());
  CHECK(launch(costs, WireProtocol::Simple, Kernel::Collective, 512, 0).empty());
}

TEST_CASE("each further peer of sends and receives costs a launch more") {
  class FivePeers final : public TableProgram {
   public:
    using TableProgram::TableProgram;
    [[nodiscard]] std::uint32_t peers(Rank rank) const override { return rank == Rank(0) ? 5 : 0; }
  };
  const CostParameters costs =
      costs_with({{CostItem::LaunchSendRecv, us(6)}, {CostItem::LaunchPeer, ns(200)}});
  FivePeers program(program_for(2).call());
  Lane lane;
  lane.protocol = WireProtocol::Simple;
  lane.kernel = Kernel::SendRecv;
  program.set_lane(Rank(0), 0, lane);
  program.set_lane(Rank(1), 0, lane);
  const auto parts = launch_costs(costs, program, Rank(0), CallIs::BackToBack, LaunchFrom::Stream);
  REQUIRE(parts.size() == 2);
  check(parts[1], CostItem::LaunchPeer, ns(800));
  CHECK(launch_costs(costs, program, Rank(1), CallIs::BackToBack, LaunchFrom::Stream).size() == 1);
}

TEST_CASE("a kernel's share of a link is by the link's kind") {
  CostParameters costs;
  set_share(costs, CostItem::ShareNvlink, 800'000);
  set_share(costs, CostItem::ShareNvlinkSendRecv, 700'000);
  set_share(costs, CostItem::ShareNvlinkMulticast, 600'000);
  set_share(costs, CostItem::SharePcie, 500'000);
  set_share(costs, CostItem::ShareSocket, 400'000);
  set_share(costs, CostItem::ShareNetwork, 900'000);
  for (const LinkKind kind : {LinkKind::Nvlink, LinkKind::Xgmi}) {
    CHECK(share_of(costs, kind, Kernel::Collective) == 800'000);
    CHECK(share_of(costs, kind, Kernel::SendRecv) == 700'000);
    CHECK(share_of(costs, kind, Kernel::Multicast) == 600'000);
  }
  for (const Kernel kernel : {Kernel::Collective, Kernel::SendRecv, Kernel::Multicast}) {
    CHECK(share_of(costs, LinkKind::Pcie, kernel) == 500'000);
    CHECK(share_of(costs, LinkKind::Socket, kernel) == 400'000);
    CHECK(share_of(costs, LinkKind::Infiniband, kernel) == 900'000);
    CHECK(share_of(costs, LinkKind::Ethernet, kernel) == 900'000);
    CHECK(share_of(costs, LinkKind::Generic, kernel) == 1'000'000);
  }
}

TEST_CASE("a block reads lines of LL in host memory, and only those") {
  CostParameters costs;
  set_rate(costs, CostItem::LLNetworkRate, 2_GBps);
  // 8,000 bytes at 2 GB/s: 4 us.
  CHECK(network_delay(costs, block(WireProtocol::LL), 8000_B).lines == us(4));
  CHECK(network_delay(costs, block(WireProtocol::LL), 8000_B).sum() == us(4));
  CHECK(network_delay(costs, block(WireProtocol::LL128), 8000_B).sum() == us(0));
  CHECK(network_delay(costs, block(WireProtocol::Simple), 8000_B).sum() == us(0));
}

TEST_CASE("messages above the eager size ask first, and of several proxies the last one counts") {
  CostParameters costs =
      costs_with({{CostItem::NetworkRendezvous, us(5)}, {CostItem::NetworkLateness, us(12)}});
  costs.set(CostItem::NetworkEager, {4096, CostSource::Estimate});
  const auto delay = [&costs](std::uint32_t proxies, Bytes bytes) {
    LaneWork work = block(WireProtocol::Simple);
    work.proxies = proxies;
    return network_delay(costs, work, bytes);
  };
  CHECK(delay(1, 4096_B).rendezvous == Duration{});
  CHECK(delay(1, 4097_B).rendezvous == us(5));
  // Of k late by 12 us in the mean the last is so by 12 (1 + 1/2 + ... + 1/k): 12 (1/2 + 1/3 + 1/4) more than one.
  CHECK(delay(1, 0_B).lateness == Duration{});
  CHECK(delay(2, 0_B).lateness == us(6));
  CHECK(delay(4, 0_B).lateness == us(13));
}

TEST_CASE("flags double LL's bytes on the wire and lengthen LL128's by a fifteenth") {
  CHECK(on_wire(WireProtocol::Simple, 1000_B) == 1000_B);
  CHECK(on_wire(WireProtocol::LL, 1000_B) == 2000_B);
  CHECK(on_wire(WireProtocol::LL128, 120_B) == 128_B);
  CHECK(on_wire(WireProtocol::LL128, 121_B) == 130_B);  // 129.07
}
