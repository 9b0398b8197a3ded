#include "sim/flow_network.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/catch.hpp"
#include "tests/sim/network_run.hpp"

namespace collsim {
namespace {

using namespace literals;
using test::bytes_per_picosecond;
using test::NetworkRun;
using test::route_over;

TEST_CASE("a flow that shares a link gets half its bandwidth while it does", "[flow_network]") {
  NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(1)});
  const auto first = run.transfer(0, route_over({0}), 1000_B);
  const auto second = run.transfer(400, route_over({0}), 1000_B);
  run.run();
  // First: 400 B alone, then 600 B at 1/2 in 1200 ps. Second: 600 B by then, the last 400 B alone.
  CHECK(run.departure(first) == 1600);
  CHECK(run.departure(second) == 2000);
  CHECK(run.wire(first) == 1000);
  CHECK(run.left(first).departure.elapsed == 1600_ps);
  CHECK(run.left(second).departure.elapsed == 1600_ps);
  CHECK(run.use(0).busy == 2000_ps);
  CHECK(run.use(0).peak_flows == 2);
  CHECK(run.use(0).fine_bytes == to_fine(2000_B));
  CHECK(run.stale_events() == 1);  // the first one's at 1000
  CHECK_FALSE(run.network().contention_ignored());
  CHECK(run.network().transfers_under_way() == 0);
}

TEST_CASE("a departure speeds up the others", "[flow_network]") {
  NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(1)});
  const auto small = run.transfer(0, route_over({0}), 300_B);
  const auto large = run.transfer(0, route_over({0}), 900_B);
  run.run();
  CHECK(run.departure(small) == 600);   // 300 B at 1/2
  CHECK(run.departure(large) == 1200);  // 300 B by then, 600 B at 1
}

TEST_CASE("a flow held back elsewhere leaves its part to others", "[flow_network]") {
  // Link 1 has 1/4 B/ps, so the long flow takes 1/4 of link 0 and the short one gets 3/4.
  NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(1), bytes_per_picosecond(1, 4)});
  const auto long_flow = run.transfer(0, route_over({0, 1}), 1000_B);
  const auto short_flow = run.transfer(0, route_over({0}), 900_B);
  run.run();
  CHECK(run.departure(long_flow) == 4000);
  CHECK(run.departure(short_flow) == 1200);
  CHECK(run.left(long_flow).departure.bottleneck == LinkId(1));
  CHECK(run.left(short_flow).departure.bottleneck == LinkId(0));
  CHECK(run.wire(long_flow) == 4000);
  CHECK(run.wire(short_flow) == 900);
}

TEST_CASE("a departure splits a component and both parts speed up", "[flow_network]") {
  // The middle flow joins links 0 and 1. All at 1/2; it leaves at 400; then both others run alone:
  // 400 B and 800 B are left of them.
  NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(1), bytes_per_picosecond(1)});
  const auto left = run.transfer(0, route_over({0}), 600_B);
  const auto middle = run.transfer(0, route_over({0, 1}), 200_B);
  const auto right = run.transfer(0, route_over({1}), 1000_B);
  run.run();
  CHECK(run.departure(middle) == 400);
  CHECK(run.departure(left) == 400 + 400);
  CHECK(run.departure(right) == 400 + 800);
}

TEST_CASE("weights and multiplicity count", "[flow_network]") {
  SECTION("weight 2 gets 2/3: 900 B in 1350 ps; the other has moved 450 B and goes on alone") {
    NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(1)});
    const auto heavy = run.transfer(0, route_over({0}), 900_B, {2, 1, {}});
    const auto light = run.transfer(0, route_over({0}), 900_B);
    run.run();
    CHECK(run.departure(heavy) == 1350);
    CHECK(run.departure(light) == 1800);
  }
  SECTION("three equal transfers as one event, and one more: 1/4 each") {
    NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(1)});
    const auto three = run.transfer(0, route_over({0}), 1000_B, {1, 3, {}});
    const auto one = run.transfer(0, route_over({0}), 1000_B);
    run.run();
    CHECK(run.departure(three) == 4000);
    CHECK(run.departure(one) == 4000);
    CHECK(run.wire(three) == 1000);
    CHECK(run.use(0).peak_flows == 4);
    CHECK(run.use(0).fine_bytes == to_fine(4000_B));
  }
  SECTION("a folded transfer shares with itself") {
    NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(1)});
    const auto five = run.transfer(0, route_over({0}), 1000_B, {1, 5, {}});
    run.run();
    CHECK(run.departure(five) == 5000);
  }
}

