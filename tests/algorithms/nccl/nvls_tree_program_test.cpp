// NVLSTree: right data for every number of nodes and ranks in them, what goes over the network and
// through the nodes' switches, and the order of the steps.

#include "algorithms/nccl/nvls_tree_program.hpp"

#include <algorithm>
#include <vector>

#include "tests/algorithms/nccl/small_execution.hpp"
#include "tests/catch.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;
using nccl::RankLayout;

namespace {

std::unique_ptr<Program> nvls_tree(const SmallExecution& small, RankLayout layout,
                                   std::uint32_t heads) {
  std::vector<Rank> numbers;
  for (std::uint32_t h = 0; h < heads; ++h) {
    numbers.emplace_back(h);
  }
  return nccl::build_nvls_tree_program(make(nccl::Algorithm::NvlsTree, small), layout, numbers);
}

SmallExecution all_reduce(RankLayout layout, std::int64_t count, std::uint32_t channels,
                          std::int64_t chunk, InPlace in_place = InPlace::Yes) {
  return {CollectiveKind::AllReduce,
          static_cast<std::uint32_t>(layout.ranks()),
          count,
          channels,
          chunk,
          in_place};
}

/// Bytes of the messages from each rank to other nodes.
std::vector<Bytes> sent_away(const Program& program, std::uint32_t ranks_per_node) {
  std::vector<Bytes> sent(program.call().ranks);
  for (std::uint32_t r = 0; r < program.call().ranks; ++r) {
    for (std::uint32_t lane = 0; lane < program.lane_count(Rank(r)); ++lane) {
      for (std::uint64_t index = 0; index < program.step_count(Rank(r), lane); ++index) {
        const Step step = program.step(Rank(r), lane, index);
        for (std::uint32_t i = 0; i < step.sends.count; ++i) {
          const Rank to = program.send_to(Rank(r), lane, step.sends.first + i).peer;
          if (to.value() / ranks_per_node != r / ranks_per_node) {
            sent[r] += step.bytes;
          }
        }
      }
    }
  }
  return sent;
}

}  // namespace

TEST_CASE("NVLSTree gives every rank the sum, whatever the layout and the size") {
  for (const int ranks_per_node : {1, 2, 3, 4, 8}) {
    for (const int nodes : {2, 3, 4, 5, 6, 7, 8, 12, 16, 32}) {
      const RankLayout layout{nodes, ranks_per_node};
      if (layout.ranks() > 64) {
        continue;
      }
      const std::int64_t loop = std::int64_t{ranks_per_node} * 16;
      // One element; an odd one a block; past the slots on each of two channels.
      for (const std::int64_t count : {std::int64_t{1}, 2 * loop + 5, 22 * loop + 3}) {
        for (const InPlace in_place : {InPlace::Yes, InPlace::No}) {
          const auto program = nvls_tree(all_reduce(layout, count, 2, 16, in_place), layout,
                                         static_cast<std::uint32_t>(ranks_per_node));
          CHECK(fault_of(*program) == "");
        }
      }
    }
  }
}

TEST_CASE("NVLSTree with fewer heads than ranks in a node") {
  const RankLayout layout{5, 4};
  for (const std::uint32_t heads : {1U, 2U, 3U}) {
    CHECK(fault_of(*nvls_tree(all_reduce(layout, 1003, 3, 16), layout, heads)) == "");
  }
}

TEST_CASE("A head of NVLSTree sends 2 S / heads over the network, in the trees together") {
  // Tree 0 over 4 nodes: 0 <- 2, 2 <- {1, 3}; tree 1: 3 <- 1, 1 <- {2, 0}. A tree has half of S, a
  // head 1/4 of that. Up each node but the root sends to its parent, down to each child:
  //   node 0: tree 0: root, 1 child: 1;   tree 1: a leaf: 1;
  //   node 1: tree 0: a leaf: 1;          tree 1: parent and 2 children: 3;
  //   node 2: tree 0: 3;                  tree 1: 1;
  //   node 3: tree 0: 1;                  tree 1: 1.
  // So inner nodes send 4 halves of S / heads, the others 2.
  const RankLayout layout{4, 4};
  const std::int64_t count = 2 * 4 * 16 * 3;
  const auto program = nvls_tree(all_reduce(layout, count, 2, 16), layout, 4);
  const Bytes share = Bytes(count * 4) / 4;
  const std::vector<Bytes> sent = sent_away(*program, 4);
  for (std::size_t r = 0; r < 16; ++r) {
    const bool inner = r / 4 == 1 || r / 4 == 2;
    CHECK(sent[r] == (inner ? share * 2 : share));
  }
}

TEST_CASE("NVLSTree over two nodes sends S / heads from each head") {
  // Tree 0: 1 -> 0 and back; tree 1: 0 -> 1 and back: each node sends half of S once up or down in
  // each tree.
  const RankLayout layout{2, 8};
  const std::int64_t count = 2 * 8 * 16;
  const auto program = nvls_tree(all_reduce(layout, count, 2, 16), layout, 8);
  for (const Bytes sent : sent_away(*program, 8)) {
    CHECK(sent == Bytes(count * 4) / 8);
  }
}

