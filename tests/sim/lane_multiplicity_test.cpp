// A lane of multiplicity m is the same as m equal lanes, to the picosecond and to the byte.

#include <rapidcheck.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/sim/costly_programs.hpp"
#include "tests/sim/unfolded.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

Cluster any_machine() {
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      return Cluster(star(4));
    case 1:
      return Cluster(mesh(4));
    default:
      return Cluster(dgx(2));
  }
}

/// Times up to 4 us, rates of 5 to 60 GB/s or none, shares from a half on.
CostParameters any_costs() {
  CostParameters costs;
  for (const CostDefinition& definition : cost_definitions()) {
    std::int64_t units = 0;
    switch (definition.unit) {
      case CostUnit::Picoseconds:
        units = *rc::gen::inRange<std::int64_t>(0, 4'000'000);
        break;
      case CostUnit::RateUnits:
        units = *rc::gen::element<std::int64_t>(0, 5, 21, 60) * 1'000'000'000 * 1024;
        break;
      case CostUnit::Millionths:
        units = *rc::gen::inRange<std::int64_t>(500'000, 1'000'001);
        break;
      case CostUnit::Bytes:
        units = *rc::gen::inRange<std::int64_t>(0, 100'000);
        break;
    }
    costs.set(definition.item, {units, CostSource::Estimate});
  }
  return costs;
}

Lane any_lane() {
  Lane lane;
  lane.protocol = *rc::gen::element(WireProtocol::None, WireProtocol::Simple, WireProtocol::LL,
                                    WireProtocol::LL128);
  lane.threads = *rc::gen::element(96U, 256U, 512U);
  if (lane.protocol != WireProtocol::None) {
    // A step gives its message's credit back at its end, so a ring needs two slots.
    lane.fifo_depth = *rc::gen::inRange(2U, 5U);
  }
  lane.multiplicity = *rc::gen::inRange(1U, 5U);
  return lane;
}

/// Some rings side by side, each of lanes of its own sort. All belong to channel 0.
TableProgram any_rings(std::uint32_t ranks) {
  TableProgram program = program_for(ranks);
  const auto rings = *rc::gen::inRange(1U, 4U);
  for (std::uint32_t ring = 0; ring < rings; ++ring) {
    program.set_lanes(any_lane());
    const Bytes bytes(*rc::gen::inRange<std::int64_t>(0, 300'000));
    const auto hops = *rc::gen::inRange(1, 5);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      program.connect({Rank(rank), ring}, {Rank((rank + 1) % ranks), ring});
      program.add(Rank(rank), ring, step(bytes).from(input(0_B)).send(0));
      for (int hop = 1; hop < hops; ++hop) {
        program.add(Rank(rank), ring, step(bytes).receive(0).to(output(0_B)).send(0));
      }
      program.add(Rank(rank), ring, step(bytes).receive(0).with(input(0_B)).to(output(0_B)));
    }
  }
  return program;
}

/// Lanes that post to rank 0, which reduces through a switch and writes to all.
TableProgram any_switch_program(std::uint32_t ranks) {
  TableProgram program = program_for(ranks);
  const auto groups = *rc::gen::inRange(1U, 3U);
  for (std::uint32_t group = 0; group < groups; ++group) {
    Lane lane = lane_of(WireProtocol::Simple, Kernel::Multicast);
    lane.multiplicity = *rc::gen::inRange(1U, 5U);
    program.set_lanes(lane);
    const Bytes bytes(*rc::gen::inRange<std::int64_t>(1, 300'000));
    const auto loops = *rc::gen::inRange(1, 4);
    for (std::uint32_t other = 1; other < ranks; ++other) {
      program.connect({Rank(other), 2 * group}, {Rank(0), 2 * group});
      program.connect({Rank(0), 2 * group}, {Rank(other), 2 * group + 1});
    }
    for (int loop = 0; loop < loops; ++loop) {
      program.add(Rank(0), 2 * group,
                  step(bytes)
                      .moves(Movement::Multimem)
                      .receive(0, ranks - 1)
                      .from(input(0_B))
                      .to(output(0_B))
                      .send(0, ranks - 1));
      for (std::uint32_t other = 1; other < ranks; ++other) {
        program.add(Rank(other), 2 * group,
                    step(bytes).moves(Movement::Post).from(input(0_B)).to(scratch(0_B)).send(0));
        program.add(Rank(other), 2 * group + 1, step(bytes).receive(0).to(output(0_B)));
      }
    }
  }
  return program;
}

void check_unfolded(const Cluster& cluster, TableProgram program,
                    const std::shared_ptr<const Communicator>& communicator,
                    const RunOptions& options) {
  const auto folded = std::make_shared<const TableProgram>(std::move(program));
  const auto unfolded = std::make_shared<const Unfolded>(folded);
  const RunResult once = run(cluster, {Collective{folded, communicator}}, options);
  const RunResult all = run(cluster, {Collective{unfolded, communicator}}, options);
  RC_ASSERT(once.operations[0].time_of_rank == all.operations[0].time_of_rank);
  for (std::size_t link = 0; link < once.links.size(); ++link) {
    RC_ASSERT(once.links[link].fine_bytes == all.links[link].fine_bytes);
    RC_ASSERT(once.links[link].busy == all.links[link].busy);
    RC_ASSERT(once.links[link].peak_flows == all.links[link].peak_flows);
  }
}

}  // namespace

TEST_CASE("a lane of multiplicity m is the same as m equal lanes") {
  CHECK(rc::check("rings", [] {
    const Cluster cluster = any_machine();
    const CostParameters costs = any_costs();
    const std::vector<std::uint32_t> ranks = cluster.graph().nodes() == 1
                                                 ? std::vector<std::uint32_t>{0, 1, 2, 3}
                                                 : std::vector<std::uint32_t>{0, 1, 8, 9};
    check_unfolded(cluster, any_rings(4), gpus(cluster, ranks), paying(costs));
  }));
}

TEST_CASE("a lane of multiplicity m that goes through a switch is the same as m equal lanes") {
  CHECK(rc::check("switch", [] {
    const Cluster cluster(star(4));
    const CostParameters costs = any_costs();
    check_unfolded(cluster, any_switch_program(4), gpus(cluster), paying(costs));
  }));
}
