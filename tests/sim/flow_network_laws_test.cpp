// Laws of the flow model on random cases: equality with a simulator that solves
// everything every time, no effect of the order within an instant, conservation of bytes.

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
#include "tests/sim/network_run.hpp"

namespace collsim {
namespace {

using test::bytes_per_picosecond;
using test::NetworkRun;
using test::route_over;

struct RandomTransfer {
  std::int64_t start = 0;
  Route route;
  Bytes bytes;
  std::uint32_t weight = 1;
  std::uint32_t multiplicity = 1;
};

struct RandomCase {
  std::vector<Bandwidth> capacities;
  std::vector<RandomTransfer> transfers;
  struct Change {
    std::int64_t time = 0;
    std::uint32_t link = 0;
    Bandwidth bandwidth;
  };
  std::vector<Change> changes;
};

RandomCase random_case(std::mt19937_64& random) {
  const auto below = [&random](std::uint64_t bound) { return random() % bound; };
  RandomCase result;
  const std::uint64_t links = 1 + below(8);
  const auto bandwidth = [&] {
    return below(2) == 0 ? bytes_per_picosecond(1)
                         : Bandwidth::from_units(static_cast<std::int64_t>(
                               100'000'000'000'000U + below(1'000'000'000'000'000U)));
  };
  for (std::uint64_t i = 0; i < links; ++i) {
    result.capacities.push_back(bandwidth());
  }
  constexpr std::array<std::array<std::uint32_t, 2>, 5> shares{
      {{1, 1}, {1, 1}, {1, 2}, {1, 3}, {2, 1}}};
  const std::uint64_t transfers = 1 + below(30);
  // Few different times and sizes, so that things happen at once.
  for (std::uint64_t i = 0; i < transfers; ++i) {
    RandomTransfer transfer;
    transfer.start = static_cast<std::int64_t>(100 * below(20));
    for (std::uint32_t link = 0; link < links; ++link) {
      const auto& share = shares[below(5)];
      if (below(4) == 0) {
        transfer.route.hops.push_back({LinkId(link), share[0], share[1]});
      }
    }
    if (transfer.route.hops.empty()) {
      transfer.route.hops.push_back({LinkId(below(links)), 1, 1});
    }
    transfer.bytes = Bytes(static_cast<std::int64_t>(below(3) == 0 ? below(500) : 100 * below(4)));
    if (below(3) == 0) {
      transfer.weight = static_cast<std::uint32_t>(1 + below(3));
    }
    if (below(3) == 0) {
      transfer.multiplicity = static_cast<std::uint32_t>(1 + below(3));
    }
    result.transfers.push_back(transfer);
  }
  for (std::uint64_t i = below(4); i > 0; --i) {
    result.changes.push_back({static_cast<std::int64_t>(150 * below(15)),
                              static_cast<std::uint32_t>(below(links)), bandwidth()});
  }
  return result;
}

/// The same model without anything clever: after every instant one system of all transfers is
/// solved, and time goes to whatever comes next.
class Reference {
 public:
  explicit Reference(const RandomCase& input) : input_(input), states_(input.transfers.size()) {
    for (const Bandwidth capacity : input.capacities) {
      capacities_.push_back(capacity.units());
    }
  }

  /// When each transfer departs, in picoseconds.
  std::vector<std::int64_t> departures() {
    std::int64_t now = -1;
    while (next_time(now)) {
      for (State& state : states_) {
        if (state.moving && state.departure == now) {
          state.moving = false;
        }
      }
      for (const auto& change : input_.changes) {
        if (change.time == now) {
          capacities_[change.link] = change.bandwidth.units();
        }
      }
      start_at(now);
      set_rates(now);
    }
    std::vector<std::int64_t> result;
    for (const State& state : states_) {
      result.push_back(state.departure);
    }
    return result;
  }

 private:
  struct State {
    bool moving = false;
    U128 left = 0;
    Rate rate;
    std::int64_t updated = 0;
    std::int64_t departure = 0;
  };

  /// Moves `now` to the next instant; false if nothing comes any more.
  bool next_time(std::int64_t& now) const {
    std::vector<std::int64_t> times;
    for (const auto& change : input_.changes) {
      times.push_back(change.time);
    }
    for (const auto& transfer : input_.transfers) {
      times.push_back(transfer.start);
    }
    for (const State& state : states_) {
      if (state.moving) {
        times.push_back(state.departure);
      }
    }
    std::sort(times.begin(), times.end());
    const auto next = std::upper_bound(times.begin(), times.end(), now);
    if (next == times.end()) {
      return false;
    }
    now = *next;
    return true;
  }

  void start_at(std::int64_t now) {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const RandomTransfer& transfer = input_.transfers[i];
      if (transfer.start != now) {
        continue;
      }
      states_[i] = {transfer.bytes != Bytes(0), to_fine(transfer.bytes), Rate(), now, now};
    }
  }

  void set_rates(std::int64_t now) {
    std::vector<std::vector<ResourceUse>> uses(states_.size());
    std::vector<FairShareFlow> flows;
    std::vector<std::size_t> who;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (!states_[i].moving) {
        continue;
      }
      const RandomTransfer& transfer = input_.transfers[i];
      for (const RouteHop& hop : transfer.route.hops) {
        uses[i].push_back({hop.link.value(), hop.share_numerator, hop.share_denominator});
      }
      flows.push_back({uses[i], transfer.weight, transfer.multiplicity});
      who.push_back(i);
    }
    std::vector<FairShare> shares;
    FairShareSolver().solve(capacities_, flows, shares);
    for (std::size_t k = 0; k < who.size(); ++k) {
      State& state = states_[who[k]];
      if (compare(state.rate, shares[k].rate) == 0) {
        continue;
      }
      if (now > state.updated) {
        state.left -= progress_fine(Duration(now - state.updated), state.rate);
      }
      state.updated = now;
      state.rate = shares[k].rate;
      state.departure = now + transfer_time_fine(state.left, state.rate).count();
    }
  }

  const RandomCase& input_;
  std::vector<State> states_;
  std::vector<std::int64_t> capacities_;
};

/// Runs a case with its transfers given in an order.
NetworkRun run_in_order(const RandomCase& input, const std::vector<std::size_t>& order,
                        std::vector<std::uint32_t>& tags) {
  NetworkRun run(NetworkModel::Flow, input.capacities);
  tags.resize(order.size());
  // Tags count in the order given; tags[i] is the one of transfer i.
  for (const std::size_t i : order) {
    const RandomTransfer& transfer = input.transfers[i];
    tags[i] = run.transfer(transfer.start, transfer.route, transfer.bytes, transfer.weight,
                           transfer.multiplicity);
  }
  for (const auto& change : input.changes) {
    run.capacity(change.time, change.link, change.bandwidth);
  }
  run.run();
  return run;
}

std::vector<std::size_t> identity(std::size_t size) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

TEST_CASE("incremental rates equal those of solving everything every time", "[flow_network]") {
  std::mt19937_64 random(8);
  bool same = true;
  for (int i = 0; i < 1500; ++i) {
    const RandomCase input = random_case(random);
    std::vector<std::uint32_t> tags;
    const NetworkRun run = run_in_order(input, identity(input.transfers.size()), tags);
    const std::vector<std::int64_t> expected = Reference(input).departures();
    for (std::size_t t = 0; t < expected.size(); ++t) {
      same = same && run.departure(tags[t]) == expected[t];
    }
  }
  CHECK(same);
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
        sent[hop.link.index()] += fine_bytes_on(transfer.bytes, hop) * transfer.multiplicity;
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
