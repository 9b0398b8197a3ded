// From what NCCL chooses to what its kernels run: parts, chunks, slices, FIFO, threads.

#include "algorithms/nccl/execution.hpp"

#include <vector>

#include "algorithms/nccl/slices.hpp"
#include "tests/algorithms/nccl/machines.hpp"
#include "tests/algorithms/nccl/program_cases.hpp"
#include "tests/catch.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

using A = Algorithm;
using K = CollectiveKind;
using P = Protocol;
using test::execution_on;
using test::h100;
using test::ReferenceMachine;

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = kib * 1024;

Execution on_h100(K kind, std::int64_t count, A algorithm, P protocol) {
  const ReferenceMachine machine = h100(1);
  return execution_on(machine, test::call_on(machine, kind, count), algorithm, protocol);
}

/// Two nodes of 4 H100.
Decisions two_nodes() {
  DecisionInput input;
  input.machine = collsim::test::nic_per_gpu(4, 90, 18, 400000, "32.0 GT/s PCIe");
  input.nodes = 2;
  input.constants = test::constants_of("2.28");
  return Decisions(input);
}

/// The same, whose NICs reduce in the network.
Decisions two_nodes_that_reduce() {
  DecisionInput input;
  input.machine = collsim::test::nic_per_gpu(4, 90, 18, 400000, "32.0 GT/s PCIe");
  collsim::test::let_nets_reduce(input.machine);
  input.nodes = 2;
  input.constants = test::constants_of("2.28");
  input.configuration.collnet = true;
  return Decisions(input);
}

CollectiveCall all_reduce(std::int64_t count) {
  CollectiveCall call;
  call.ranks = 8;
  call.count = count;
  return call;
}

TunedChoice chosen(A algorithm, P protocol) {
  TunedChoice choice;
  choice.contender.algorithm = algorithm;
  choice.contender.protocol = protocol;
  return choice;
}

/// Bytes that all ranks send, lanes counted as often as they stand for.
std::int64_t weighted_bytes(const Program& program) {
  std::int64_t bytes = 0;
  for (std::uint32_t r = 0; r < program.call().ranks; ++r) {
    const Rank rank(r);
    for (std::uint32_t lane = 0; lane < program.lane_count(rank); ++lane) {
      const std::int64_t multiplicity = program.lane(rank, lane).multiplicity;
      for (std::uint64_t index = 0; index < program.step_count(rank, lane); ++index) {
        const Step step = program.step(rank, lane, index);
        bytes += multiplicity * step.bytes.count() * step.sends.count;
      }
    }
  }
  return bytes;
}

}  // namespace

// As NCCL 2.28.9 deals 64 MiB: 23 parts of 700416 floats and one of 667648; 2 MiB a chunk, two
// slices of at least 1 MiB / 32; 8 slots of which a slice takes two.
TEST_CASE("execution: Ring with Simple") {
  const Execution execution = on_h100(K::AllReduce, 16 * mib, A::Ring, P::Simple);
  REQUIRE(execution.work.size() == 24);
  CHECK(execution.work[0] == ChannelWork{0, 1, 0, 700416, 512 * kib});
  CHECK(execution.work[1] == ChannelWork{1, 1, 700416, 700416, 512 * kib});
  CHECK(execution.work[23] == ChannelWork{23, 1, std::int64_t{23} * 700416, 667648, 512 * kib});
  CHECK(execution.slices == 2);
  CHECK(execution.fifo == 4);
  CHECK(execution.least_slice == 8 * kib);
  CHECK(execution.slice_grain == 16);
  CHECK(execution.threads == 512);
  CHECK_FALSE(execution.interleaved);
}

TEST_CASE("execution: a pipeline and the flag protocols have one slice") {
  for (const P protocol : protocols) {
    const Execution broadcast = on_h100(K::Broadcast, 16 * mib, A::Ring, protocol);
    CHECK(broadcast.slices == 1);
    CHECK(broadcast.fifo == 8);
  }
  const Execution ll = on_h100(K::AllReduce, mib / 4, A::Ring, P::LL);
  CHECK(ll.slices == 1);
  CHECK(ll.fifo == 8);
  CHECK(ll.threads == 512);
  CHECK(ll.work[0] == ChannelWork{0, 1, 0, 11264, 8 * kib});
  CHECK(on_h100(K::AllReduce, mib, A::Ring, P::LL128).threads == 640);
}

