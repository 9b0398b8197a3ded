// CollNet (SHARP): right data for every number of nodes and ranks in them, what each rank sends to the
// network and inside its node, and what the fabric's switches are given to do.

#include "algorithms/nccl/collnet_program.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "algorithms/nccl/collnet_gather_program.hpp"
#include "algorithms/nccl/nvls_gather_program.hpp"
#include "algorithms/nccl/nvls_network_program.hpp"
#include "tests/algorithms/nccl/small_execution.hpp"
#include "tests/catch.hpp"
#include "tests/sample.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;
using nccl::RankLayout;

namespace {

constexpr std::int64_t chunk = 16;

nccl::Execution interleaved(nccl::Algorithm algorithm, RankLayout layout, std::int64_t count,
                            std::uint32_t channels, InPlace in_place = InPlace::Yes) {
  nccl::Execution execution =
      make(algorithm, {CollectiveKind::AllReduce, static_cast<std::uint32_t>(layout.ranks()), count,
                       1, chunk, in_place});
  execution.interleaved = true;
  execution.work.clear();
  for (std::uint32_t channel = 0; channel < channels; ++channel) {
    execution.work.push_back({channel, 1, 0, count, chunk});
  }
  return execution;
}

std::vector<Rank> first_ranks(int count) {
  std::vector<Rank> ranks;
  for (int rank = 0; rank < count; ++rank) {
    ranks.emplace_back(static_cast<std::uint32_t>(rank));
  }
  return ranks;
}

/// All-gather or reduce-scatter, `count` elements a rank.
std::unique_ptr<Program> gather(CollectiveKind kind, RankLayout layout, std::int64_t count,
                                std::uint32_t channels, InPlace in_place = InPlace::Yes) {
  nccl::Execution execution =
      interleaved(nccl::Algorithm::CollNetDirect, layout, count, channels, in_place);
  execution.call.kind = kind;
  return nccl::build_collnet_gather_program(execution, layout);
}

std::unique_ptr<Program> direct(RankLayout layout, std::int64_t count, std::uint32_t channels,
                                int heads, InPlace in_place = InPlace::Yes) {
  return nccl::build_collnet_direct_program(
      interleaved(nccl::Algorithm::CollNetDirect, layout, count, channels, in_place), layout,
      first_ranks(heads));
}

/// Channel c begins at rank c of a node.
std::unique_ptr<Program> chain(RankLayout layout, std::int64_t count, std::uint32_t channels,
                               InPlace in_place = InPlace::Yes) {
  std::vector<std::vector<Rank>> chains;
  chains.reserve(channels);
  for (std::uint32_t channel = 0; channel < channels; ++channel) {
    std::vector<Rank> ranks = first_ranks(layout.ranks_per_node);
    std::ranges::rotate(ranks, ranks.begin() + static_cast<std::ptrdiff_t>(channel % ranks.size()));
    chains.push_back(ranks);
  }
  return nccl::build_collnet_chain_program(
      interleaved(nccl::Algorithm::CollNetChain, layout, count, channels, in_place), layout,
      chains);
}

std::unique_ptr<Program> nvls(RankLayout layout, std::int64_t count, std::uint32_t channels,
                              int heads, InPlace in_place = InPlace::Yes) {
  return nccl::build_nvls_network_program(
      interleaved(nccl::Algorithm::Nvls, layout, count, channels, in_place), layout,
      first_ranks(heads));
}

/// All-gather or reduce-scatter through the nodes' switches, `count` elements a rank. The graph's heads are not in
/// the order of ranks.
std::unique_ptr<Program> nvls_gather(CollectiveKind kind, RankLayout layout, std::int64_t count,
                                     std::uint32_t channels, InPlace in_place = InPlace::Yes,
                                     DataType type = DataType::Float32) {
  nccl::Execution execution = interleaved(nccl::Algorithm::Nvls, layout, count, channels, in_place);
  execution.call.kind = kind;
  execution.call.type = type;
  std::vector<Rank> heads = first_ranks(layout.ranks_per_node);
  std::ranges::rotate(heads, heads.begin() + 1);
  return nccl::build_nvls_gather_program(execution, layout, heads);
}

/// 2 to 16 ranks, 1 to 8 of them a node, and some of 24, 32 and 64; over several nodes.
std::vector<RankLayout> layouts() {
  std::vector<RankLayout> all;
  for (int ranks_per_node = 1; ranks_per_node <= 8; ++ranks_per_node) {
    for (int nodes = 2; nodes * ranks_per_node <= 64; ++nodes) {
      const int ranks = nodes * ranks_per_node;
      if (ranks <= 16 || ranks == 24 || ranks == 32 || ranks == 64) {
        all.push_back({nodes, ranks_per_node});
      }
    }
  }
  return all;
}

/// One element; a short last loop, in which blocks are empty; more loops than slots.
std::vector<std::int64_t> counts(int heads, std::uint32_t channels) {
  const std::int64_t loop = chunk * heads * channels;
  return {1, 2 * loop + chunk + 5, 19 * loop + 3};
}

/// What each rank gives the fabric and has back from it, and what it sends inside its node.
struct Traffic {
  std::vector<Bytes> given;
  std::vector<Bytes> totals;
  std::vector<Bytes> inside;
};

Traffic traffic_of(const Program& program, std::uint32_t ranks_per_node) {
  const std::uint32_t ranks = program.call().ranks;
  Traffic traffic{std::vector<Bytes>(ranks), std::vector<Bytes>(ranks), std::vector<Bytes>(ranks)};
  for (std::uint32_t r = 0; r < ranks; ++r) {
    for (std::uint32_t lane = 0; lane < program.lane_count(Rank(r)); ++lane) {
      for (std::uint64_t index = 0; index < program.step_count(Rank(r), lane); ++index) {
        const Step step = program.step(Rank(r), lane, index);
        for (std::uint32_t i = 0; i < step.sends.count; ++i) {
          const std::uint32_t to =
              program.send_to(Rank(r), lane, step.sends.first + i).peer.value();
          if (to / ranks_per_node == r / ranks_per_node) {
            traffic.inside[r] += step.bytes;
          } else if (step.movement == Movement::Post) {
            traffic.given[r] += step.bytes;
          } else {
            traffic.totals[to] += step.bytes;
          }
        }
      }
    }
  }
  return traffic;
}

}  // namespace

