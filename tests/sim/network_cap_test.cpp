// What both network models make of the terms of a transfer's sender, and of resources that are no
// links.

#include <cstdint>

#include "tests/catch.hpp"
#include "tests/sim/network_run.hpp"

namespace collsim {
namespace {

using namespace literals;
using test::bytes_per_picosecond;
using test::NetworkRun;
using test::route_over;

TransferTerms capped_at(Bandwidth cap, std::uint32_t multiplicity = 1) {
  return {1, multiplicity, cap};
}

NetworkModel any_model() { return GENERATE(NetworkModel::Ideal, NetworkModel::Flow); }

TEST_CASE("a capped transfer alone moves at its cap", "[network]") {
  NetworkRun run(any_model(), {bytes_per_picosecond(4), bytes_per_picosecond(2)});
  const auto slow = run.transfer(0, route_over({0, 1}), 1000_B, capped_at(bytes_per_picosecond(1)));
  run.run();
  const Departure& departure = run.left(slow).departure;
  CHECK(run.departure(slow) == 1000);  // 1000 / 1
  CHECK(departure.wire == 500_ps);     // 1000 / 2, on the narrower link
  CHECK(departure.capped == 1000_ps);
  CHECK(departure.elapsed == 1000_ps);
  CHECK(departure.narrowest == LinkId(1));
  CHECK(departure.bottleneck == LinkId(1));  // the cap is no link: the narrowest
}

TEST_CASE("a cap above the route's rate changes nothing", "[network]") {
  NetworkRun run(any_model(), {bytes_per_picosecond(2)});
  const auto equal = run.transfer(0, route_over({0}), 1000_B, capped_at(bytes_per_picosecond(2)));
  const auto above = run.transfer(500, route_over({0}), 1000_B, capped_at(bytes_per_picosecond(3)));
  run.run();
  CHECK(run.departure(equal) == 500);
  CHECK(run.departure(above) == 1000);
  for (const std::uint32_t tag : {equal, above}) {
    CHECK(run.left(tag).departure.wire == 500_ps);
    CHECK(run.left(tag).departure.capped == 500_ps);
  }
}

TEST_CASE("0 bytes of a capped transfer leave at once", "[network]") {
  NetworkRun run(any_model(), {bytes_per_picosecond(2)});
  const auto nothing = run.transfer(7, route_over({0}), 0_B, capped_at(bytes_per_picosecond(1)));
  run.run();
  CHECK(run.departure(nothing) == 7);
  CHECK(run.left(nothing).departure.capped == 0_ps);
}

TEST_CASE("a capped flow leaves the rest of the link to others", "[flow_network]") {
  // 4 B/ps for two: one is capped at 1, the other has 3 and leaves after 3000 / 3.
  NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(4)});
  const auto slow = run.transfer(0, route_over({0}), 3000_B, capped_at(bytes_per_picosecond(1)));
  const auto fast = run.transfer(0, route_over({0}), 3000_B);
  run.run();
  CHECK(run.departure(fast) == 1000);
  CHECK(run.departure(slow) == 3000);
  CHECK(run.left(slow).departure.capped == 3000_ps);  // it lost nothing to sharing
  CHECK(run.left(fast).departure.capped == 750_ps);   // 3000 / 4 alone
  CHECK(run.left(fast).departure.wire == 750_ps);
  CHECK(run.left(fast).departure.bottleneck == LinkId(0));
}

TEST_CASE("what a capped flow loses to others is beyond its cap's time", "[flow_network]") {
  // Two at 1 each of 2, though the cap would let one have 3/2.
  NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(2)});
  const auto first =
      run.transfer(0, route_over({0}), 3000_B, capped_at(bytes_per_picosecond(3, 2)));
  const auto second =
      run.transfer(0, route_over({0}), 3000_B, capped_at(bytes_per_picosecond(3, 2)));
  run.run();
  for (const std::uint32_t tag : {first, second}) {
    CHECK(run.departure(tag) == 3000);
    CHECK(run.left(tag).departure.wire == 1500_ps);
    CHECK(run.left(tag).departure.capped == 2000_ps);
  }
}

