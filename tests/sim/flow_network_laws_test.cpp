// Laws of the flow model on random cases: equality with a simulator that solves
// everything every time, no effect of the order within an instant, conservation of bytes.

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "sim/fair_share.hpp"
#include "sim/flow_network.hpp"
#include "tests/catch.hpp"
#include "tests/sim/flow_reference.hpp"
#include "tests/sim/network_run.hpp"

namespace collsim {
namespace {

using test::bytes_per_picosecond;
using test::CaseShape;
using test::FlowReference;
using test::FlowWays;
using test::NetworkRun;
using test::random_case;
using test::RandomCase;
using test::RandomTransfer;
using test::route_over;
using test::run_in_order;

std::vector<std::size_t> identity(std::size_t size) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

/// Whether all departures of a case, and what limited them, are those of the reference.
bool equals_reference(const RandomCase& input, const FlowWays& ways = {}) {
  std::vector<std::uint32_t> tags;
  const NetworkRun run = run_in_order(input, identity(input.transfers.size()), tags, ways);
  const std::vector<FlowReference::Result> expected = FlowReference(input).results();
  bool same = true;
  for (std::size_t t = 0; t < expected.size(); ++t) {
    same = same && run.departure(tags[t]) == expected[t].departure &&
           run.left(tags[t]).departure.bottleneck == expected[t].bottleneck;
  }
  return same;
}

TEST_CASE("incremental rates equal those of solving everything every time", "[flow_network]") {
  std::mt19937_64 random(8);
  bool same = true;
  for (int i = 0; i < 1500; ++i) {
    same = same && equals_reference(random_case(random));
  }
  CHECK(same);
}

// Many links with something to spare, caps, and capacities so small that the rounding of takes
// decides: `tick` is chosen such that starts, changes and departures mix (1 unit of 2^-10 B/s moves
// a byte in 1.024·10^15 ps).
CaseShape any_shape() {
  CaseShape shape;
  shape.links = *rc::gen::inRange<std::uint32_t>(1, 25);
  shape.transfers = *rc::gen::inRange<std::uint32_t>(1, 50);
  shape.hops_in = *rc::gen::inRange<std::uint32_t>(2, 12);
  shape.caps = *rc::gen::arbitrary<bool>();
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      shape.least_capacity = 1;
      shape.capacities = 40;
      shape.usual_capacity = 20;
      shape.bytes = 10;
      shape.tick = 50'000'000'000'000;
      break;
    case 1:
      shape.least_capacity = 1000;
      shape.capacities = 5000;
      shape.usual_capacity = 4000;
      shape.bytes = 100;
      shape.tick = 2'500'000'000'000;
      break;
    case 2:
      shape.least_capacity = 100'000;
      shape.capacities = 1'000'000;
      shape.usual_capacity = 400'000;
      shape.bytes = 10'000;
      shape.tick = 2'500'000'000'000;
      break;
    default:
      break;
  }
  return shape;
}

TEST_CASE("whatever binds, caps and is rounded, rates are those of the whole", "[flow_network]") {
  CHECK(rc::check("flow = reference", [] {
    const CaseShape shape = any_shape();
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint32_t>());
    for (int i = 0; i < 10; ++i) {
      RC_ASSERT(equals_reference(random_case(random, shape)));
    }
  }));
}

// None: all are searched. Some: groups go from one to the other, as paths join them and as they fill
// and empty. All: what they get is looked up.
TEST_CASE("few transfers get what they would if they were searched", "[flow_network]") {
  CHECK(rc::check("few = reference", [] {
    const CaseShape shape = any_shape();
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint32_t>());
    FlowWays ways;
    ways.few = *rc::gen::element<std::size_t>(0, 1, 2, 3, 6, 12, 50);
    ways.passing = *rc::gen::arbitrary<bool>();
    for (int i = 0; i < 10; ++i) {
      RC_ASSERT(equals_reference(random_case(random, shape), ways));
    }
  }));
}

// Without weights and with wide links a change is followed only as far as it reaches. Many links with few
// transfers each, so that it dies out; and whole capacities and halves, so that many are tied.
TEST_CASE("rates that a change does not reach are those of the whole", "[flow_network]") {
  CHECK(rc::check("spread = reference", [] {
    CaseShape shape;
    shape.weights = false;
    shape.links = *rc::gen::inRange<std::uint32_t>(2, 60);
    shape.transfers = *rc::gen::inRange<std::uint32_t>(2, 120);
    shape.hops_in = *rc::gen::inRange<std::uint32_t>(2, 30);
    shape.caps = *rc::gen::arbitrary<bool>();
    if (*rc::gen::arbitrary<bool>()) {
      shape.usual_capacity = 1'000'000'000'000'001;  // odd: halves are rounded
    }
    if (*rc::gen::arbitrary<bool>()) {
      shape.least_capacity = shape.usual_capacity / 2;
      shape.capacities = 2;
    }
    shape.bytes = *rc::gen::element<std::int64_t>(500, 5000);
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint32_t>());
    FlowWays ways;
    ways.few = *rc::gen::element<std::size_t>(0, 0, 3);
    for (int i = 0; i < 10; ++i) {
      RC_ASSERT(equals_reference(random_case(random, shape), ways));
    }
  }));
}