TEST_CASE("CollNetDirect gives every rank the sum, whatever the layout and the size") {
  for (const RankLayout layout : layouts()) {
    for (const std::int64_t count : counts(layout.ranks_per_node, 2)) {
      for (const InPlace in_place : {InPlace::Yes, InPlace::No}) {
        CHECK(fault_of(*direct(layout, count, 2, layout.ranks_per_node, in_place)) == "");
      }
    }
  }
}

TEST_CASE("CollNetDirect's all-gather and reduce-scatter give every rank its data") {
  Sample sample(5);
  for (const CollectiveKind kind : {CollectiveKind::AllGather, CollectiveKind::ReduceScatter}) {
    for (const RankLayout layout : layouts()) {
      for (const std::int64_t count : counts(1, 2)) {
        for (const InPlace in_place : {InPlace::Yes, InPlace::No}) {
          if (sample.takes_next()) {
            CHECK(fault_of(*gather(kind, layout, count, 2, in_place)) == "");
          }
        }
      }
    }
  }
}

TEST_CASE("NVLS's all-gather and reduce-scatter over several nodes give every rank its data") {
  Sample sample(5);
  for (const CollectiveKind kind : {CollectiveKind::AllGather, CollectiveKind::ReduceScatter}) {
    for (const RankLayout layout : layouts()) {
      for (const std::int64_t count : counts(1, 2)) {
        for (const InPlace in_place : {InPlace::Yes, InPlace::No}) {
          if (sample.takes_next()) {
            CHECK(fault_of(*nvls_gather(kind, layout, count, 2, in_place)) == "");
          }
        }
      }
      CHECK(fault_of(*nvls_gather(kind, layout, 3 * chunk - 1, 5, InPlace::Yes, DataType::Int8)) ==
            "");
      CHECK(fault_of(*nvls_gather(kind, layout, 4 * chunk, 3, InPlace::No, DataType::Float64)) ==
            "");
    }
  }
}

