// NCCL's rings: every rank ends up with its data, in NCCL's order of primitives, and each link
// carries what theory says.

#include "algorithms/nccl/ring_program.hpp"

#include <array>
#include <string>
#include <vector>

#include "algorithms/nccl/chunk_size.hpp"
#include "tests/algorithms/nccl/program_cases.hpp"
#include "tests/algorithms/program_laws.hpp"
#include "tests/catch.hpp"

namespace collsim::nccl {

namespace {

using K = CollectiveKind;
using P = Protocol;
using test::ReferenceMachine;
using test::small_machine;
using test::Traffic;

constexpr std::array collectives{K::AllReduce, K::AllGather, K::ReduceScatter, K::Broadcast,
                                 K::Reduce};

std::unique_ptr<Program> ring_on(const ReferenceMachine& machine, const CollectiveCall& call,
                                 Protocol protocol) {
  return test::program_on(machine, test::execution_on(machine, call, Algorithm::Ring, protocol));
}

/// Elements of the call that a channel moves in a loop.
std::int64_t loop_of(const ReferenceMachine& machine, K kind, Protocol protocol) {
  const std::int64_t slot = slot_data(machine.configuration, protocol) / 4;
  const bool pipeline = kind == K::Broadcast || kind == K::Reduce;
  const std::int64_t chunk = slot * (protocol == P::Simple && !pipeline ? 4 : 1);
  return kind == K::AllReduce ? chunk * machine.communicator.ranks : chunk;
}

/// Every collective and protocol; of elements one, fewer than ranks, some, and more than a loop of all
/// four channels; in and out of place, with many roots.
void check_all(int nodes, int gpus) {
  const ReferenceMachine machine = small_machine(nodes, gpus);
  const std::int64_t ranks = machine.communicator.ranks;
  std::uint32_t turn = 0;
  for (const K kind : collectives) {
    for (const P protocol : protocols) {
      const std::int64_t loop = loop_of(machine, kind, protocol);
      for (const std::int64_t count : {std::int64_t{1}, ranks - 1, loop / 5 + 3, 5 * loop + 1}) {
        ++turn;
        CollectiveCall call = test::call_on(machine, kind, count);
        call.in_place = (turn + turn / 4) % 2 == 0 ? InPlace::Yes : InPlace::No;
        call.root = Rank(has_root(kind) ? turn * 3 % call.ranks : 0);
        const auto program = ring_on(machine, call, protocol);
        test::require_right(*program);
        if (count > loop) {
          // Small calls of many ranks run on fewer channels, in more loops.
          REQUIRE(program->chunks() >= 2);
          REQUIRE((program->channels() == 4 || kind != K::AllReduce));
        }
      }
    }
  }
}

/// "send 64+32": a primitive, where it writes (or else reads) and how many bytes.
std::string text(const Step& step) {
  const Span& span = step.destination ? *step.destination : *step.source;
  return std::string(name_of(step.primitive())) + " " + std::to_string(span.offset.count()) + "+" +
         std::to_string(span.total.count());
}

std::vector<std::string> steps_of(const Program& program, std::uint32_t rank) {
  std::vector<std::string> texts;
  for (std::uint64_t index = 0; index < program.step_count(Rank(rank), 0); ++index) {
    texts.push_back(text(program.step(Rank(rank), 0, index)));
  }
  return texts;
}

/// A ring 0, 2, 1 on one channel with chunks of 8 floats and one slice.
Execution three_ranks(K kind, std::int64_t count) {
  Execution execution;
  execution.call.kind = kind;
  execution.call.ranks = 3;
  execution.call.count = count;
  execution.call.in_place = InPlace::No;
  execution.work = {{0, 1, 0, count, 8}};
  return execution;
}

std::vector<std::string> steps_in_three(K kind, std::int64_t count, std::uint32_t rank) {
  return steps_of(*build_ring_program(three_ranks(kind, count), {{Rank(0), Rank(2), Rank(1)}}),
                  rank);
}

/// The links of a ring with the same bytes on each.
Traffic around(const std::vector<Rank>& ring, std::int64_t bytes) {
  Traffic traffic;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    traffic[{ring[i].value(), ring[(i + 1) % ring.size()].value()}] = bytes;
  }
  return traffic;
}

Traffic operator+(Traffic left, const Traffic& right) {
  for (const auto& [link, bytes] : right) {
    left[link] += bytes;
  }
  return left;
}

}  // namespace

TEST_CASE("nccl ring: every rank gets its data, for 2 to 16 ranks") {
  for (const RankLayout layout : test::small_layouts()) {
    check_all(layout.nodes, layout.ranks_per_node);
  }
}

TEST_CASE("nccl ring: every rank gets its data, for 24, 32 and 64 ranks") {
  for (const RankLayout layout : test::large_layouts()) {
    check_all(layout.nodes, layout.ranks_per_node);
  }
}

