#include "sim/costs.hpp"

#include <set>
#include <string>

#include "tests/catch.hpp"
#include "tests/sim/cost_sets.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("every parameter has a place and a name of its own") {
  std::set<std::string> names;
  REQUIRE(cost_definitions().size() == cost_items);
  for (std::size_t i = 0; i < cost_items; ++i) {
    const auto item = static_cast<CostItem>(i);
    CHECK(definition_of(item).item == item);
    CHECK_FALSE(definition_of(item).meaning.empty());
    CHECK(names.insert(name_of(item)).second);
  }
  CHECK(names.contains("simple.channel_rate"));
}

TEST_CASE("a new set is free: no times, no limits, whole shares") {
  const CostParameters costs;
  // Shares that are none of a rate.
  const std::set<CostItem> of_no_rate{CostItem::SimpleUnevenness, CostItem::SimpleNarrowSaving,
                                      CostItem::HostLoss};
  for (const CostDefinition& definition : cost_definitions()) {
    INFO(name_of(definition.item));
    if (of_no_rate.contains(definition.item)) {
      CHECK(costs.share(definition.item) == 0);
      continue;
    }
    switch (definition.unit) {
      case CostUnit::Picoseconds:
        CHECK(costs.time(definition.item) == Duration{});
        break;
      case CostUnit::RateUnits:
        CHECK_FALSE(costs.rate(definition.item).has_value());
        break;
      case CostUnit::Millionths:
        CHECK(costs.share(definition.item) == 1'000'000);
        break;
      case CostUnit::Bytes:
        CHECK(costs.bytes(definition.item) == 0_B);
        break;
    }
  }
}

TEST_CASE("a value is read as it was set, with its source") {
  CostParameters costs = costs_with({{CostItem::LLHopNvlink, ns(590)}});
  set_rate(costs, CostItem::SimpleChannelRate, 34_GBps);
  set_share(costs, CostItem::ShareNvlink, 842'000);
  CHECK(costs.time(CostItem::LLHopNvlink) == ns(590));
  CHECK(costs.rate(CostItem::SimpleChannelRate) == 34_GBps);
  CHECK(costs.share(CostItem::ShareNvlink) == 842'000);
  costs.set(CostItem::LLHopNvlink, {1, CostSource::Fitted});
  CHECK(costs.value(CostItem::LLHopNvlink).source == CostSource::Fitted);
}

TEST_CASE("values outside their range are a mistake of the caller") {
  CostParameters costs;
  for (const auto& [item, units] : {std::pair{CostItem::LLHopNvlink, std::int64_t{-1}},
                                    std::pair{CostItem::SimpleLocalRate, std::int64_t{-1}},
                                    std::pair{CostItem::SimpleUnevenness, std::int64_t{-1}},
                                    std::pair{CostItem::SimpleUnevenness, std::int64_t{1'000'001}},
                                    std::pair{CostItem::ShareNvlink, std::int64_t{0}},
                                    std::pair{CostItem::ShareNvlink, std::int64_t{1'000'001}}}) {
    INFO(name_of(item) << " " << units);
    CHECK_THROWS_WITH(costs.set(item, {units, CostSource::Estimate}),
                      ContainsSubstring(name_of(item) + " is out of range"));
  }
}

TEST_CASE("what a fabric says is laid over a set, which keeps the rest") {
  CostParameters costs =
      costs_with({{CostItem::LLHopNvlink, ns(590)}, {CostItem::LLHopNetwork, us(2)}});
  costs.name = "own";
  costs.set(CostItem::NetworkMessage, {us(1).count(), CostSource::Estimate});
  NetworkCosts network;
  network.name = "net-x";
  network.items = {{CostItem::LLHopNetwork, {us(7).count(), CostSource::Fitted}},
                   {CostItem::NetworkEager, {4096, CostSource::Literature}}};
  costs.lay_over(network);
  CHECK(costs.name == "own+net-x");
  CHECK(costs.time(CostItem::LLHopNetwork) == us(7));
  CHECK(costs.value(CostItem::LLHopNetwork).source == CostSource::Fitted);
  CHECK(costs.bytes(CostItem::NetworkEager) == 4096_B);
  CHECK(costs.time(CostItem::NetworkMessage) == us(1));
  CHECK(costs.time(CostItem::LLHopNvlink) == ns(590));

  network.items = {{CostItem::LLHopNvlink, {0, CostSource::Fitted}}};
  CHECK_THROWS_WITH(costs.lay_over(network),
                    ContainsSubstring("ll.hop_nvlink is not of the network"));
}