// NCCL deals AllGather in bytes: 350208 of each rank's, 87552 floats; a slice is of whole 16 bytes.
TEST_CASE("execution: AllGather and Broadcast, which NCCL moves as bytes") {
  const Execution gather = on_h100(K::AllGather, 2 * mib, A::Ring, P::Simple);
  REQUIRE(gather.work.size() == 24);
  CHECK(gather.work[0] == ChannelWork{0, 1, 0, 87552, 512 * kib});
  CHECK(gather.work[23] == ChannelWork{23, 1, std::int64_t{23} * 87552, 83456, 512 * kib});
  CHECK(gather.least_slice == 8 * kib);
  CHECK(gather.slice_grain == 4);
  CHECK(on_h100(K::ReduceScatter, 2 * mib, A::Ring, P::Simple).slice_grain == 16);
}

// Below 32 KiB a block has half the threads, down to 64 and at least 96, of which 32 synchronise.
TEST_CASE("execution: small calls have few threads") {
  CHECK(on_h100(K::AllReduce, 8191, A::Ring, P::Simple).threads == 256);
  CHECK(on_h100(K::AllReduce, 1, A::Ring, P::Simple).threads == 64);
  CHECK(on_h100(K::AllReduce, 1, A::Tree, P::Simple).threads == 640);
}

// On 4 nodes of 8 parts of 30.4 chunks or more keep chunks of 576000 B. 15 parts of 2180 cells of
// 8192 B are 31 chunks; the last one has 2177 cells, 30 chunks, and takes half as large ones.
TEST_CASE("execution: parts of different sizes have different chunks") {
  const ReferenceMachine machine = h100(4);
  const std::int64_t count = (16 * 2180 - 3) * 2 * kib;
  const Execution execution =
      execution_on(machine, test::call_on(machine, K::AllReduce, count), A::Tree, P::LL128);
  REQUIRE(execution.work.size() == 16);
  CHECK(execution.work[14].count == 2180 * 2 * kib);
  CHECK(execution.work[14].chunk == 576000 / 4);
  CHECK(execution.work[15].count == 2177 * 2 * kib);
  CHECK(execution.work[15].chunk == 288000 / 4);
}

TEST_CASE("execution: the parts are the whole, for every size") {
  const ReferenceMachine machine = h100(1);
  for (const std::int64_t count : {1, 5, 4095, 4097, 1000003, 123456789}) {
    for (const K kind : {K::AllReduce, K::AllGather, K::ReduceScatter, K::Broadcast, K::Reduce}) {
      for (const P protocol : protocols) {
        const Execution execution =
            execution_on(machine, test::call_on(machine, kind, count), A::Ring, protocol);
        std::int64_t end = 0;
        for (const ChannelWork& work : execution.work) {
          CHECK(work.first == end);
          CHECK(work.count > 0);
          end += work.count;
        }
        CHECK(end == count);
      }
    }
  }
}

TEST_CASE("execution: channels of CollNet share the whole") {
  ReferenceMachine machine = h100(2);
  test::add_collnet(machine, 8, {});
  const Execution execution = execution_on(machine, test::call_on(machine, K::AllReduce, 64 * mib),
                                           A::CollNetChain, P::Simple);
  CHECK(execution.interleaved);
  REQUIRE(execution.work.size() == 24);
  // Depth 8: 256 MiB are fewer than 512 chunks of 256 KiB a channel, and not fewer than 64 of 128.
  CHECK(execution.work[5] == ChannelWork{5, 1, 0, 64 * mib, 32 * kib});
  const std::vector<std::size_t> alike(24, 0);
  // Alike but for their sorts.
  CHECK(joined_channels(execution, alike).work.size() == 4);
}

// Slices of ceil(n / 32) · 16 elements, at least 100.
TEST_CASE("execution: slices of a chunk") {
  Execution execution;
  execution.slices = 2;
  execution.least_slice = 100;
  CHECK(slice_of(execution, 400, 0) == Slice{0, 208});
  CHECK(slice_of(execution, 400, 1) == Slice{208, 192});
  CHECK(slice_of(execution, 120, 0) == Slice{0, 100});
  CHECK(slice_of(execution, 120, 1) == Slice{100, 20});
  CHECK(slice_of(execution, 100, 1) == Slice{100, 0});
  CHECK(slice_of(execution, 0, 0) == Slice{0, 0});
  execution.slices = 1;
  CHECK(slice_of(execution, 400, 0) == Slice{0, 400});
}