TEST_CASE("each transfer of a multiplicity has the cap for itself", "[flow_network]") {
  // Three flows of 1 on a link of 4 leave 1 to the other.
  NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(4)});
  const auto three =
      run.transfer(0, route_over({0}), 1000_B, capped_at(bytes_per_picosecond(1), 3));
  const auto one = run.transfer(0, route_over({0}), 1000_B);
  run.run();
  CHECK(run.departure(three) == 1000);
  CHECK(run.departure(one) == 1000);
  CHECK(whole_bytes(run.use(0)) == 4000);
  // Alone they are three on the link: 4/3 each, less than a cap of 2.
  NetworkRun alone(NetworkModel::Flow, {bytes_per_picosecond(4)});
  const auto all =
      alone.transfer(0, route_over({0}), 1000_B, capped_at(bytes_per_picosecond(2), 3));
  alone.run();
  CHECK(alone.departure(all) == 750);
}

TEST_CASE("a link that falls below the cap takes over, and gives back", "[network]") {
  // 100 at the cap of 1; then 400 ps of a link of 1/2 for 200; then the other 700 at 1 again.
  NetworkRun run(any_model(), {bytes_per_picosecond(2)});
  const auto slow = run.transfer(0, route_over({0}), 1000_B, capped_at(bytes_per_picosecond(1)));
  run.capacity(100, 0, bytes_per_picosecond(1, 2));
  run.capacity(500, 0, bytes_per_picosecond(2));
  run.run();
  CHECK(run.departure(slow) == 1200);
}

TEST_CASE("an added resource is shared like a link and is none of the graph's", "[flow_network]") {
  NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(8)});
  const LinkId resource = run.network().add_resource(bytes_per_picosecond(2));
  CHECK(resource == LinkId(1));
  const LinkId second = run.network().add_resource(bytes_per_picosecond(1));
  CHECK(second == LinkId(2));
  // Two at 1 each of the first resource; the second one's transfer crosses the link as well.
  const auto left = run.transfer(0, route_over({1}), 1000_B);
  const auto right = run.transfer(0, route_over({1, 0}), 1000_B);
  const auto other = run.transfer(0, route_over({2}), 1000_B);
  run.run();
  CHECK(run.departure(left) == 1000);
  CHECK(run.departure(right) == 1000);
  CHECK(run.departure(other) == 1000);
  CHECK(run.left(left).departure.narrowest == resource);
  CHECK(run.left(left).departure.bottleneck == resource);
  CHECK(run.network().link_use().size() == 1);
  CHECK(whole_bytes(run.use(0)) == 1000);
}

TEST_CASE("an added resource limits ideal transfers, too, and its capacity may change",
          "[network]") {
  NetworkRun run(any_model(), {bytes_per_picosecond(8)});
  const LinkId resource = run.network().add_resource(bytes_per_picosecond(2));
  const auto transfer = run.transfer(0, route_over({resource.value()}), 1000_B);
  run.capacity(100, resource.value(), bytes_per_picosecond(1));
  run.run();
  CHECK(run.departure(transfer) == 900);  // 200 in 100 ps, then 800 at 1
  CHECK(run.network().link_use().size() == 1);
}

TEST_CASE("resources may be added while transfers run", "[flow_network]") {
  NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(2)});
  const auto first = run.transfer(0, route_over({0}), 1000_B);
  run.at(100, [](Network& network) {
    const LinkId resource = network.add_resource(bytes_per_picosecond(1));
    const PathId path = network.open(route_over({0, resource.value()}));
    network.start(path, 100_B, 77);
  });
  run.run();
  // Both have 1 of the link from 100 to 200.
  CHECK(run.departure(77) == 200);
  CHECK(run.departure(first) == 550);  // 200 + 100 by then, 700 left at 2
}

}  // namespace
}  // namespace collsim
