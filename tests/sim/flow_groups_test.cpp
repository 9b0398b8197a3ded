// What the flow model keeps about groups of links: which hang together, and what flows got before.

#include "sim/flow_groups.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/known_shares.hpp"
#include "tests/catch.hpp"
#include "topology/error.hpp"

namespace collsim {
namespace {

std::vector<ResourceUse> hops(std::initializer_list<std::uint32_t> links) {
  std::vector<ResourceUse> result;
  for (const std::uint32_t link : links) {
    result.push_back({link, 1, 1});
  }
  return result;
}

TEST_CASE("routes join links, and their flows stay with them", "[flow_groups]") {
  FlowGroups groups(6);
  CHECK(groups.group_of(LinkId(0)) == nullptr);
  groups.join(hops({0, 1}));
  groups.join(hops({2}));
  groups.join(hops({4, 5, 3}));
  CHECK(groups.number_of(0) == groups.number_of(1));
  CHECK(groups.number_of(0) != groups.number_of(2));
  groups[groups.number_of(2)].add(flow_kind(7, {}), TransferId(70));
  groups[groups.number_of(4)].add(flow_kind(8, {}), TransferId(80));
  groups[groups.number_of(4)].searched = 3;

  groups.join(hops({1, 2}));
  CHECK(groups.number_of(0) == groups.number_of(2));
  CHECK(groups[groups.number_of(0)].transfers == std::vector{TransferId(70)});
  CHECK(groups[groups.number_of(0)].searched == 0);

  groups.join(hops({2, 3}));
  const FlowGroup& all = groups[groups.number_of(0)];
  for (std::uint32_t link = 1; link < 6; ++link) {
    CHECK(groups.number_of(link) == groups.number_of(0));
  }
  CHECK(all.links.size() == 6);
  CHECK(all.transfers.size() == 2);
  CHECK(all.searched == 3);
  CHECK(all.hash == flow_kind(7, {}).hash + flow_kind(8, {}).hash);
}

TEST_CASE("a group's flows stand in one order, however they came", "[flow_groups]") {
  TransferTerms capped;
  capped.cap = Bandwidth::from_units(5);
  const std::vector<std::pair<FlowKind, TransferId>> flows{{flow_kind(1, {}), TransferId(0)},
                                                           {flow_kind(2, {}), TransferId(1)},
                                                           {flow_kind(1, capped), TransferId(2)},
                                                           {flow_kind(1, {}), TransferId(3)}};
  FlowGroup forth;
  FlowGroup back;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    forth.add(flows[i].first, flows[i].second);
    back.add(flows[3 - i].first, flows[3 - i].second);
  }
  CHECK(forth.kinds == back.kinds);
  CHECK(forth.hash == back.hash);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    CHECK(forth.kinds[i] == flows[forth.transfers[i].index()].first);
  }
  forth.remove(TransferId(1));
  CHECK(forth.kinds.size() == 3);
  CHECK(forth.hash + flows[1].first.hash == back.hash);
  CHECK_THROWS_AS(forth.remove(TransferId(1)), InternalError);
}

TEST_CASE("shares are known again for the same flows only", "[flow_groups]") {
  KnownShares known(4);
  const std::array<FlowKind, 1> one{flow_kind(1, {})};
  const std::array<FlowKind, 1> other{flow_kind(2, {})};
  CHECK(known.find(one, 11).empty());
  known.add(one, 11)[0] = {Rate(3, 2), LinkId(9), true};
  REQUIRE(known.find(one, 11).size() == 1);
  CHECK(known.find(one, 11)[0].bottleneck == LinkId(9));
  // Two systems of one hash: the flows themselves decide, and the later one stays.
  CHECK(known.find(other, 11).empty());
  known.add(other, 11)[0] = {Rate(1, 1), LinkId(8), true};
  CHECK(known.find(one, 11).empty());
  CHECK(known.find(other, 11)[0].bottleneck == LinkId(8));
  known.forget();
  CHECK(known.find(other, 11).empty());
}

TEST_CASE("too much to remember is forgotten at once", "[flow_groups]") {
  KnownShares known(2);
  std::vector<std::array<FlowKind, 1>> systems;
  for (std::uint64_t route = 0; route < 3; ++route) {
    systems.push_back({flow_kind(route, {})});
    known.add(systems.back(), route)[0].rate = Rate(1, 1);
  }
  CHECK(known.find(systems[0], 0).empty());
  CHECK(known.find(systems[1], 1).empty());
  CHECK(known.find(systems[2], 2).size() == 1);
}

}  // namespace
}  // namespace collsim
