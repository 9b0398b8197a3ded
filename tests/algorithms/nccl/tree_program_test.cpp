// NCCL's trees: every rank ends up with its data, up and down flow beside each other, and each edge
// carries its part once each way.

#include "algorithms/nccl/tree_program.hpp"

#include <string>
#include <vector>

#include "algorithms/nccl/chunk_size.hpp"
#include "tests/algorithms/nccl/program_cases.hpp"
#include "tests/catch.hpp"

namespace collsim::nccl {

namespace {

using P = Protocol;
using test::ReferenceMachine;
using test::small_machine;
using test::Traffic;

std::unique_ptr<Program> tree_on(const ReferenceMachine& machine, const CollectiveCall& call,
                                 Protocol protocol) {
  return test::program_on(machine, test::execution_on(machine, call, Algorithm::Tree, protocol));
}

CollectiveCall all_reduce(const ReferenceMachine& machine, std::int64_t count) {
  return test::call_on(machine, CollectiveKind::AllReduce, count);
}

/// Every protocol and pattern; of elements one, an odd number, and several chunks of all four
/// channels; in and out of place.
void check_all(int nodes, int gpus) {
  ReferenceMachine machine = small_machine(nodes, gpus);
  int turn = 0;
  for (const Pattern pattern : {Pattern::Tree, Pattern::BalancedTree, Pattern::SplitTree}) {
    machine.graphs.tree.pattern = pattern;
    for (const P protocol : protocols) {
      const std::int64_t chunk = slot_data(machine.configuration, protocol) / 4;
      for (const std::int64_t count : {std::int64_t{1}, chunk / 3 + 1, 9 * chunk + 5}) {
        CollectiveCall call = all_reduce(machine, count);
        call.in_place = turn++ % 2 == 0 ? InPlace::Yes : InPlace::No;
        const auto program = tree_on(machine, call, protocol);
        test::require_right(*program);
        if (count > chunk) {
          REQUIRE(program->channels() == 4);
          REQUIRE(program->chunks() > 2);
        }
      }
    }
  }
}

/// The root 0 of two children 1 and 2, the first of which has a child 3.
std::vector<TreeLinks> four_ranks() {
  return {{std::nullopt, {Rank(1), Rank(2)}}, {Rank(0), {Rank(3)}}, {Rank(0), {}}, {Rank(1), {}}};
}

Execution execution_of_four(InPlace in_place) {
  Execution execution;
  execution.algorithm = Algorithm::Tree;
  execution.call.ranks = 4;
  execution.call.count = 9;
  execution.call.in_place = in_place;
  execution.threads = 640;
  execution.work = {{0, 1, 0, 9, 8}};
  return execution;
}

std::string steps_of(const Program& program, std::uint32_t rank, std::uint32_t lane) {
  std::string text;
  for (std::uint64_t index = 0; index < program.step_count(Rank(rank), lane); ++index) {
    const Step step = program.step(Rank(rank), lane, index);
    const Span& span = step.destination ? *step.destination : *step.source;
    text += (text.empty() ? "" : ", ") + std::string(name_of(step.primitive())) + " " +
            std::to_string(step.receives.count) + ">" + std::to_string(step.sends.count) + " " +
            std::to_string(span.offset.count()) + "+" + std::to_string(span.total.count());
  }
  return text;
}

std::string threads_of(Protocol protocol) {
  Execution execution = execution_of_four(InPlace::Yes);
  execution.protocol = protocol;
  const auto program = build_tree_program(execution, {four_ranks()});
  return std::to_string(program->lane(Rank(0), 0).threads) + ", " +
         std::to_string(program->lane(Rank(1), 0).threads) + " + " +
         std::to_string(program->lane(Rank(1), 1).threads);
}

}  // namespace

TEST_CASE("nccl tree: every rank gets its data, for 2 to 16 ranks") {
  for (const RankLayout layout : test::small_layouts()) {
    check_all(layout.nodes, layout.ranks_per_node);
  }
}

TEST_CASE("nccl tree: every rank gets its data, for 24, 32 and 64 ranks") {
  for (const RankLayout layout : test::large_layouts()) {
    check_all(layout.nodes, layout.ranks_per_node);
  }
  check_all(64, 1);
}

// 9 floats in chunks of 8: one of 32 bytes, one of 4.
TEST_CASE("nccl tree: up and down are lanes of their own, the root has one") {
  const auto program = build_tree_program(execution_of_four(InPlace::No), {four_ranks()});
  CHECK(steps_of(*program, 0, 0) ==
        "receive_reduce_copy_send 2>2 0+32, receive_reduce_copy_send 2>2 32+4");
  CHECK(steps_of(*program, 0, 1).empty());
  CHECK(steps_of(*program, 1, 0) == "receive_reduce_send 1>1 0+32, receive_reduce_send 1>1 32+4");
  CHECK(steps_of(*program, 1, 1) == "receive_copy_send 1>1 0+32, receive_copy_send 1>1 32+4");
  CHECK(steps_of(*program, 3, 0) == "send 0>1 0+32, send 0>1 32+4");
  CHECK(steps_of(*program, 3, 1) == "receive 1>0 0+32, receive 1>0 32+4");
  CHECK(program->receive_from(Rank(0), 0, 1) == Connection{Rank(2), 0, 0});
  CHECK(program->send_to(Rank(0), 0, 1) == Connection{Rank(2), 1, 0});
  CHECK(program->send_to(Rank(1), 1, 0) == Connection{Rank(3), 1, 0});
  CHECK(program->transfer_count() == 12);
  CHECK(program->chunks() == 2);
  CHECK(program->algorithm() == "nccl-tree");
}

TEST_CASE("nccl tree: in place, the result waits until the input has been read") {
  const auto in_place = build_tree_program(execution_of_four(InPlace::Yes), {four_ranks()});
  CHECK(in_place->step(Rank(1), 1, 1).after == StepRef{0, 1});
  CHECK_FALSE(in_place->step(Rank(1), 0, 1).after);
  CHECK_FALSE(in_place->step(Rank(0), 0, 1).after);
  const auto out_of_place = build_tree_program(execution_of_four(InPlace::No), {four_ranks()});
  CHECK_FALSE(out_of_place->step(Rank(1), 1, 1).after);
}

// Simple: 320 + 64 threads up, 256 down, of each group (and of 640 at the root) a warp synchronises.
// LL and LL128: 640 · 7/10 = 448 up, the others down.
TEST_CASE("nccl tree: threads are split between up and down") {
  CHECK(threads_of(P::Simple) == "608, 352 + 224");
  CHECK(threads_of(P::LL) == "640, 448 + 192");
  CHECK(threads_of(P::LL128) == "640, 448 + 192");
}

TEST_CASE("nccl tree: every edge carries its channel's part once up and once down") {
  for (const Pattern pattern : {Pattern::Tree, Pattern::BalancedTree, Pattern::SplitTree}) {
    ReferenceMachine machine = small_machine(6, 3);
    machine.graphs.tree.pattern = pattern;
    const Execution execution =
        test::execution_on(machine, all_reduce(machine, 1000003), Algorithm::Tree, P::LL128);
    REQUIRE(execution.work.size() == 4);
    const auto trees = test::trees_of(machine);
    Traffic expected;
    for (const ChannelWork& work : execution.work) {
      for (std::uint32_t rank = 0; rank < execution.call.ranks; ++rank) {
        if (const std::optional<Rank> up = trees[work.channel][rank].up) {
          expected[{rank, up->value()}] += work.count * 4;
          expected[{up->value(), rank}] += work.count * 4;
        }
      }
    }
    CHECK(test::traffic_of(*test::program_on(machine, execution)) == expected);
  }
}

// A node of one GPU has half of the data in each of two trees, of 4 nodes 0 and 3 are leaf and root,
// 1 and 2 leaf and inner node with two children: root S/2 + leaf S/2, or 3 S/2 + S/2.
TEST_CASE("nccl tree: over nodes of one GPU, a rank sends 2S at most") {
  const ReferenceMachine machine = small_machine(4, 1);
  const std::int64_t bytes = std::int64_t{1} << 24;
  std::vector<std::int64_t> sent(4);
  for (const auto& [link, amount] :
       test::traffic_of(*tree_on(machine, all_reduce(machine, bytes / 4), P::Simple))) {
    sent[link.first] += amount;
  }
  CHECK(sent == std::vector<std::int64_t>{bytes, 2 * bytes, 2 * bytes, bytes});
}

// One chunk on one channel: up the chain of the farthest node, over log2 N nodes to the root, and
// all the way back.
TEST_CASE("nccl tree: serial hops") {
  const auto hops_of = [](Pattern pattern, int nodes, int gpus) {
    ReferenceMachine machine = small_machine(nodes, gpus);
    machine.graphs.tree.pattern = pattern;
    return test::serial_hops(*tree_on(machine, all_reduce(machine, 100), P::LL));
  };
  CHECK(hops_of(Pattern::Tree, 1, 8) == 2 * 7);
  CHECK(hops_of(Pattern::Tree, 2, 1) == 2 * 1);
  CHECK(hops_of(Pattern::Tree, 2, 8) == 2 * (7 + 1));
  CHECK(hops_of(Pattern::Tree, 8, 8) == 2 * (7 + 3));
  CHECK(hops_of(Pattern::Tree, 16, 2) == 2 * (1 + 4));
  // The first child of a BALANCED_TREE and both of a SPLIT_TREE hang at the second GPU of their
  // parent: a hop more for each such node on the way. Node 1 is the second child of node 0.
  CHECK(hops_of(Pattern::BalancedTree, 2, 8) == 2 * (7 + 1));
  CHECK(hops_of(Pattern::SplitTree, 2, 8) == 2 * (7 + 1 + 1));
  CHECK(hops_of(Pattern::SplitTree, 8, 8) == 2 * (7 + 3 + 3));
}

}  // namespace collsim::nccl
