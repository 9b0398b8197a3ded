#pragma once

// Random cases for the flow model, and a simulator of the same model without anything clever to
// compare it with: after every instant one system of all transfers is solved, and time goes to
// whatever comes next.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "sim/fair_share.hpp"
#include "sim/network.hpp"
#include "tests/sim/network_run.hpp"

namespace collsim::test {

struct RandomTransfer {
  std::int64_t start = 0;
  /// It starts when this one departs instead, on the same route; given before it.
  std::optional<std::size_t> follows{};
  Route route;
  Bytes bytes;
  TransferTerms terms;
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

/// What cases look like. With the defaults a transfer takes some 100 ps alone.
struct CaseShape {
  std::uint32_t links = 8;                            ///< at most
  std::uint32_t transfers = 30;                       ///< at most
  std::uint32_t hops_in = 4;                          ///< a transfer crosses one link in so many
  std::int64_t least_capacity = 100'000'000'000'000;  ///< in units of 2^-10 B/s
  std::int64_t capacities = 1'000'000'000'000'000;    ///< so many different ones
  std::int64_t usual_capacity = 1'024'000'000'000'000;
  std::int64_t bytes = 500;
  std::int64_t tick = 50;  ///< starts lie some of these apart, in ps
  bool caps = false;
  bool weights = true;
};

inline RandomCase random_case(std::mt19937_64& random, const CaseShape& shape = {}) {
  const auto below = [&random](std::uint64_t bound) { return random() % bound; };
  const auto below_signed = [&random](std::int64_t bound) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
  };
  RandomCase result;
  const std::uint64_t links = 1 + below(shape.links);
  const auto bandwidth = [&] {
    // Half of them alike, or a small multiple: ties and links that never are the limit.
    return Bandwidth::from_units(
        below(2) == 0 ? shape.usual_capacity * (below(3) == 0 ? 1 + below_signed(4) : 1)
                      : shape.least_capacity + below_signed(shape.capacities));
  };
  for (std::uint64_t i = 0; i < links; ++i) {
    result.capacities.push_back(bandwidth());
  }
  constexpr std::array<std::array<std::uint32_t, 2>, 5> shares{
      {{1, 1}, {1, 1}, {1, 2}, {1, 3}, {2, 1}}};
  const std::uint64_t transfers = 1 + below(shape.transfers);
  // Few different times and sizes, so that things happen at once.
  for (std::uint64_t i = 0; i < transfers; ++i) {
    RandomTransfer transfer;
    transfer.start = 2 * shape.tick * below_signed(20);
    for (std::uint32_t link = 0; link < links; ++link) {
      const auto& share = shares[below(5)];
      if (below(shape.hops_in) == 0) {
        transfer.route.hops.push_back({LinkId(link), share[0], share[1]});
      }
    }
    if (transfer.route.hops.empty()) {
      transfer.route.hops.push_back({LinkId(below(links)), 1, 1});
    }
    transfer.bytes =
        Bytes(below(3) == 0 ? below_signed(shape.bytes) : shape.bytes / 5 * below_signed(4));
    if (shape.weights && below(3) == 0) {
      transfer.terms.weight = static_cast<std::uint32_t>(1 + below(3));
    }
    if (below(3) == 0) {
      transfer.terms.multiplicity = static_cast<std::uint32_t>(1 + below(3));
    }
    if (shape.caps && below(3) == 0) {
      const std::int64_t part = 1 + below_signed(4);
      transfer.terms.cap = Bandwidth::from_units((shape.usual_capacity + part - 1) / part);
    }
    if (i > 0 && below(3) == 0) {
      transfer.follows = below(i);
      const RandomTransfer& before = result.transfers[*transfer.follows];
      transfer.route = before.route;
      transfer.terms = below(3) == 0 ? transfer.terms : before.terms;
    }
    result.transfers.push_back(transfer);
  }
  for (std::uint64_t i = below(4); i > 0; --i) {
    result.changes.push_back(
        {3 * shape.tick * below_signed(15), static_cast<std::uint32_t>(below(links)), bandwidth()});
  }
  return result;
}

class FlowReference {
 public:
  explicit FlowReference(const RandomCase& input) : input_(input), states_(input.transfers.size()) {
    for (const Bandwidth capacity : input.capacities) {
      capacities_.push_back(capacity.units());
    }
    for (const RandomTransfer& transfer : input.transfers) {
      starts_.push_back(transfer.follows ? unknown : transfer.start);
    }
  }

  struct Result {
    std::int64_t departure = 0;  ///< in picoseconds
    LinkId bottleneck;           ///< of its last rate; see Departure::bottleneck
  };