TEST_CASE("execution: equal channels are joined, the first stands for them") {
  Execution execution = on_h100(K::AllReduce, 16 * mib, A::Ring, P::Simple);
  std::vector<std::size_t> wiring(24);
  for (std::size_t channel = 0; channel < wiring.size(); ++channel) {
    wiring[channel] = channel % 2;
  }
  // With Simple the sorts of channels stay apart, which are finer than the wirings: channels 0, 4, …, 20
  // and so on, and the short last one.
  Execution joined = joined_channels(execution, wiring);
  REQUIRE(joined.work.size() == 5);
  CHECK(joined.work[0] == ChannelWork{0, 6, 0, 700416, 512 * kib});
  CHECK(joined.work[3] == ChannelWork{3, 5, 3 * 700416, 700416, 512 * kib});
  CHECK(joined.work[4] == execution.work[23]);
  execution.protocol = P::LL;
  joined = joined_channels(execution, wiring);
  REQUIRE(joined.work.size() == 3);
  CHECK(joined.work[0] == ChannelWork{0, 12, 0, 700416, 512 * kib});
  CHECK(joined.work[1] == ChannelWork{1, 11, 700416, 700416, 512 * kib});
  CHECK(joined.work[2] == execution.work[23]);
  execution.work[1].chunk -= 512;
  CHECK(joined_channels(execution, wiring).work.size() == 4);
}

TEST_CASE("execution: the channels of a communicator are joined by rings and by trees") {
  const Decisions decisions = two_nodes();
  const auto& channels = decisions.tuning().channels.collective;
  const auto rings = build_rings(decisions.graphs(), decisions.layout(), channels);
  for (const A algorithm : {A::Ring, A::Tree}) {
    const Execution execution =
        execution_of(decisions, all_reduce(16 * mib), chosen(algorithm, P::Simple));
    const Execution joined = joined_channels(decisions, execution);
    std::uint32_t channel_count = 0;
    for (const ChannelWork& work : joined.work) {
      channel_count += work.multiplicity;
    }
    CHECK(channel_count == execution.work.size());
    CHECK(joined.work.size() < execution.work.size());
    test::require_right(*build_program(decisions, execution));
    CHECK(build_program(decisions, joined)->channels() == channel_count);
    CHECK(weighted_bytes(*build_program(decisions, joined)) ==
          weighted_bytes(*build_program(decisions, execution)));
  }
}

TEST_CASE("execution: channels that interleave are joined by their share of the last loop") {
  const Decisions decisions = two_nodes_that_reduce();
  for (const A algorithm : {A::CollNetDirect, A::CollNetChain, A::Nvls}) {
    CAPTURE(name(algorithm));
    // Of the last loop the first channels have whole pieces, one a part, the others nothing.
    const Execution execution =
        execution_of(decisions, all_reduce(3 * mib + 12345), chosen(algorithm, P::Simple));
    REQUIRE(execution.interleaved);
    const Execution joined = joined_channels(decisions, execution);
    CHECK(joined.work.size() < execution.work.size());
    test::require_right(*build_program(decisions, execution));
    CHECK(build_program(decisions, joined)->channels() == execution.work.size());
    CHECK(weighted_bytes(*build_program(decisions, joined)) ==
          weighted_bytes(*build_program(decisions, execution)));
  }
}

TEST_CASE("execution: channels of a gather that interleave are joined by whose windows they have") {
  const Decisions decisions = two_nodes_that_reduce();
  for (const K kind : {K::AllGather, K::ReduceScatter}) {
    CAPTURE(collsim::name_of(kind));
    // Windows of 16 KiB: the first node's block ends in a short one of channel 7 of 16, the other's of channel 15.
    CollectiveCall call = all_reduce((7 * 16384 + 400) / 4);
    call.kind = kind;
    const Execution execution = execution_of(decisions, call, chosen(A::Nvls, P::Simple));
    REQUIRE(execution.interleaved);
    REQUIRE(execution.work.size() == 16);
    REQUIRE(execution.work[0].chunk == 4096);
    const Execution joined = joined_channels(decisions, execution);
    std::vector<std::uint32_t> multiplicities;
    for (const ChannelWork& work : joined.work) {
      multiplicities.push_back(work.multiplicity);
    }
    CHECK(multiplicities == std::vector<std::uint32_t>{7, 1, 7, 1});
    test::require_right(*build_program(decisions, execution));
    CHECK(weighted_bytes(*build_program(decisions, joined)) ==
          weighted_bytes(*build_program(decisions, execution)));
  }
}

}  // namespace collsim::nccl
