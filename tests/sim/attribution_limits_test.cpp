// An attribution to limits says by how much a parameter changes the time: checked against runs with the
// parameter changed, where lanes wait for credit of messages over the network.

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "tests/sim/costly_programs.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

/// Lane k of rank 0, on one node, sends to lane k of rank 1, on another, through 4 slots.
TableProgram pipelines(std::uint32_t lanes, int messages, Bytes bytes) {
  TableProgram program = program_for(2);
  Lane lane = lane_of(WireProtocol::Simple);
  lane.fifo_depth = 4;
  program.set_lanes(lane);
  for (std::uint32_t number = 0; number < lanes; ++number) {
    const auto slot = program.connect({Rank(0), number}, {Rank(1), number});
    for (int i = 0; i < messages; ++i) {
      program.add(Rank(0), number, step(bytes).from(input(0_B)).send(slot.send));
      program.add(Rank(1), number, step(bytes).receive(slot.receive).to(output(0_B)));
    }
  }
  return program;
}

constexpr std::uint32_t lanes = 3;
constexpr int messages = 200;

RunResult run_with(const CostParameters& costs) {
  static const Cluster cluster(dgx(2));
  RunOptions options = paying(costs);
  options.attribute = AttributeTo::Limits;
  return run(cluster, {collective(pipelines(lanes, messages, 100'000_B), gpus(cluster, {0, 8}))},
             options);
}

/// What is slow decides; the rest is a tenth of it or less. 100,000 bytes are 2 us on the wire.
CostParameters slow_at(CostItem slow) {
  using enum CostItem;
  CostParameters costs = costs_with({{NetworkMessage, ns(300)},
                                     {SimpleHandoffNetwork, ns(900)},
                                     {SimpleSliceCopy, ns(200)},
                                     {SimpleSliceReduce, ns(200)}});
  set_rate(costs, SimpleChannelRate, 200_GBps);
  set_rate(costs, SimpleLocalRate, 200_GBps);
  switch (slow) {
    case SimpleChannelRate:
    case SimpleLocalRate:
      set_rate(costs, slow, 2_GBps);
      break;
    case ShareNetwork:
      set_share(costs, slow, 200'000);
      break;
    default:
      costs.set(slow, {us(60).count(), CostSource::Estimate});
      break;
  }
  return costs;
}

/// The time that the parameter decides: its own items, or the bytes on the links whose rate it is.
Duration part_of_limit(const RunResult& result, CostItem item) {
  return item == CostItem::ShareNetwork
             ? part_of(result, Cause::Wire) + part_of(result, Cause::Sharing)
             : part_of(result, item);
}

}  // namespace

TEST_CASE("the parts of limits are the derivatives, with every slot full") {
  using enum CostItem;
  for (const CostItem item : {NetworkMessage, SimpleHandoffNetwork, SimpleSliceCopy,
                              SimpleChannelRate, SimpleLocalRate, ShareNetwork}) {
    CAPTURE(name_of(item));
    const CostParameters costs = slow_at(item);
    const RunResult before = run_with(costs);
    // A percent more time: of a rate or a share, 1/1.01 of it.
    const bool is_time = definition_of(item).unit == CostUnit::Picoseconds;
    CostValue value = costs.value(item);
    value.units = is_time ? value.units + value.units / 100 : value.units * 100 / 101;
    CostParameters changed = costs;
    changed.set(item, value);
    const auto change = static_cast<double>((run_with(changed).time - before.time).count());
    const auto predicted = 0.01 * static_cast<double>(part_of_limit(before, item).count());
    // The slow one is most of the time. Of what several lanes share, each lane's path also has its own
    // copies and hand-offs, which the others use: a few percent.
    CHECK(predicted > 0.008 * static_cast<double>(before.time.count()));
    CHECK(std::abs(change - predicted) < 0.05 * predicted);
  }
}

TEST_CASE("limits know no waiting for credit, and their parts are the whole") {
  using enum CostItem;
  for (const CostItem item : {NetworkMessage, SimpleHandoffNetwork, SimpleLocalRate}) {
    CAPTURE(name_of(item));
    const RunResult result = run_with(slow_at(item));
    CHECK(part_of(result, Cause::CreditWait) == Duration{});
    check_explained(result);
  }
}