  std::vector<Result> results() {
    std::int64_t now = -1;
    while (next_time(now)) {
      for (std::size_t i = 0; i < states_.size(); ++i) {
        if (states_[i].moving && states_[i].departure == now) {
          states_[i].moving = false;
          start_followers(i, now);
        }
      }
      start_at(now);  // 0 bytes leave before capacities change
      for (const auto& change : input_.changes) {
        if (change.time == now) {
          capacities_[change.link] = change.bandwidth.units();
        }
      }
      set_rates(now);
    }
    std::vector<Result> results;
    for (const State& state : states_) {
      results.push_back({state.departure, state.bottleneck});
    }
    return results;
  }

 private:
  struct State {
    bool moving = false;
    U128 left = 0;
    Rate rate;
    std::int64_t updated = 0;
    std::int64_t departure = 0;
    LinkId bottleneck;
  };

  /// Moves `now` to the next instant; false if nothing comes any more.
  bool next_time(std::int64_t& now) const {
    std::vector<std::int64_t> times;
    for (const auto& change : input_.changes) {
      times.push_back(change.time);
    }
    times.insert(times.end(), starts_.begin(), starts_.end());
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

  /// The link with the least capacity for what the transfer takes of it.
  [[nodiscard]] LinkId narrowest(std::size_t i) const {
    const std::vector<RouteHop>& hops = input_.transfers[i].route.hops;
    const auto full = [this](const RouteHop& hop) {
      return exact_rate(capacities_[hop.link.index()], hop.share_denominator, hop.share_numerator);
    };
    return std::min_element(
               hops.begin(), hops.end(),
               [&](const RouteHop& a, const RouteHop& b) { return compare(full(a), full(b)) < 0; })
        ->link;
  }

  void start_at(std::int64_t now) {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const RandomTransfer& transfer = input_.transfers[i];
      if (starts_[i] != now) {
        continue;
      }
      const LinkId bottleneck = narrowest(i);
      states_[i] = {
          transfer.bytes != Bytes(0), to_fine(transfer.bytes), Rate(), now, now, bottleneck};
      if (!states_[i].moving) {
        start_followers(i, now);
      }
    }
  }

  void start_followers(std::size_t departed, std::int64_t now) {
    for (std::size_t i = departed + 1; i < states_.size(); ++i) {
      if (input_.transfers[i].follows == departed) {
        starts_[i] = now;
      }
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
      flows.push_back({uses[i], transfer.terms.weight, transfer.terms.multiplicity,
                       transfer.terms.cap.units()});
      who.push_back(i);
    }
    std::vector<FairShare> shares;
    FairShareSolver().solve(capacities_, flows, shares);
    for (std::size_t k = 0; k < who.size(); ++k) {
      State& state = states_[who[k]];
      const bool by_cap = shares[k].bottleneck >= capacities_.size();
      state.bottleneck = by_cap ? narrowest(who[k]) : LinkId(shares[k].bottleneck);
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

  static constexpr std::int64_t unknown = -1;

  const RandomCase& input_;
  std::vector<std::int64_t> starts_;
  std::vector<State> states_;
  std::vector<std::int64_t> capacities_;
};

/// How the flow model is to go about a case. No result depends on it.
struct FlowWays {
  std::size_t few = 4;   ///< of a group of links that are not searched
  bool passing = false;  ///< paths are open only while something moves on them
};

/// Runs a case with its transfers given in an order; tags[i] is the one of transfer i.
inline NetworkRun run_in_order(const RandomCase& input, const std::vector<std::size_t>& order,
                               std::vector<std::uint32_t>& tags, const FlowWays& ways = {}) {
  NetworkRun run(ways.few, input.capacities);
  tags.resize(order.size());
  // Tags count in the order given; those that follow others come behind them.
  for (const std::size_t i : order) {
    const RandomTransfer& transfer = input.transfers[i];
    if (transfer.follows) {
      continue;
    }
    tags[i] =
        ways.passing
            ? run.passing_transfer(transfer.start, transfer.route, transfer.bytes, transfer.terms)
            : run.transfer(transfer.start, transfer.route, transfer.bytes, transfer.terms);
  }
  for (std::size_t i = 0; i < input.transfers.size(); ++i) {
    const RandomTransfer& transfer = input.transfers[i];
    if (transfer.follows) {
      tags[i] = run.following_transfer(tags[*transfer.follows], transfer.route, transfer.bytes,
                                       transfer.terms, ways.passing);
    }
  }
  for (const auto& change : input.changes) {
    run.capacity(change.time, change.link, change.bandwidth);
  }
  run.run();
  return run;
}

}  // namespace collsim::test
