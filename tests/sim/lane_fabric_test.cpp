// Steps that the switches of a fabric reduce: what crosses each link, and when the total is there. Nodes of
// GPUs with NICs of 50 GB/s each way on one switch, so that a byte takes 20 ps.

#include "tests/catch.hpp"
#include "tests/sim/costly_programs.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

const Lane simple = lane_of(WireProtocol::Simple);

/// Lane 1 of rank 0 reduces what lane 0 of all others and the own input give, and gives it to lane 2 of all.
TableProgram reduction(std::uint32_t ranks, Bytes bytes) {
  TableProgram program = program_for(ranks);
  program.set_lanes(simple);
  Lane network = simple;
  network.threads = 0;
  program.set_lane(Rank(0), 1, network);
  for (std::uint32_t other = 1; other < ranks; ++other) {
    const auto given = program.connect({Rank(other), 0}, {Rank(0), 1});
    program.add(Rank(other), 0,
                step(bytes).moves(Movement::Post).from(input(0_B)).send(given.send));
    const auto total = program.connect({Rank(0), 1}, {Rank(other), 2});
    program.add(Rank(other), 2, step(bytes).receive(total.receive).to(output(0_B)));
  }
  program.add(Rank(0), 1,
              step(bytes)
                  .moves(Movement::Multimem)
                  .from(input(0_B))
                  .to(output(0_B))
                  .receive(0, ranks - 1)
                  .send(0, ranks - 1));
  return program;
}

/// One GPU of each node.
std::shared_ptr<const Communicator> first_gpus(const Cluster& cluster, std::uint32_t nodes) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    numbers.push_back(node * 8);
  }
  return gpus(cluster, numbers);
}

}  // namespace

TEST_CASE("a reduction in the fabric crosses each link of its tree once up and once down") {
  const CostParameters free;
  for (const std::uint32_t nodes : {2U, 3U, 4U}) {
    const Cluster cluster(dgx(nodes));
    const auto communicator = first_gpus(cluster, nodes);
    const RunResult result =
        run(cluster, {collective(reduction(nodes, 100'000_B), communicator)}, paying(free));
    std::size_t used = 0;
    for (const LinkUse& use : result.links) {
      const auto bytes = static_cast<std::int64_t>(whole_bytes(use));
      CHECK((bytes == 0 || bytes == 100'000));
      used += bytes != 0 ? 1 : 0;
    }
    // From each GPU to its NIC and from there to the switch, and back.
    const std::size_t hops =
        cluster.router().route((*communicator)[1], (*communicator)[0]).hops.size();
    CHECK(used == nodes * hops);
    CHECK(result.transfers == 1);
  }
}

TEST_CASE(
    "the total of a reduction in the fabric is there after wire, latency, hand-off and reduction") {
  const CostParameters costs = costs_with({{CostItem::NetworkMessage, us(3)},
                                           {CostItem::SimpleHandoffNetwork, us(9)},
                                           {CostItem::NetworkReduction, us(19)}});
  const Cluster cluster(dgx(4));
  const auto communicator = first_gpus(cluster, 4);
  const RunResult result =
      run(cluster, {collective(reduction(4, 100'000_B), communicator)}, paying(costs));
  const Duration on_the_way =
      cluster.router().route((*communicator)[0], (*communicator)[1]).latency;
  // The proxies of the others work at the same time; 100,000 bytes take 2 us. What is posted does not travel.
  CHECK(result.operations[0].time_of_rank[0] == us(3) + us(2));
  CHECK(result.time == us(3) + us(2) + on_the_way + us(9) + us(19));
  CHECK(part_of(result, CostItem::NetworkMessage) == us(3));
  CHECK(part_of(result, CostItem::NetworkReduction) == us(19));
  CHECK(part_of(result, CostItem::SimpleHandoffNetwork) == us(9));
  CHECK(part_of(result, Cause::Wire) == us(2));
  check_explained(result);
}

TEST_CASE("a reduction in the fabric without costs takes its wire and latency") {
  const Cluster cluster(dgx(3));
  const auto communicator = first_gpus(cluster, 3);
  const RunResult result = run(cluster, {collective(reduction(3, 100'000_B), communicator)});
  CHECK(result.time ==
        us(2) + cluster.router().route((*communicator)[0], (*communicator)[1]).latency);
}

TEST_CASE("over several tiers of switches a reduction has one tree, with static routing only") {
  // A node a leaf, as many spines as NICs: each route to rank 0 goes over the same spine, of 8.
  const Cluster cluster(dgx_leaf_spine(3, 16, 1, RoutingKind::Fixed));
  const auto communicator = first_gpus(cluster, 3);
  const CostParameters free;
  const RunResult result =
      run(cluster, {collective(reduction(3, 100'000_B), communicator)}, paying(free));
  for (const LinkUse& use : result.links) {
    const auto bytes = static_cast<std::int64_t>(whole_bytes(use));
    CHECK((bytes == 0 || bytes == 100'000));
  }
  const Cluster sprayed(dgx_leaf_spine(3, 16, 1, RoutingKind::Spray));
  try {
    static_cast<void>(run(sprayed, {collective(reduction(3, 1'000_B), first_gpus(sprayed, 3))}));
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(error.message() ==
          "a reduction in the network takes one tree, and the routes to node0.gpu0 fork");
  }
}