TEST_CASE("nccl ring: every rank gets its data, whatever the type") {
  const ReferenceMachine machine = small_machine(1, 3);
  for (const DataType type : {DataType::Uint8, DataType::Half, DataType::Float64}) {
    for (const K kind : collectives) {
      for (const P protocol : protocols) {
        CollectiveCall call = test::call_on(machine, kind, 12345677);
        call.type = type;
        test::require_right(*ring_on(machine, call, protocol));
      }
    }
  }
}

// Rank 2 stands at position 1 of the ring 0, 2, 1. A loop has 3 chunks of 8 floats, the last one
// what is left, 31 - 24 = 7 floats in chunks of ceil(7/3) = 3 → 4 (16 B): 4, 3 and none.
TEST_CASE("nccl ring: all_reduce sends a chunk, reduces round the ring, then copies round it") {
  CHECK(steps_in_three(K::AllReduce, 31, 2) == std::vector<std::string>{
                                                   "send 0+32",                       // ix - 1
                                                   "receive_reduce_send 64+32",       // ix - 2
                                                   "receive_reduce_copy_send 32+32",  // ix
                                                   "receive_copy_send 0+32",          // ix - 1
                                                   "receive 64+32",                   // ix + 1
                                                   "send 96+16",
                                                   "receive_reduce_send 124+0",
                                                   "receive_reduce_copy_send 112+12",
                                                   "receive_copy_send 96+16",
                                                   "receive 124+0",
                                               });
}

// Blocks of 9 floats, a loop of 8 of each and one of 1. Before rank 2 comes rank 0, before it 1.
TEST_CASE("nccl ring: all_gather sends the own block, then forwards the others'") {
  CHECK(steps_in_three(K::AllGather, 9, 2) == std::vector<std::string>{
                                                  "copy_send 72+32",
                                                  "receive_copy_send 0+32",
                                                  "receive 36+32",
                                                  "copy_send 104+4",
                                                  "receive_copy_send 32+4",
                                                  "receive 68+4",
                                              });
}

TEST_CASE("nccl ring: reduce_scatter begins with the block of the rank before") {
  CHECK(steps_in_three(K::ReduceScatter, 9, 2) == std::vector<std::string>{
                                                      "send 0+32",
                                                      "receive_reduce_send 36+32",
                                                      "receive_reduce_copy 0+32",
                                                      "send 32+4",
                                                      "receive_reduce_send 68+4",
                                                      "receive_reduce_copy 32+4",
                                                  });
}

// From root 2 over 1 to 0; to root 2 from 1 over 0.
TEST_CASE("nccl ring: broadcast and reduce are pipelines") {
  Execution execution = three_ranks(K::Broadcast, 9);
  execution.call.root = Rank(2);
  const std::vector<std::vector<Rank>> rings{{Rank(0), Rank(2), Rank(1)}};
  const auto broadcast = build_ring_program(execution, rings);
  CHECK(steps_of(*broadcast, 2) == std::vector<std::string>{"copy_send 0+32", "copy_send 32+4"});
  CHECK(steps_of(*broadcast, 1) ==
        std::vector<std::string>{"receive_copy_send 0+32", "receive_copy_send 32+4"});
  CHECK(steps_of(*broadcast, 0) == std::vector<std::string>{"receive 0+32", "receive 32+4"});
  execution.call.kind = K::Reduce;
  const auto reduce = build_ring_program(execution, rings);
  CHECK(steps_of(*reduce, 1) == std::vector<std::string>{"send 0+32", "send 32+4"});
  CHECK(steps_of(*reduce, 0) ==
        std::vector<std::string>{"receive_reduce_send 0+32", "receive_reduce_send 32+4"});
  CHECK(steps_of(*reduce, 2) ==
        std::vector<std::string>{"receive_reduce_copy 0+32", "receive_reduce_copy 32+4"});
}

TEST_CASE("nccl ring: in place, all_gather and broadcast begin with a plain send") {
  Execution execution = three_ranks(K::AllGather, 8);
  execution.call.in_place = InPlace::Yes;
  const std::vector<std::vector<Rank>> rings{{Rank(0), Rank(2), Rank(1)}};
  CHECK(build_ring_program(execution, rings)->step(Rank(1), 0, 0).primitive() == Primitive::Send);
  execution.call.kind = K::Broadcast;
  CHECK(build_ring_program(execution, rings)->step(Rank(0), 0, 0).primitive() == Primitive::Send);
}

// 20 floats in 2 slices of at least 16: ceil(20/32)·16 = 16 and 4. Up to 16 floats the second slice
// is empty, and is sent.
TEST_CASE("nccl ring: a chunk goes in slices, empty ones as well") {
  Execution execution = three_ranks(K::Reduce, 36);
  execution.work[0].chunk = 20;
  execution.slices = 2;
  execution.least_slice = 16;
  const auto program = build_ring_program(execution, {{Rank(0), Rank(2), Rank(1)}});
  CHECK(steps_of(*program, 2) ==
        std::vector<std::string>{"send 0+64", "send 64+16", "send 80+64", "send 144+0"});
  CHECK(program->step(Rank(2), 0, 3).sends.count == 1);
  CHECK(program->transfer_count() == 8);
}