TEST_CASE("a sprayed flow takes a part of each way", "[flow_network]") {
  // Up to 2 B/ps over links 1 and 2. From 0 on another flow uses link 1: x/2 + x = 1, x = 2/3 for
  // both. It leaves after 900 ps; 600 B of 1000 B are moved by then, 400 B left at 2 B/ps.
  NetworkRun run(NetworkModel::Flow,
                 {bytes_per_picosecond(4), bytes_per_picosecond(1), bytes_per_picosecond(1)});
  const std::vector<RouteHop> halves{{LinkId(0), 1, 1}, {LinkId(1), 1, 2}, {LinkId(2), 1, 2}};
  const auto sprayed = run.transfer(0, route_over(halves), 1000_B);
  const auto other = run.transfer(0, route_over({1}), 600_B);
  run.run();
  CHECK(run.departure(other) == 900);
  CHECK(run.departure(sprayed) == 1100);
  CHECK(run.wire(sprayed) == 500);
  CHECK(run.use(0).fine_bytes == to_fine(1000_B));
  CHECK(run.use(1).fine_bytes == to_fine(1100_B));
  CHECK(run.use(2).fine_bytes == to_fine(500_B));
}

TEST_CASE("0 bytes depart at once and slow nobody down", "[flow_network]") {
  NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(1)});
  const auto full = run.transfer(0, route_over({0}), 1000_B);
  const auto empty = run.transfer(300, route_over({0}), 0_B);
  run.run();
  CHECK(run.departure(empty) == 300);
  CHECK(run.left(empty).departure.elapsed == 0_ps);
  CHECK(run.wire(empty) == 0);
  CHECK(run.departure(full) == 1000);
  CHECK(run.use(0).peak_flows == 1);
  CHECK(run.stale_events() == 0);
}

TEST_CASE("progress is settled only when the rate becomes another fraction", "[flow_network]") {
  // Three flows share link 0, of 1 unit (2^-10 B/s): 1/3 of 10^-15 B a picosecond. Rounded down at
  // every picosecond they would never move. On link 1 they meet 100 short flows, one after the
  // other, of 1 ps each, which change their component 200 times but not their rate. 1 B = 1024·10^12
  // units at 1/3.
  NetworkRun run(NetworkModel::Flow, {Bandwidth::from_units(1), bytes_per_picosecond(4)});
  std::vector<std::uint32_t> slow;
  for (int i = 0; i < 3; ++i) {
    slow.push_back(run.transfer(0, route_over({0, 1}), 1_B));
  }
  for (int i = 0; i < 100; ++i) {
    run.transfer(10 + i, route_over({1}), 1_B);
  }
  run.run();
  for (const std::uint32_t tag : slow) {
    CHECK(run.departure(tag) == 3 * 1024'000'000'000'000);
  }
}

TEST_CASE("a capacity changes in the middle of a transfer", "[flow_network]") {
  SECTION("alone: 400 B at 1 B/ps, 600 B at 1/2; nothing of that is sharing") {
    NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(1)});
    const auto tag = run.transfer(0, route_over({0}), 1000_B);
    run.capacity(400, 0, bytes_per_picosecond(1, 2));
    run.run();
    CHECK(run.departure(tag) == 1600);
    CHECK(run.wire(tag) == 1600);
  }
  SECTION("faster: 400 B at 1, 600 B at 2") {
    NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(1)});
    const auto tag = run.transfer(0, route_over({0}), 1000_B);
    run.capacity(400, 0, bytes_per_picosecond(2));
    run.run();
    CHECK(run.departure(tag) == 700);
    CHECK(run.wire(tag) == 700);
  }
  SECTION("two that share: 300 B each at 1/2, then 700 B each at 1/8") {
    NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(1)});
    const auto first = run.transfer(0, route_over({0}), 1000_B);
    const auto second = run.transfer(0, route_over({0}), 1000_B);
    run.capacity(600, 0, bytes_per_picosecond(1, 4));
    run.run();
    CHECK(run.departure(first) == 600 + 5600);
    CHECK(run.departure(second) == 600 + 5600);
    CHECK(run.wire(first) == 600 + 1600);  // alone: 600 B, then 400 B at 1/4
  }
  SECTION("after a transfer alone would have left, its wire time is settled") {
    NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(1)});
    const auto first = run.transfer(0, route_over({0}), 1000_B);
    run.transfer(0, route_over({0}), 1000_B);
    run.capacity(1200, 0, bytes_per_picosecond(1, 4));
    run.capacity(1300, 0, bytes_per_picosecond(1, 8));
    run.run();
    // 600 B at 1/2 by 1200, 12.5 B at 1/8 by 1300, 387.5 B at 1/16 in 6200 ps.
    CHECK(run.departure(first) == 7500);
    CHECK(run.wire(first) == 1000);
  }
  SECTION("changed and restored within the instant: nothing happens") {
    NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(1)});
    const auto tag = run.transfer(0, route_over({0}), 1000_B);
    run.capacity(400, 0, bytes_per_picosecond(2));
    run.capacity(400, 0, bytes_per_picosecond(1));
    run.run();
    CHECK(run.departure(tag) == 1000);
    CHECK(run.stale_events() == 0);
  }
  SECTION("on an idle link it counts for the next transfer") {
    NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(1)});
    run.capacity(5, 0, bytes_per_picosecond(2));
    const auto tag = run.transfer(10, route_over({0}), 1000_B);
    run.run();
    CHECK(run.departure(tag) == 510);
    CHECK(run.wire(tag) == 500);
  }
}