// Each of 4 ranks of 5 nodes: b is its block, and a rail has 5 of them. The fabric brings it those of 4 others of its
// rail, and it writes all 5 to its node, which all 4 rails do; or it reads 5 from each rank of its node, its own sum
// goes to the fabric with those of the 4 others, and one comes back.
TEST_CASE("NVLS's all-gather over N nodes sends (N + 1) b and receives (n + N - 1) b, both ways") {
  const RankLayout layout{5, 4};
  const std::int64_t count = chunk * 2 * 3 + 5;
  const Bytes block(count * 4);
  const auto gather = nvls_gather(CollectiveKind::AllGather, layout, count, 2);
  const Traffic gathered = traffic_of(*gather, 4);
  CHECK(gathered.given == std::vector<Bytes>(20, 0_B));
  CHECK(gathered.totals == std::vector<Bytes>(20, block * 4));
  CHECK(multimem_traffic(*gather).up == std::vector<Bytes>(20, block * (5 + 1)));
  CHECK(multimem_traffic(*gather).down == std::vector<Bytes>(20, block * (20 + 4)));
  const auto scatter = nvls_gather(CollectiveKind::ReduceScatter, layout, count, 2);
  const Traffic scattered = traffic_of(*scatter, 4);
  CHECK(scattered.given == std::vector<Bytes>(20, block * 4));
  CHECK(scattered.totals == std::vector<Bytes>(20, 0_B));
  CHECK(multimem_traffic(*scatter).up == std::vector<Bytes>(20, block * (20 + 5)));
  CHECK(multimem_traffic(*scatter).down == std::vector<Bytes>(20, block * (5 + 1)));
}

TEST_CASE("NVLS's network lanes over several nodes have the windows of their rank's block alone") {
  // 3 blocks of 5 windows on 2 channels, 8 loops: channel 0 has windows 0 2 4, 6 8, 10 12 14, channel 1 the others, and
  // none in its last loop, which counts as the last node's.
  const std::int64_t count = 5 * chunk;
  const auto lengths = [](const Program& program, std::uint32_t lane) {
    std::vector<std::uint64_t> steps;
    for (const std::uint32_t rank : {0U, 2U, 4U}) {
      steps.push_back(program.step_count(Rank(rank), lane));
    }
    return steps;
  };
  // Lanes: gather, hand, broadcast, network; scatter, reduce, hand, network.
  for (const CollectiveKind kind : {CollectiveKind::AllGather, CollectiveKind::ReduceScatter}) {
    const auto program = nvls_gather(kind, {3, 2}, count, 2);
    CHECK(lengths(*program, 3) == std::vector<std::uint64_t>{3, 2, 3});
    CHECK(lengths(*program, 7) == std::vector<std::uint64_t>{2, 3, 3});
    CHECK(program->lane(Rank(0), 3).threads == 0);
    const Step step = program->step(Rank(2), 3, 0);
    CHECK(step.movement == Movement::Multimem);
    const bool gathers = kind == CollectiveKind::AllGather;
    CHECK(step.sends.count == (gathers ? 2 : 0));
    CHECK(step.receives.count == (gathers ? 0 : 2));
  }
}

TEST_CASE("A block of NVLS over several nodes divides its 20 warps by what heads do") {
  for (const CollectiveKind kind : {CollectiveKind::AllGather, CollectiveKind::ReduceScatter}) {
    const auto program = nvls_gather(kind, {2, 2}, 64, 1);
    std::uint32_t all = 0;
    for (std::uint32_t lane = 0; lane < 4; ++lane) {
      all += program->lane(Rank(0), lane).threads;
    }
    CHECK(all == 20 * 32);
    CHECK(program->lane(Rank(0), 0).threads == 8 * 32);
  }
}

