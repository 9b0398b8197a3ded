#include "algorithms/pattern.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/flat.hpp"
#include "algorithms/ring.hpp"
#include "tests/algorithms/program_laws.hpp"
#include "tests/catch.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;

namespace {

const Place input = all_blocks(Buffer::Input);
const Place output = all_blocks(Buffer::Output);

CollectiveCall all_reduce_of(std::uint32_t ranks, std::int64_t count,
                             InPlace in_place = InPlace::No) {
  CollectiveCall call;
  call.kind = CollectiveKind::AllReduce;
  call.ranks = ranks;
  call.count = count;
  call.type = DataType::Uint8;
  call.in_place = in_place;
  return call;
}

CollectiveCall all_gather_of(std::uint32_t ranks, std::int64_t count, InPlace in_place) {
  CollectiveCall call = all_reduce_of(ranks, count, in_place);
  call.kind = CollectiveKind::AllGather;
  return call;
}

std::vector<std::string> primitives(const Program& program, Rank rank, std::uint32_t lane) {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < program.step_count(rank, lane); ++i) {
    names.emplace_back(name_of(program.step(rank, lane, i).primitive()));
  }
  return names;
}

std::unique_ptr<Pattern> reduce_to_0(std::uint32_t ranks) {
  return flat_reduce(ranks, Rank(0), 1, input, output);
}
std::unique_ptr<Pattern> broadcast_from_0(std::uint32_t ranks) {
  return flat_broadcast(ranks, Rank(0), 1, output, output);
}

std::unique_ptr<Program> in_sequence(std::uint32_t channels, std::uint32_t chunks) {
  return partition("test", all_reduce_of(3, 12), then(reduce_to_0(3), broadcast_from_0(3)),
                   channels, chunks);
}
std::unique_ptr<Program> pipelined(std::uint32_t channels, std::uint32_t chunks) {
  return partition("test", all_reduce_of(3, 12),
                   then(reduce_to_0(3), broadcast_from_0(3), Composition::Pipelined), channels,
                   chunks);
}

}  // namespace

TEST_CASE("then() fuses the step that makes a block with the one that sends it on") {
  // reduce-scatter and all-gather rings of 4 have 4 steps each, and one of them is shared.
  const auto program = partition(
      "test", all_reduce_of(4, 8),
      then(ring_reduce_scatter(4, input, output), ring_all_gather(4, output, output)), 1, 1);
  CHECK(primitives(*program, Rank(2), 0) ==
        std::vector<std::string>{"send", "receive_reduce_send", "receive_reduce_send",
                                 "receive_reduce_copy_send", "receive_copy_send",
                                 "receive_copy_send", "receive"});
  CHECK(test::first_breach(*program) == "");
}

TEST_CASE("then() fuses nothing where the second pattern sends something else") {
  // The ring of the second pattern starts with the input, not with the sum.
  const auto program = partition(
      "test", all_reduce_of(4, 8),
      then(ring_reduce_scatter(4, input, output), ring_all_gather(4, input, output)), 1, 1);
  CHECK(program->step_count(Rank(0), 0) == 8);
  CHECK(test::first_breach(*program) == "");
}

TEST_CASE("in sequence, lanes of a rank meet before the second pattern starts") {
  const auto program = in_sequence(1, 1);
  // The root reduces in lane 0 and sends in lanes 0 and 1.
  REQUIRE(program->lane_count(Rank(0)) == 2);
  CHECK(primitives(*program, Rank(0), 0) ==
        std::vector<std::string>{"receive_reduce_copy", "send"});
  CHECK(primitives(*program, Rank(0), 1) == std::vector<std::string>{"send"});
  for (const auto& [lane, index] : {std::pair{0U, 1U}, std::pair{1U, 0U}}) {
    const Step send = program->step(Rank(0), lane, index);
    CHECK(send.join == 0U);
    CHECK(send.phase == 1);
  }
  // The others have a single lane, whose order is enough.
  CHECK(!program->step(Rank(1), 0, 1).join);
}

TEST_CASE("pipelined, the second pattern has lanes and a group of its own and joins the first") {
  const auto program = pipelined(1, 2);
  REQUIRE(program->lane_count(Rank(0)) == 3);
  REQUIRE(program->lane_count(Rank(1)) == 2);
  CHECK(program->lane(Rank(0), 0).group == 0);
  CHECK(program->lane(Rank(0), 1).group == 1);
  CHECK(program->lane(Rank(0), 2).group == 1);
  for (std::uint64_t chunk = 0; chunk < 2; ++chunk) {
    // A chunk has one phase of each pattern.
    CHECK(program->step(Rank(0), 0, chunk).phase == 2 * chunk);
    const Step send = program->step(Rank(0), 2, chunk);
    CHECK(send.phase == 2 * chunk + 1);
    CHECK(send.join == 0U);
  }
  CHECK(test::first_breach(*program) == "");
}