TEST_CASE("the earliest departures of a component are enough events", "[flow_network]") {
  // Flows of 1, 2, …, 100 B: each departure changes all rates. One event each: none is out of date.
  NetworkRun run(NetworkModel::Flow, {bytes_per_picosecond(1)});
  for (std::int64_t i = 1; i <= 100; ++i) {
    run.transfer(0, route_over({0}), Bytes(i));
  }
  run.run();
  CHECK(run.departures() == 100);
  CHECK(run.stale_events() == 0);
  // When flow i leaves, i flows have left with all their bytes and 100 - i have moved i B each:
  // sum of 1 … i, plus (100 - i)·i.
  for (std::uint32_t i = 1; i <= 100; ++i) {
    CHECK(run.departure(i - 1) == i * (i + 1) / 2 + (100 - i) * i);
  }
}

/// All into one root: n flows of s bytes over links of their own and the root's. The root's link is
/// the narrowest, so the last byte arrives when all bytes have crossed it.
TEST_CASE("random stars equal their closed form to the picosecond", "[flow_network]") {
  std::mt19937_64 random(6);
  int equal = 0;
  constexpr int stars = 3150;
  for (int i = 0; i < stars; ++i) {
    const auto flows = static_cast<std::uint32_t>(1 + random() % 63);
    const Bytes bytes(
        static_cast<std::int64_t>(1 + random() % (std::uint64_t{1} << (random() % 31))));
    const Bandwidth capacity = Bandwidth::from_units(
        static_cast<std::int64_t>(1'000'000 + random() % 51'200'000'000'000U));
    NetworkRun run(NetworkModel::Flow, std::vector<Bandwidth>(flows + 1, capacity));
    for (std::uint32_t f = 0; f < flows; ++f) {
      run.transfer(0, route_over({f + 1, 0}), bytes);
    }
    run.run();
    const Duration expected = transfer_time(bytes * flows, Rate(capacity));
    bool all = run.departures() == flows;
    for (std::uint32_t f = 0; f < flows; ++f) {
      all = all && run.left(f).departure.elapsed == expected;
    }
    if (all) {
      ++equal;
    }
  }
  CHECK(equal == stars);
}

// Sizes that differ: the k-th departure leaves n - k flows, each of which has as much less to move.
// What the simulator keeps in one step from another is this recurrence, in exact integers.
TEST_CASE("a star of different sizes departs as the recurrence says", "[flow_network]") {
  std::mt19937_64 random(7);
  bool same = true;
  for (int i = 0; i < 300; ++i) {
    const auto units = static_cast<std::int64_t>(1'000'000 + random() % 51'200'000'000'000U);
    const auto flows = static_cast<std::uint32_t>(1 + random() % 20);
    std::vector<Bytes> sizes;
    for (std::uint32_t f = 0; f < flows; ++f) {
      sizes.emplace_back(static_cast<std::int64_t>(1 + random() % 1'000'000));
    }
    std::sort(sizes.begin(), sizes.end());
    NetworkRun run(NetworkModel::Flow, {Bandwidth::from_units(units)});
    for (const Bytes size : sizes) {
      run.transfer(0, route_over({0}), size);
    }
    run.run();

    std::vector<U128> left;
    for (const Bytes size : sizes) {
      left.push_back(to_fine(size));
    }
    Duration now{};
    for (std::size_t first = 0; first < left.size();) {
      const Rate rate(units, static_cast<std::int64_t>(left.size() - first));
      const Duration step = transfer_time_fine(left[first], rate);
      now += step;
      std::size_t next = first;
      while (next < left.size() && transfer_time_fine(left[next], rate) == step) {
        same = same && run.departure(static_cast<std::uint32_t>(next)) == now.count();
        ++next;
      }
      for (std::size_t f = next; f < left.size(); ++f) {
        left[f] -= progress_fine(step, rate);
      }
      first = next;
    }
  }
  CHECK(same);
}

}  // namespace
}  // namespace collsim