TEST_CASE("NVLS's all-gather over several nodes refuses ranks that are no heads") {
  nccl::Execution execution = interleaved(nccl::Algorithm::Nvls, {2, 4}, 64, 1);
  execution.call.kind = CollectiveKind::AllGather;
  CHECK_THROWS_WITH(nccl::build_nvls_gather_program(execution, {2, 4}, first_ranks(3)),
                    "NVLS all_gather needs a channel that starts at each of the 4 GPUs; those of "
                    "the NVLS graph start at 3");
}

// Each of 4 ranks of 5 nodes: the fabric brings it what 4 counterparts have, or it gives what they are to have;
// inside its node it passes what all 5 nodes have to 3 others.
TEST_CASE("CollNetDirect's all-gather and reduce-scatter carry (N - 1) b each way of the fabric") {
  const RankLayout layout{5, 4};
  const std::int64_t count = chunk * 2 * 3;
  const Bytes block(count * 4);
  const Traffic gathered = traffic_of(*gather(CollectiveKind::AllGather, layout, count, 2), 4);
  CHECK(gathered.given == std::vector<Bytes>(20, 0_B));
  CHECK(gathered.totals == std::vector<Bytes>(20, block * 4));
  CHECK(gathered.inside == std::vector<Bytes>(20, block * (5 * 3)));
  const Traffic scattered = traffic_of(*gather(CollectiveKind::ReduceScatter, layout, count, 2), 4);
  CHECK(scattered.given == std::vector<Bytes>(20, block * 4));
  CHECK(scattered.totals == std::vector<Bytes>(20, 0_B));
  CHECK(scattered.inside == std::vector<Bytes>(20, block * (5 * 3)));
}

TEST_CASE("CollNetChain gives every rank the sum, whatever the layout and the size") {
  for (const RankLayout layout : layouts()) {
    for (const std::int64_t count : counts(1, 3)) {
      for (const InPlace in_place : {InPlace::Yes, InPlace::No}) {
        CHECK(fault_of(*chain(layout, count, 3, in_place)) == "");
      }
    }
  }
}

TEST_CASE("NVLS over several nodes gives every rank the sum, whatever the layout and the size") {
  for (const RankLayout layout : layouts()) {
    for (const std::int64_t count : counts(layout.ranks_per_node, 2)) {
      for (const InPlace in_place : {InPlace::Yes, InPlace::No}) {
        CHECK(fault_of(*nvls(layout, count, 2, layout.ranks_per_node, in_place)) == "");
      }
    }
  }
}

TEST_CASE("CollNet with fewer heads than ranks in a node") {
  const RankLayout layout{3, 4};
  for (const int heads : {1, 2, 3}) {
    for (const std::int64_t count : counts(heads, 2)) {
      CHECK(fault_of(*direct(layout, count, 2, heads)) == "");
      CHECK(fault_of(*nvls(layout, count, 2, heads)) == "");
    }
  }
}

TEST_CASE(
    "CollNet's heads give the network S / heads and have S / heads back, however many nodes") {
  for (const int nodes : {2, 5, 8}) {
    const RankLayout layout{nodes, 4};
    const std::int64_t count = chunk * 4 * 2 * 3;
    const Bytes share = Bytes(count * 4) / 4;
    for (const auto& program : {direct(layout, count, 2, 4), nvls(layout, count, 2, 4)}) {
      const Traffic traffic = traffic_of(*program, 4);
      // The first node's heads give and take within their rank, through the network's lane.
      for (std::uint32_t r = 0; r < program->call().ranks; ++r) {
        CHECK(traffic.given[r] == (r < 4 ? 0_B : share));
        CHECK(traffic.totals[r] == (r < 4 ? 0_B : share));
      }
    }
  }
}

