#include "algorithms/check.hpp"
#include "algorithms/node_layout.hpp"
#include "algorithms/table.hpp"
#include "tests/algorithms/program_laws.hpp"
#include "tests/catch.hpp"

namespace collsim {
namespace {

/// A placement: the node of each rank.
std::vector<NodeId> on_nodes(const std::vector<std::uint32_t>& nodes) {
  std::vector<NodeId> result;
  result.reserve(nodes.size());
  for (const std::uint32_t node : nodes) {
    result.emplace_back(node);
  }
  return result;
}

std::vector<NodeId> in_blocks(const std::vector<std::uint32_t>& sizes) {
  std::vector<NodeId> result;
  for (std::uint32_t node = 0; node < sizes.size(); ++node) {
    result.insert(result.end(), sizes[node], NodeId(node));
  }
  return result;
}

std::vector<NodeId> cyclic(std::uint32_t ranks, std::uint32_t nodes) {
  std::vector<NodeId> result;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    result.emplace_back(rank % nodes);
  }
  return result;
}

/// Equal and unequal nodes, in blocks, dealt out, and mixed up; nodes of one GPU; gaps in numbers.
std::vector<std::vector<NodeId>> placements() {
  return {in_blocks({1, 1}),
          in_blocks({2, 2}),
          in_blocks({4, 4}),
          in_blocks({3, 3, 3}),
          in_blocks({8, 8}),
          in_blocks({1, 1, 1, 1, 1}),
          in_blocks({4, 1}),
          in_blocks({1, 4}),
          in_blocks({4, 3, 2, 1}),
          in_blocks({5, 2, 7}),
          in_blocks({2, 8, 3, 8, 1}),
          cyclic(8, 2),
          cyclic(9, 3),
          cyclic(11, 4),
          on_nodes({7, 3, 7, 3}),
          on_nodes({2, 2, 0, 1, 0, 2, 2, 1, 0, 9}),
          on_nodes({0, 1, 1, 0, 2, 1, 1, 0, 2, 1, 0})};
}

ProgramRequest request_on(const std::vector<NodeId>& node_of_rank, CollectiveKind kind,
                          std::int64_t count) {
  ProgramRequest request;
  request.node_of_rank = node_of_rank;
  request.call.kind = kind;
  request.call.ranks = static_cast<std::uint32_t>(node_of_rank.size());
  request.call.count = count;
  return request;
}

std::vector<Rank> roots_of(const CollectiveCall& call) {
  std::vector<Rank> roots{Rank(0)};
  if (!has_root(call.kind)) {
    return roots;
  }
  for (std::uint32_t rank = 1; rank < call.ranks; ++rank) {
    roots.emplace_back(rank);
  }
  return roots;
}

std::string first_failure(const Program& program) {
  const CheckReport report = check_program(program);
  return report.ok() ? "" : report.failures.front().text;
}

void check_data(ProgramRequest request) {
  const Algorithm& algorithm = find_algorithm("hierarchical");
  for (const InPlace in_place : {InPlace::No, InPlace::Yes}) {
    if (in_place == InPlace::Yes && !allows_in_place(request.call.kind)) {
      continue;
    }
    request.call.in_place = in_place;
    for (const Rank root : roots_of(request.call)) {
      request.call.root = root;
      const auto program = build_program(algorithm, request);
      INFO(test::describe(*program));
      REQUIRE(test::first_breach(*program) == "");
      REQUIRE(first_failure(*program) == "");
    }
  }
}

TEST_CASE("hierarchical algorithms give every rank its data, whatever the nodes") {
  for (const auto& node_of_rank : placements()) {
    for (const CollectiveKind kind : find_algorithm("hierarchical").collectives) {
      for (const std::int64_t count : {1, 7, 64}) {
        check_data(request_on(node_of_rank, kind, count));
        ProgramRequest sliced = request_on(node_of_rank, kind, count);
        sliced.channels = 2;
        sliced.chunks = 3;
        check_data(sliced);
      }
    }
  }
}

TEST_CASE("hierarchical needs more than one node") {
  const Algorithm& algorithm = find_algorithm("hierarchical");
  REQUIRE(algorithm.obstacle(request_on(in_blocks({4}), CollectiveKind::AllReduce, 1)));
  REQUIRE(algorithm.obstacle(request_on({}, CollectiveKind::AllReduce, 1)));
  REQUIRE_FALSE(algorithm.obstacle(request_on(in_blocks({1, 1}), CollectiveKind::AllReduce, 1)));
}

/// Bytes that each rank sends to other nodes.
std::vector<Bytes> bytes_to_other_nodes(const Program& program,
                                        const std::vector<NodeId>& node_of_rank) {
  std::vector<Bytes> result(node_of_rank.size());
  for (std::uint32_t r = 0; r < node_of_rank.size(); ++r) {
    const Rank rank(r);
    for (std::uint32_t lane = 0; lane < program.lane_count(rank); ++lane) {
      for (std::uint64_t index = 0; index < program.step_count(rank, lane); ++index) {
        const Step step = program.step(rank, lane, index);
        for (std::uint32_t i = 0; i < step.sends.count; ++i) {
          const Rank peer = program.send_to(rank, lane, step.sends.first + i).peer;
          if (node_of_rank[peer.index()] != node_of_rank[r]) {
            result[r] += step.bytes;
          }
        }
      }
    }
  }
  return result;
}

// Three nodes of four GPUs, 12 elements of 4 bytes a block (a buffer for all_reduce).
TEST_CASE("with equal nodes every GPU carries its share between the nodes, and no more") {
  const std::vector<NodeId> node_of_rank = in_blocks({4, 4, 4});
  const auto sent = [&](CollectiveKind kind, std::int64_t count) {
    const auto program =
        build_program(find_algorithm("hierarchical"), request_on(node_of_rank, kind, count));
    return bytes_to_other_nodes(*program, node_of_rank);
  };
  // A ring over 3 nodes for a quarter of the buffer: 2·(3-1)/3 · 144/4 bytes.
  REQUIRE(sent(CollectiveKind::AllReduce, 36) == std::vector<Bytes>(12, Bytes(48)));
  // Its own block of 48 bytes, and that of the node before, one hop on.
  REQUIRE(sent(CollectiveKind::AllGather, 12) == std::vector<Bytes>(12, Bytes(96)));
  REQUIRE(sent(CollectiveKind::ReduceScatter, 12) == std::vector<Bytes>(12, Bytes(96)));
}

TEST_CASE("trees over nodes enter every node once") {
  for (const auto& node_of_rank : {in_blocks({4, 3, 1, 5}), cyclic(11, 4)}) {
    ProgramRequest request = request_on(node_of_rank, CollectiveKind::Broadcast, 10);
    request.call.root = Rank(5);
    Bytes total;
    for (const Bytes sent : bytes_to_other_nodes(
             *build_program(find_algorithm("hierarchical"), request), node_of_rank)) {
      total += sent;
    }
    // 40 bytes to each of the other three nodes.
    REQUIRE(total == Bytes(120));
  }
}

TEST_CASE("a node's columns are shared among its GPUs in runs") {
  // Nodes {0, 1, 2, 3}, {4, 5, 6}, {7}: four columns. Of three GPUs, the first owns columns 0 and 1
  // (floor(1·3/4) = 0), the others one each; a GPU alone owns all.
  const NodeLayout layout(in_blocks({4, 3, 1}), NodeLayout::Pieces::PerRank);
  REQUIRE(layout.columns() == 4);
  REQUIRE(layout.owner(0, 1) == Rank(1));
  REQUIRE(layout.owner(1, 0) == Rank(4));
  REQUIRE(layout.owner(1, 1) == Rank(4));
  REQUIRE(layout.owner(1, 2) == Rank(5));
  REQUIRE(layout.owner(1, 3) == Rank(6));
  REQUIRE(layout.owner(2, 3) == Rank(7));
  REQUIRE(layout.columns_of(Rank(4)) == 2);
  REQUIRE(layout.columns_of(Rank(7)) == 4);
  // Blocks by column: {0, 4, 7}, {1}, {2, 5}, {3, 6}.
  const std::vector<Rank> order(layout.by_position().begin(), layout.by_position().end());
  REQUIRE(order == std::vector<Rank>{Rank(0), Rank(4), Rank(7), Rank(1), Rank(2), Rank(5), Rank(3),
                                     Rank(6)});
  REQUIRE(layout.run(1, 0) == BlockRange{0, 4});
  REQUIRE(layout.run(2, 0) == BlockRange{0, 8});
  REQUIRE(layout.piece(2, 1) == BlockRange{5, 1});
  REQUIRE(layout.piece(1, 1).count == 0);
}

}  // namespace
}  // namespace collsim