TEST_CASE("nccl ring: a lane says what its channel is") {
  Execution execution = three_ranks(K::AllReduce, 8);
  execution.protocol = P::LL128;
  execution.threads = 320;
  execution.fifo = 4;
  execution.work = {{3, 2, 0, 8, 8}};
  const std::vector<Rank> ring{Rank(0), Rank(2), Rank(1)};
  const auto program = build_ring_program(execution, {{}, {}, {}, ring});
  const Lane lane = program->lane(Rank(1), 0);
  CHECK(lane.channel == 3);
  CHECK(lane.fifo_depth == 4U);
  CHECK(lane.protocol == WireProtocol::LL128);
  CHECK(lane.kernel == Kernel::Collective);
  CHECK(lane.threads == 320);
  CHECK(lane.multiplicity == 2);
  CHECK(program->channels() == 2);
  CHECK(program->algorithm() == "nccl-ring");
  CHECK(program->lane_count(Rank(1)) == 1);
}

// Two rings, each on two of four channels: half of the data goes each way. 2S(n-1)/n, (n-1)b and S.
TEST_CASE("nccl ring: each link of a ring carries the bytes of theory") {
  const ReferenceMachine machine = small_machine(2, 4);
  const std::int64_t n = 8;
  const std::vector<std::vector<Rank>> rings = test::rings_of(machine);
  const auto two_rings = [&](std::int64_t bytes) {
    return around(rings[0], bytes / 2) + around(rings[1], bytes / 2);
  };
  const auto traffic = [&](K kind, P protocol, std::int64_t bytes) {
    return test::traffic_of(*ring_on(machine, test::call_on(machine, kind, bytes / 4), protocol));
  };
  for (const P protocol : protocols) {
    // What four channels deal out without a rest, in cells of 16 KiB and chunks of 16 B.
    const std::int64_t bytes = std::int64_t{1} << 24;
    CHECK(traffic(K::AllReduce, protocol, bytes) == two_rings(2 * bytes * (n - 1) / n));
    CHECK(traffic(K::AllGather, protocol, bytes) == two_rings((n - 1) * bytes));
    CHECK(traffic(K::ReduceScatter, protocol, bytes) == two_rings((n - 1) * bytes));
    for (const auto& [kind, back] : {std::pair{K::Broadcast, 1U}, std::pair{K::Reduce, 0U}}) {
      // The link that is not used leads to the root of Broadcast and from the root of Reduce.
      Traffic expected = two_rings(bytes);
      for (const std::size_t ring : {std::size_t{0}, std::size_t{1}}) {
        const Rank first = rings[ring].front();
        REQUIRE(first == Rank(0));
        const auto link = back == 1 ? std::pair{rings[ring].back().value(), first.value()}
                                    : std::pair{first.value(), rings[ring][1].value()};
        expected[link] -= bytes / 2;
        if (expected[link] == 0) {
          expected.erase(link);
        }
      }
      CHECK(traffic(kind, protocol, bytes) == expected);
    }
  }
}

TEST_CASE("nccl ring: all ranks together send 2S(n-1), whatever the size") {
  for (const int gpus : {2, 3, 5, 8}) {
    const ReferenceMachine machine = small_machine(1, gpus);
    for (const std::int64_t count : {1, 7, 100003, 30000001}) {
      Bytes sent;
      for (const Bytes bytes : collsim::test::bytes_sent(
               *ring_on(machine, test::call_on(machine, K::AllReduce, count), P::Simple))) {
        sent += bytes;
      }
      CHECK(sent.count() == 2 * count * 4 * (gpus - 1));
    }
  }
}

// A few elements, so one loop: 2(n-1) hops, or n-1.
TEST_CASE("nccl ring: serial hops") {
  for (const int gpus : {2, 3, 8}) {
    const ReferenceMachine machine = small_machine(1, gpus);
    const auto n = static_cast<std::uint64_t>(gpus);
    for (const P protocol : protocols) {
      const auto hops_of = [&](K kind) {
        return test::serial_hops(*ring_on(machine, test::call_on(machine, kind, 100), protocol));
      };
      CHECK(hops_of(K::AllReduce) == 2 * (n - 1));
      CHECK(hops_of(K::AllGather) == n - 1);
      CHECK(hops_of(K::ReduceScatter) == n - 1);
      CHECK(hops_of(K::Broadcast) == n - 1);
      CHECK(hops_of(K::Reduce) == n - 1);
    }
  }
}

}  // namespace collsim::nccl