TEST_CASE("each channel has lanes and groups of its own") {
  const auto program = pipelined(2, 1);
  CHECK(program->channels() == 2);
  REQUIRE(program->lane_count(Rank(0)) == 6);
  CHECK(program->lane(Rank(0), 2).channel == 0);
  CHECK(program->lane(Rank(0), 3).channel == 1);
  CHECK(program->lane(Rank(0), 3).group == 2);
  CHECK(program->lane(Rank(0), 4).group == 3);
  CHECK(program->step(Rank(0), 4, 0).join == 2U);
  CHECK(test::first_breach(*program) == "");
}

TEST_CASE("channels come first, then chunks") {
  // 12 elements: channel 1 has 6 … 11, its second chunk of three 8 and 9.
  const auto program = partition("test", all_reduce_of(3, 12), reduce_to_0(3), 2, 3);
  CHECK(program->step(Rank(1), 1, 1).source == Span::contiguous(Buffer::Input, 8_B, 2_B));
}

TEST_CASE("no part of the data is empty") {
  const auto parts = [](std::int64_t count, std::uint32_t channels, std::uint32_t chunks) {
    const auto program =
        partition("test", all_reduce_of(3, count), reduce_to_0(3), channels, chunks);
    return std::pair{program->channels(), program->chunks()};
  };
  CHECK(parts(12, 2, 3) == std::pair{2U, 3U});
  CHECK(parts(2, 4, 4) == std::pair{2U, 1U});
  // The smaller of two channels has 2 of 5 elements.
  CHECK(parts(5, 2, 9) == std::pair{2U, 2U});
  CHECK(parts(5, 0, 0) == std::pair{1U, 1U});
}

TEST_CASE("steps of all parts together send the whole") {
  for (const std::uint32_t channels : {1U, 2U, 5U}) {
    for (const std::uint32_t chunks : {1U, 3U}) {
      // The reduction brings 12 B from two ranks, the broadcast takes them back.
      for (const auto& program : {in_sequence(channels, chunks), pipelined(channels, chunks)}) {
        CHECK(test::bytes_sent(*program) == std::vector<Bytes>{24_B, 12_B, 12_B});
        CHECK(program->transfer_count() == 4 * program->channels() * program->chunks());
        CHECK(test::first_breach(*program) == "");
      }
    }
  }
}

TEST_CASE("beside() gives each pattern half of the data and lanes of its own") {
  const auto program = partition(
      "test", all_reduce_of(3, 9),
      beside(ring_broadcast(3, Rank(0), input, output), ring_broadcast(3, Rank(1), input, output)),
      1, 1);
  REQUIRE(program->lane_count(Rank(0)) == 2);
  // The first half has the odd element.
  CHECK(program->step(Rank(0), 0, 0).source == Span::contiguous(Buffer::Input, 0_B, 5_B));
  CHECK(program->step(Rank(1), 1, 0).source == Span::contiguous(Buffer::Input, 5_B, 4_B));
  CHECK(program->lane(Rank(0), 1).group == 1);
  CHECK(test::first_breach(*program) == "");
}

TEST_CASE("pipelines side by side keep their joins apart") {
  const auto chain = [](std::uint32_t root) {
    return then(ring_reduce(3, Rank(root), input, output),
                ring_broadcast(3, Rank(root), output, output), Composition::Pipelined);
  };
  const auto program = partition("test", all_reduce_of(3, 12), beside(chain(0), chain(1)), 2, 2);
  // Lanes of a channel: reduce and broadcast of one chain, then of the other; a group each.
  REQUIRE(program->lane_count(Rank(0)) == 8);
  CHECK(program->lane(Rank(0), 7).group == 7);
  CHECK(program->step(Rank(0), 7, 0).join == 6U);
  CHECK(program->step(Rank(0), 1, 0).join == 0U);
  CHECK(test::first_breach(*program) == "");
}

TEST_CASE("in place, what lies at its destination is not copied") {
  const auto gather = [](InPlace in_place) {
    return partition("test", all_gather_of(3, 6, in_place),
                     ring_all_gather(3, own_block(Buffer::Input), output), 1, 2);
  };
  CHECK(primitives(*gather(InPlace::No), Rank(1), 0)[3] == "copy_send");
  CHECK(primitives(*gather(InPlace::Yes), Rank(1), 0)[3] == "send");
  CHECK(test::first_breach(*gather(InPlace::Yes)) == "");
}

TEST_CASE("patterns that do not fit each other are our bug") {
  CHECK_THROWS_AS(then(reduce_to_0(3), broadcast_from_0(4)), InternalError);
  CHECK_THROWS_AS(then(reduce_to_0(3), ring_all_gather(3, output, output)), InternalError);
  CHECK_THROWS_AS(beside(reduce_to_0(3), broadcast_from_0(4)), InternalError);
  CHECK_THROWS_AS(partition("test", all_reduce_of(4, 1), reduce_to_0(3), 1, 1), InternalError);
  auto two_groups = then(reduce_to_0(3), broadcast_from_0(3), Composition::Pipelined);
  CHECK_THROWS_AS(then(std::move(two_groups), reduce_to_0(3)), InternalError);
}
