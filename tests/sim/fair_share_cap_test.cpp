// Flows that cannot do more than their senders can: FairShareFlow::cap.

#include <rapidcheck.h>

#include <array>
#include <compare>
#include <cstdint>
#include <vector>

#include "sim/fair_share.hpp"
#include "tests/catch.hpp"
#include "tests/sim/fair_share_system.hpp"

namespace collsim {
namespace {

using test::Flow;
using test::on;
using test::solve;

/// Stands for the bottleneck of a flow that its cap froze.
constexpr std::uint32_t by_cap = 1000;

struct Expected {
  Rate rate;
  std::uint32_t bottleneck;
};

/// Rates as fractions; bottlenecks, where numbers behind the resources' mean caps.
void check(const std::vector<std::int64_t>& capacities, const std::vector<Flow>& flows,
           const std::vector<Expected>& expected) {
  const std::vector<FairShare> shares = solve(capacities, flows);
  REQUIRE(shares.size() == expected.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    CAPTURE(i, shares[i].rate.numerator, shares[i].rate.denominator);
    CHECK(compare(shares[i].rate, expected[i].rate) == std::strong_ordering::equal);
    CHECK((shares[i].bottleneck < capacities.size() ? shares[i].bottleneck : by_cap) ==
          expected[i].bottleneck);
  }
}

TEST_CASE("a capped flow leaves to the others what it cannot use", "[fair_share]") {
  // 100 for three would be 33 1/3 each; one stops at 20, so the other two have (100 - 20) / 2.
  check({100}, {{{on(0)}, 1, 1, 20}, {{on(0)}}, {{on(0)}}},
        {{{20, 1}, by_cap}, {{40, 1}, 0}, {{40, 1}, 0}});
  // Two caps: 10 first, then (100 - 10) / 2 = 45 is more than 30, then 100 - 10 - 30.
  check({100}, {{{on(0)}, 1, 1, 30}, {{on(0)}}, {{on(0)}, 1, 1, 10}},
        {{{30, 1}, by_cap}, {{60, 1}, 0}, {{10, 1}, by_cap}});
}

TEST_CASE("shares beside a capped flow stay exact fractions", "[fair_share]") {
  // (100 - 1) / 7 = 99/7 each.
  std::vector<Flow> flows(7, Flow{{on(0)}});
  flows.push_back({{on(0)}, 1, 1, 1});
  std::vector<Expected> expected(7, Expected{{99, 7}, 0});
  expected.push_back({{1, 1}, by_cap});
  check({100}, flows, expected);
}

TEST_CASE("each flow of a multiplicity has the cap for itself", "[fair_share]") {
  // Three flows of 10 each take 30 of 100.
  check({100}, {{{on(0)}, 1, 3, 10}, {{on(0)}}}, {{{10, 1}, by_cap}, {{70, 1}, 0}});
  // Of 100 / 4 = 25 a cap of 26 means nothing.
  check({100}, {{{on(0)}, 1, 3, 26}, {{on(0)}}}, {{{25, 1}, 0}, {{25, 1}, 0}});
}

TEST_CASE("a cap is of the flow's rate, whatever its weight and its takes", "[fair_share]") {
  // Weight 4 of 5 would be 80; the cap of 30 is its rate, not 30 a unit of weight.
  check({100}, {{{on(0)}, 4, 1, 30}, {{on(0)}}}, {{{30, 1}, by_cap}, {{70, 1}, 0}});
  // At a rate of 30 it takes 16/15 of that, 32, of the resource.
  check({100}, {{{on(0, 16, 15)}, 1, 1, 30}, {{on(0)}}}, {{{30, 1}, by_cap}, {{68, 1}, 0}});
}

TEST_CASE("where all flows are capped, the resource is not used up", "[fair_share]") {
  check({100}, {{{on(0)}, 1, 1, 10}, {{on(0)}, 1, 2, 20}}, {{{10, 1}, by_cap}, {{20, 1}, by_cap}});
}

TEST_CASE("a cap that equals the share is not the bottleneck", "[fair_share]") {
  check({100}, {{{on(0)}, 1, 1, 50}, {{on(0)}}}, {{{50, 1}, 0}, {{50, 1}, 0}});
  check({100}, {{{on(0)}, 1, 1, 100}}, {{{100, 1}, 0}});
}

TEST_CASE("a cap holds its flow back on every resource that it crosses", "[fair_share]") {
  // A stops at 20 on both; B has 100 - 20, C 60 - 20.
  check({100, 60}, {{{on(0), on(1)}, 1, 1, 20}, {{on(0)}}, {{on(1)}}},
        {{{20, 1}, by_cap}, {{80, 1}, 0}, {{40, 1}, 1}});
}

struct Capped {
  std::vector<std::int64_t> capacities;
  std::vector<Flow> flows;
};

Capped any_system() {
  Capped system;
  const auto resources = *rc::gen::inRange<std::uint32_t>(1, 5);
  for (std::uint32_t r = 0; r < resources; ++r) {
    system.capacities.push_back(*rc::gen::inRange<std::int64_t>(1, 400));
  }
  const auto flows = *rc::gen::inRange<std::uint32_t>(1, 7);
  for (std::uint32_t f = 0; f < flows; ++f) {
    Flow flow;
    for (std::uint32_t r = 0; r < resources; ++r) {
      if (*rc::gen::inRange(0, 2) == 0) {
        const auto kind = *rc::gen::element(std::array{1U, 1U}, std::array{2U, 1U},
                                            std::array{16U, 15U}, std::array{1U, 3U});
        flow.uses.push_back(on(r, kind[0], kind[1]));
      }
    }
    if (flow.uses.empty()) {
      flow.uses.push_back(on(0));
    }
    flow.weight = *rc::gen::inRange<std::uint32_t>(1, 4);
    flow.multiplicity = *rc::gen::inRange<std::uint32_t>(1, 5);
    flow.cap = *rc::gen::inRange<std::int64_t>(0, 100);
    system.flows.push_back(flow);
  }
  return system;
}

/// Caps as resources of their own behind the others, which nobody else uses.
Capped with_private_resources(Capped system) {
  for (Flow& flow : system.flows) {
    if (flow.cap != 0) {
      flow.uses.push_back(on(static_cast<std::uint32_t>(system.capacities.size())));
      system.capacities.push_back(flow.cap * flow.multiplicity);
      flow.cap = 0;
    }
  }
  return system;
}

TEST_CASE("a cap is the same as a resource of the flow's own", "[fair_share]") {
  CHECK(rc::check("cap = private resource", [] {
    const Capped capped = any_system();
    const Capped apart = with_private_resources(capped);
    const std::vector<FairShare> shares = solve(capped.capacities, capped.flows);
    const std::vector<FairShare> expected = solve(apart.capacities, apart.flows);
    for (std::size_t f = 0; f < shares.size(); ++f) {
      RC_ASSERT(compare(shares[f].rate, expected[f].rate) == std::strong_ordering::equal);
      RC_ASSERT(shares[f].bottleneck == expected[f].bottleneck);
    }
  }));
}

}  // namespace
}  // namespace collsim