TEST_CASE("Only heads of NVLSTree use the network") {
  const RankLayout layout{2, 4};
  const auto program = nvls_tree(all_reduce(layout, 2 * 16 * 4, 2, 16), layout, 1);
  // The one head of a node carries all of S, a half in each tree.
  const Bytes all(2 * 16 * 4 * 4);
  CHECK(sent_away(*program, 4) == std::vector<Bytes>{all, 0_B, 0_B, 0_B, all, 0_B, 0_B, 0_B});
}

TEST_CASE("Inside a node NVLSTree moves S + S/n each way on every NVLink, as NVLS") {
  const RankLayout layout{3, 4};
  const std::int64_t count = 2 * 4 * 16 * 2;
  const auto program = nvls_tree(all_reduce(layout, count, 2, 16), layout, 4);
  const MultimemTraffic traffic = multimem_traffic(*program);
  const Bytes each = Bytes(count * 4) + Bytes(count * 4) / 4;
  CHECK(traffic.up == std::vector<Bytes>(12, each));
  // What a head reads arrives at it; what it writes arrives at all.
  CHECK(traffic.down == std::vector<Bytes>(12, each));
}

TEST_CASE("Messages of NVLSTree between nodes take the route, those inside a node the switch") {
  const RankLayout layout{4, 2};
  const auto program = nvls_tree(all_reduce(layout, 256, 2, 16), layout, 2);
  for (std::uint32_t r = 0; r < 8; ++r) {
    for (std::uint32_t lane = 0; lane < program->lane_count(Rank(r)); ++lane) {
      for (std::uint64_t index = 0; index < program->step_count(Rank(r), lane); ++index) {
        const Step step = program->step(Rank(r), lane, index);
        for (std::uint32_t i = 0; i < step.sends.count; ++i) {
          const Rank to = program->send_to(Rank(r), lane, step.sends.first + i).peer;
          CHECK((to.value() / 2 != r / 2) == (step.movement == Movement::Route));
        }
      }
    }
  }
}

TEST_CASE("Steps of a head of NVLSTree: one primitive through the switch and the network") {
  // Node 2 is the inner node of tree 0 over 4 nodes, node 0 its root. Lanes: scatter, gather, reduce,
  // broadcast.
  const RankLayout layout{4, 2};
  const auto program = nvls_tree(all_reduce(layout, 32, 1, 16), layout, 2);
  const Rank root(0);
  REQUIRE(program->step_count(root, 2) == 3);
  REQUIRE(program->step_count(root, 3) == 0);
  // The root takes its child's sum, reads and writes its node with one transfer, and sends to the child.
  CHECK(program->step(root, 2, 0).receives.count == 1);
  CHECK(program->step(root, 2, 0).movement == Movement::Route);
  CHECK(program->step(root, 2, 1).movement == Movement::Multimem);
  CHECK(program->step(root, 2, 1).receives == SlotRange{0, 1});
  CHECK(program->step(root, 2, 1).sends == SlotRange{0, 1});
  CHECK(program->step(root, 2, 2).sends.count == 1);
  CHECK(program->step(root, 2, 2).movement == Movement::Route);
  const Rank inner(4);
  REQUIRE(program->step_count(inner, 2) == 2);
  REQUIRE(program->step_count(inner, 3) == 2);
  // Two children come in, one sum goes out; the total goes to both children.
  CHECK(program->step(inner, 2, 1).receives.count == 2);
  CHECK(program->step(inner, 2, 1).sends.count == 1);
  CHECK(program->step(inner, 3, 0).sends.count == 2);
  for (const std::uint32_t lane : {2U, 3U}) {
    CHECK_FALSE(program->step(inner, lane, 0).continues);
    CHECK(program->step(inner, lane, 1).continues);
  }
}

TEST_CASE("The block's 20 warps are divided among the lanes of NVLSTree") {
  const RankLayout layout{4, 2};
  const auto program = nvls_tree(all_reduce(layout, 32, 1, 16), layout, 2);
  const auto threads = [&](Rank rank) {
    std::vector<std::uint32_t> of_lanes;
    for (std::uint32_t lane = 0; lane < 4; ++lane) {
      of_lanes.push_back(program->lane(rank, lane).threads);
    }
    return of_lanes;
  };
  // With a parent: 5 warps reduce, 4 broadcast, 11 are left. The root of 8 ranks: 5, and 15 left.
  CHECK(threads(Rank(4)) == std::vector<std::uint32_t>{6 * 32, 5 * 32, 5 * 32, 4 * 32});
  CHECK(threads(Rank(0)) == std::vector<std::uint32_t>{8 * 32, 7 * 32, 5 * 32, 0});
}
