#include "sim/ideal_network.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/catch.hpp"
#include "tests/sim/network_run.hpp"
#include "topology/error.hpp"

namespace collsim {
namespace {

using namespace literals;
using test::bytes_per_picosecond;
using test::NetworkRun;
using test::route_over;

TEST_CASE("an ideal transfer takes its bytes over the narrowest link", "[ideal_network]") {
  NetworkRun run(NetworkModel::Ideal,
                 {bytes_per_picosecond(4), bytes_per_picosecond(2), bytes_per_picosecond(8)});
  const auto narrow = run.transfer(0, route_over({0, 1, 2}), 1000_B);
  const auto odd = run.transfer(1000, route_over({0}), 1001_B);
  run.run();
  CHECK(run.departure(narrow) == 500);      // 1000 / 2
  CHECK(run.departure(odd) == 1000 + 251);  // 1001 / 4, rounded up
  CHECK(run.wire(odd) == 251);
  CHECK(run.left(narrow).departure.elapsed == 500_ps);
  CHECK(run.left(narrow).departure.bottleneck == LinkId(1));
  CHECK_FALSE(run.network().contention_ignored());
  CHECK(run.network().transfers_under_way() == 0);
}

TEST_CASE("ideal transfers do not share, and the result says so", "[ideal_network]") {
  NetworkRun run(NetworkModel::Ideal, {bytes_per_picosecond(1), bytes_per_picosecond(1)});
  const auto first = run.transfer(0, route_over({0}), 1000_B);
  const auto second = run.transfer(999, route_over({1, 0}), 1000_B);
  run.run();
  CHECK(run.departure(first) == 1000);
  CHECK(run.departure(second) == 1999);
  CHECK(run.network().contention_ignored());
  CHECK(run.use(0).busy == 1999_ps);  // 0 to 1999, once
  CHECK(run.use(0).peak_flows == 2);
  CHECK(run.use(1).peak_flows == 1);
}

TEST_CASE("ends that touch do not overlap, in whatever order they are handled", "[ideal_network]") {
  NetworkRun run(NetworkModel::Ideal, {bytes_per_picosecond(1)});
  // The script's starts are handled after departures of the same instant (EventPhase::Step comes
  // after departure); a transfer started while another one's departure is pending in the same
  // instant is the other order.
  const auto first = run.transfer(0, route_over({0}), 1000_B);
  const auto second = run.transfer(1000, route_over({0}), 500_B);
  run.run();
  CHECK(run.departure(first) == 1000);
  CHECK(run.departure(second) == 1500);
  CHECK_FALSE(run.network().contention_ignored());
  CHECK(run.use(0).busy == 1500_ps);
  CHECK(run.use(0).peak_flows == 1);
}

TEST_CASE("a start before a departure of the same instant is no overlap", "[ideal_network]") {
  const Graph graph = test::parallel_links({bytes_per_picosecond(1)});
  EventQueue queue;
  IdealNetwork network(graph, queue);
  const PathId path = network.open(route_over({0}));
  network.start(path, 1000_B, 0, {});
  network.settle();
  const Event departure = queue.pop();
  network.start(path, 1000_B, 1, {});
  REQUIRE(network.depart(departure));
  network.settle();
  REQUIRE(network.depart(queue.pop()));
  CHECK_FALSE(network.contention_ignored());
  CHECK(network.link_use()[0].peak_flows == 1);
  CHECK(network.link_use()[0].busy == 2000_ps);
}

TEST_CASE("0 bytes leave at once and touch no link", "[ideal_network]") {
  NetworkRun run(NetworkModel::Ideal, {bytes_per_picosecond(1)});
  run.transfer(0, route_over({0}), 1000_B);
  const auto empty = run.transfer(500, route_over({0}), 0_B);
  run.run();
  CHECK(run.departure(empty) == 500);
  CHECK(run.wire(empty) == 0);
  CHECK(run.use(0).peak_flows == 1);
  CHECK_FALSE(run.network().contention_ignored());
}

TEST_CASE("an ideal transfer goes on at the new rate when a capacity changes", "[ideal_network]") {
  NetworkRun run(NetworkModel::Ideal, {bytes_per_picosecond(1), bytes_per_picosecond(4)});
  const auto slowed = run.transfer(0, route_over({0, 1}), 1000_B);
  run.capacity(400, 0, bytes_per_picosecond(1, 2));
  run.capacity(500, 1, bytes_per_picosecond(2));  // not the narrowest: no effect
  run.run();
  // 400 B in 400 ps, 600 B at 1/2 B/ps in 1200 ps.
  CHECK(run.departure(slowed) == 1600);
  CHECK(run.wire(slowed) == 1600);
  CHECK(run.stale_events() == 1);
}

TEST_CASE("what crosses a link is counted exactly", "[ideal_network]") {
  NetworkRun run(NetworkModel::Ideal, {bytes_per_picosecond(8), bytes_per_picosecond(1),
                                       bytes_per_picosecond(1), bytes_per_picosecond(1)});
  // Sprayed over links 1 and 2, three times (multiplicity).
  const std::vector<RouteHop> halves{{LinkId(0), 1, 1}, {LinkId(1), 1, 2}, {LinkId(2), 1, 2}};
  const auto sprayed = run.transfer(0, route_over(halves), 1001_B, {1, 3, {}});
  run.run();
  CHECK(run.departure(sprayed) == 501);  // 1001 B at 2 B/ps
  CHECK(run.use(0).fine_bytes == 3 * to_fine(1001_B));
  CHECK(run.use(1).fine_bytes == 3 * to_fine(1001_B) / 2);
  CHECK(run.use(2).fine_bytes == 3 * to_fine(1001_B) / 2);
  CHECK(run.use(3).fine_bytes == 0);
  CHECK(run.use(0).peak_flows == 3);
  CHECK(run.network().contention_ignored());  // three on one link
}

TEST_CASE("a share that does not divide is rounded down", "[network]") {
  // 1 B = 1024·10^12 units; a third of that is 341333333333333 1/3.
  CHECK(fine_bytes_on(1_B, {LinkId(0), 1, 3}) == 341'333'333'333'333U);
  CHECK(fine_bytes_on(1_B, {LinkId(0), 2, 3}) == 682'666'666'666'666U);
  CHECK(fine_bytes_on(1_B, {LinkId(0), 1, 64}) == 16'000'000'000'000U);
  CHECK(fine_bytes_on(5_B, {LinkId(0), 3, 3}) == to_fine(5_B));
}

TEST_CASE("of equally narrow links the lowest id is the bottleneck", "[network]") {
  const auto model = GENERATE(NetworkModel::Ideal, NetworkModel::Flow);
  NetworkRun run(model, std::vector<Bandwidth>(3, bytes_per_picosecond(1)));
  const auto alone = run.transfer(0, route_over({2, 1}), 10_B);
  const auto first = run.transfer(100, route_over({2, 0, 1}), 10_B);
  run.transfer(100, route_over({1, 2}), 10_B);
  run.run();
  CHECK(run.left(alone).departure.bottleneck == LinkId(1));
  // Shared: links 1 and 2 are used up at the same rate, link 0 is not. In `ideal` all three are.
  CHECK(run.left(first).departure.bottleneck == LinkId(model == NetworkModel::Flow ? 1 : 0));
}

TEST_CASE("a network model has a name", "[network]") {
  CHECK(name_of(NetworkModel::Ideal) == "ideal");
  CHECK(name_of(NetworkModel::Flow) == "flow");
}

TEST_CASE("closed paths are opened again under their ids", "[network]") {
  const auto model = GENERATE(NetworkModel::Ideal, NetworkModel::Flow);
  NetworkRun run(model, {bytes_per_picosecond(1), bytes_per_picosecond(2)});
  Network& network = run.network();
  const PathId first = network.open(route_over({0}));
  const PathId second = network.open(route_over({0, 1}));
  network.close(first);
  const PathId again = network.open(route_over({1}));
  CHECK(again == first);
  CHECK_FALSE(again == second);
  run.at(0, [=](Network& n) { n.start(again, 1000_B, 7); });
  run.run();
  CHECK(run.departure(7) == 500);
}

TEST_CASE("an impossible route or capacity is a bug of ours", "[network]") {
  const auto model = GENERATE(NetworkModel::Ideal, NetworkModel::Flow);
  NetworkRun run(model, {bytes_per_picosecond(1)});
  Network& network = run.network();
  CHECK_THROWS_AS(network.open(route_over(std::vector<RouteHop>{})), InternalError);
  CHECK_THROWS_AS(network.open(route_over({0, 0})), InternalError);
  network.set_capacity(LinkId(0), Bandwidth());
  CHECK_THROWS_AS(network.settle(), InternalError);
}

}  // namespace
}  // namespace collsim