TEST_CASE("Inside a node CollNetDirect sends S (n-1)/n twice, blocks to heads and totals back") {
  // Each of 4 ranks, all heads, sends 3 blocks of S / 4 to other heads, and its own total to 3 ranks.
  const RankLayout layout{2, 4};
  const std::int64_t count = chunk * 4 * 2 * 3;
  const Traffic traffic = traffic_of(*direct(layout, count, 2, 4), 4);
  CHECK(traffic.inside == std::vector<Bytes>(8, Bytes(count * 4) * 3 / 4 * 2));
}

TEST_CASE("CollNetChain's heads carry what their channels have, the chain S each way") {
  // Channels 0 and 1 begin at ranks 0 and 1 of two: each is head of one half of S, and is below the
  // other one's head for the other half. Up and down inside the node goes S / 2 a channel.
  const RankLayout layout{3, 2};
  const std::int64_t count = chunk * 2 * 6;
  const Bytes half = Bytes(count * 4) / 2;
  const Traffic traffic = traffic_of(*chain(layout, count, 2), 2);
  CHECK(traffic.given == std::vector<Bytes>{0_B, 0_B, half, half, half, half});
  CHECK(traffic.totals == std::vector<Bytes>{0_B, 0_B, half, half, half, half});
  // As head each sends totals down, as the one below it sends blocks up.
  CHECK(traffic.inside == std::vector<Bytes>(6, half * 2));
}

TEST_CASE("The network's lane of CollNet reduces for all nodes, and is no block's") {
  const RankLayout layout{4, 2};
  const auto program = direct(layout, chunk * 2 * 20, 1, 2);
  // Lanes: scatter, gather, reduce, broadcast, network.
  const Step step = program->step(Rank(0), 4, 9);
  CHECK(step.movement == Movement::Multimem);
  CHECK(step.receives == SlotRange{0, 3});
  CHECK(step.sends == SlotRange{0, 3});
  CHECK(program->receive_from(Rank(0), 4, 2) == Connection{Rank(6), 2, 0});
  CHECK(program->send_to(Rank(0), 4, 2) == Connection{Rank(6), 3, 0});
  CHECK(program->lane(Rank(0), 4).threads == 0);
  // 20 loops; only the first node's heads have it.
  CHECK(program->step_count(Rank(0), 4) == 20);
  CHECK(program->step_count(Rank(1), 4) == 20);
  CHECK(program->step_count(Rank(2), 4) == 0);
}

TEST_CASE("A block of CollNetDirect divides its 20 warps by what the rank does") {
  const auto threads = [](const Program& program, Rank rank) {
    std::vector<std::uint32_t> of_lanes;
    for (std::uint32_t lane = 0; lane < 4; ++lane) {
      of_lanes.push_back(program.lane(rank, lane).threads);
    }
    return of_lanes;
  };
  // Two warps of 20 only synchronise. A head among others: 3 warps a group, 9 reduce.
  const auto both = direct({2, 4}, 64, 1, 2);
  CHECK(threads(*both, Rank(0)) == std::vector<std::uint32_t>{96, 96, 288, 96});
  // No head: 9 warps scatter, 6 gather.
  CHECK(threads(*both, Rank(3)) == std::vector<std::uint32_t>{288, 192, 96, 0});
  // Alone in its node: 6 warps broadcast, 12 reduce.
  CHECK(threads(*direct({4, 1}, 64, 1, 1), Rank(0)) == std::vector<std::uint32_t>{0, 0, 384, 192});
}

TEST_CASE("A scatter of CollNetDirect begins with the head behind the rank") {
  const auto program = direct({2, 4}, 64, 1, 4);
  std::vector<std::uint32_t> heads;
  for (std::uint64_t index = 0; index < 3; ++index) {
    const Step step = program->step(Rank(2), 0, index);
    heads.push_back(step.sends.first);
    CHECK(step.continues == (index > 0));
  }
  CHECK(heads == std::vector<std::uint32_t>{3, 0, 1});
}