// More than are followed one by one: links that will bind are guessed, and some guesses are wrong.
TEST_CASE("many transfers that start at once get the rates of the whole", "[flow_network]") {
  CaseShape shape;
  shape.weights = false;
  shape.caps = true;
  shape.links = 60;
  shape.transfers = 400;
  shape.hops_in = 30;
  std::mt19937_64 random(10);
  for (int i = 0; i < 12; ++i) {
    RandomCase input = random_case(random, shape);
    for (RandomTransfer& transfer : input.transfers) {
      transfer.start %= 4 * shape.tick;
    }
    CHECK(equals_reference(input));
  }
}

TEST_CASE("the order of starts within an instant changes nothing", "[flow_network]") {
  std::mt19937_64 random(9);
  bool same = true;
  for (int i = 0; i < 1000; ++i) {
    const RandomCase input = random_case(random);
    std::vector<std::size_t> order = identity(input.transfers.size());
    std::vector<std::uint32_t> tags;
    std::vector<std::uint32_t> shuffled_tags;
    const NetworkRun run = run_in_order(input, order, tags);
    std::shuffle(order.begin(), order.end(), random);
    const NetworkRun shuffled = run_in_order(input, order, shuffled_tags);
    for (std::size_t t = 0; t < tags.size(); ++t) {
      const Departure& a = run.left(tags[t]).departure;
      const Departure& b = shuffled.left(shuffled_tags[t]).departure;
      same = same && run.departure(tags[t]) == shuffled.departure(shuffled_tags[t]) &&
             a.elapsed == b.elapsed && a.wire == b.wire && a.bottleneck == b.bottleneck;
    }
    for (std::uint32_t link = 0; link < input.capacities.size(); ++link) {
      const LinkUse& a = run.use(link);
      const LinkUse& b = shuffled.use(link);
      same =
          same && a.fine_bytes == b.fine_bytes && a.busy == b.busy && a.peak_flows == b.peak_flows;
    }
  }
  CHECK(same);
}

TEST_CASE("every byte crosses every link of its route, no faster than alone", "[flow_network]") {
  std::mt19937_64 random(10);
  bool conserved = true;
  bool sharing_costs = true;
  for (int i = 0; i < 1000; ++i) {
    const RandomCase input = random_case(random);
    std::vector<std::uint32_t> tags;
    const NetworkRun run = run_in_order(input, identity(input.transfers.size()), tags);
    std::vector<U128> sent(input.capacities.size(), 0);
    for (std::size_t t = 0; t < tags.size(); ++t) {
      const RandomTransfer& transfer = input.transfers[t];
      for (const RouteHop& hop : transfer.route.hops) {
        sent[hop.link.index()] += fine_bytes_on(transfer.bytes, hop) * transfer.terms.multiplicity;
      }
      const Departure& departure = run.left(tags[t]).departure;
      sharing_costs = sharing_costs && departure.wire <= departure.elapsed;
      if (input.changes.empty()) {
        const Rate full = transfer.route.full_rate(run.graph());
        sharing_costs = sharing_costs && departure.wire == transfer_time(transfer.bytes, full);
      }
    }
    for (std::uint32_t link = 0; link < sent.size(); ++link) {
      conserved = conserved && run.use(link).fine_bytes == sent[link];
    }
  }
  CHECK(conserved);
  CHECK(sharing_costs);
}

TEST_CASE("flow equals ideal where nothing is shared", "[flow_network]") {
  std::mt19937_64 random(11);
  bool same = true;
  for (int i = 0; i < 200; ++i) {
    // A permutation on a star of n: each link carries one transfer at a time; two rounds, and a
    // capacity that changes in the first.
    const auto n = static_cast<std::uint32_t>(2 + random() % 30);
    std::vector<Bandwidth> capacities;
    for (std::uint32_t link = 0; link < 2 * n; ++link) {
      capacities.push_back(Bandwidth::from_units(
          static_cast<std::int64_t>(1'000'000'000 + random() % 51'200'000'000'000U)));
    }
    std::vector<NetworkRun> runs;
    runs.emplace_back(NetworkModel::Ideal, capacities);
    runs.emplace_back(NetworkModel::Flow, capacities);
    const auto shift = static_cast<std::uint32_t>(1 + random() % (n - 1));
    for (std::uint32_t r = 0; r < n; ++r) {
      const Bytes bytes(static_cast<std::int64_t>(random() % 1'000'000));
      for (NetworkRun& run : runs) {
        const Route route = route_over({r, n + (r + shift) % n});
        run.transfer(0, route, bytes);
        run.transfer(3'000'000'000'000'000'000, route, bytes);
      }
    }
    const auto changed = static_cast<std::uint32_t>(random() % (2 * n));
    for (NetworkRun& run : runs) {
      run.capacity(1'000'000, changed, bytes_per_picosecond(1, 1000));
      run.run();
    }
    CHECK_FALSE(runs[0].network().contention_ignored());
    for (std::uint32_t tag = 0; tag < 2 * n; ++tag) {
      same = same && runs[0].departure(tag) == runs[1].departure(tag) &&
             runs[0].wire(tag) == runs[1].wire(tag) &&
             runs[0].left(tag).departure.bottleneck == runs[1].left(tag).departure.bottleneck;
    }
    for (std::uint32_t link = 0; link < 2 * n; ++link) {
      const LinkUse& a = runs[0].use(link);
      const LinkUse& b = runs[1].use(link);
      same =
          same && a.fine_bytes == b.fine_bytes && a.busy == b.busy && a.peak_flows == b.peak_flows;
    }
  }
  CHECK(same);
}

}  // namespace
}  // namespace collsim
