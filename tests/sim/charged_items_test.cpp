#include "sim/charged_items.hpp"

#include <array>
#include <cstdint>

#include "tests/catch.hpp"
#include "tests/sim/cost_sets.hpp"

using namespace collsim;
using namespace collsim::test;

namespace {

constexpr std::array protocols{WireProtocol::Simple, WireProtocol::LL, WireProtocol::LL128};
constexpr std::array kernels{Kernel::Collective, Kernel::SendRecv,           Kernel::Multicast,
                             Kernel::Symmetric,  Kernel::SymmetricMulticast, Kernel::CopyEngine};

/// Every item costs something.
CostParameters all_items() {
  CostParameters costs;
  for (std::size_t item = 0; item < cost_items; ++item) {
    costs.set(static_cast<CostItem>(item), {1'000, CostSource::Estimate});
  }
  return costs;
}

bool has(const CostItemSet& set, CostItem item) { return set.test(static_cast<std::size_t>(item)); }

/// Whether the items of every step of such lanes are in the set.
bool covers_steps(const CostItemSet& set, const CostParameters& costs, const LaneWork& work) {
  bool all = true;
  for (auto primitive = static_cast<std::uint8_t>(Primitive::Send);
       primitive <= static_cast<std::uint8_t>(Primitive::ReceiveReduceCopySend); ++primitive) {
    for (const Movement movement : {Movement::Route, Movement::Post, Movement::Multimem}) {
      for (const bool flag : {false, true}) {
        StepWork step;
        step.primitive = static_cast<Primitive>(primitive);
        step.movement = movement;
        step.continues = flag;
        step.received = 7;
        step.to_scratch = flag;
        step.bytes = Bytes(100'000);
        const StepCost cost = step_cost(costs, work, step);
        for (const CostPart& part : {cost.held, cost.work}) {
          all = all && (part.time == Duration{} || has(set, part.item));
        }
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("whatever a step or a message costs has a place in the attribution", "[charged_items]") {
  const CostParameters costs = all_items();
  for (const WireProtocol protocol : protocols) {
    for (const Kernel kernel : kernels) {
      CAPTURE(name_of(protocol), static_cast<int>(kernel));
      const CostItemSet set = detail::charged_items(protocol, kernel);
      for (const bool narrow : {false, true}) {
        LaneWork work;
        work.protocol = protocol;
        work.kernel = kernel;
        work.threads = 512;
        work.channels = 2;
        work.narrow = narrow;
        CHECK(covers_steps(set, costs, work));
        for (const PathKind path : {PathKind::Nvlink, PathKind::Pcie, PathKind::Network}) {
          CHECK(has(set, message_cost(costs, work, path).item));
        }
      }
    }
  }
}

TEST_CASE("lanes without a protocol charge nothing, and few items any others", "[charged_items]") {
  CHECK(detail::charged_items(WireProtocol::None, Kernel::Collective).none());
  const CostItemSet rings = detail::charged_items(WireProtocol::LL, Kernel::Collective);
  CHECK(has(rings, CostItem::LLHopNvlink));
  CHECK_FALSE(has(rings, CostItem::LL128GpuRate));
  CHECK_FALSE(has(rings, CostItem::ShareNvlink));
}

TEST_CASE("an attribution keeps places for the items it is asked for", "[charged_items]") {
  CostItemSet items;
  items.set(static_cast<std::size_t>(CostItem::LLStart));
  items.set(static_cast<std::size_t>(CostItem::NetworkMessage));
  const AttributionLayout layout(2, items);
  // Compute and waiting for credit, three kinds for each of two levels, and two items.
  REQUIRE(layout.size() == 2 + 3 * 2 + 2);
  CHECK(layout.cost(CostItem::LLStart) != layout.cost(CostItem::NetworkMessage));
  CHECK_THROWS_AS(layout.cost(CostItem::LLHopPcie), InternalError);
  std::array<std::int64_t, 10> vector{};
  vector.at(layout.cost(CostItem::NetworkMessage)) = 7;
  const auto parts = layout.parts(vector.data());
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].parameter == CostItem::NetworkMessage);
  CHECK(parts[0].time == Duration(7));
}
