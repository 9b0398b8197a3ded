// Laws of fair sharing on random systems, and equality with the rules applied by exhaustive search.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "sim/fair_share.hpp"
#include "tests/catch.hpp"
#include "tests/sim/fair_share_system.hpp"

namespace collsim {
namespace {

using test::Flow;
using test::on;
using test::solve;

__extension__ using I128 = __int128;

struct Fraction {
  I128 numerator = 0;
  I128 denominator = 1;
};

I128 divisor_of(I128 a, I128 b) {
  while (b != 0) {
    a = std::exchange(b, a % b);
  }
  return a < 0 ? -a : a;
}

Fraction reduced(I128 numerator, I128 denominator) {
  const I128 common = divisor_of(numerator, denominator);
  return {numerator / common, denominator / common};
}

Fraction operator+(Fraction a, Fraction b) {
  return reduced(a.numerator * b.denominator + b.numerator * a.denominator,
                 a.denominator * b.denominator);
}
Fraction operator*(Fraction a, Fraction b) {
  return reduced(a.numerator * b.numerator, a.denominator * b.denominator);
}
bool less(Fraction a, Fraction b) {
  return a.numerator * b.denominator < b.numerator * a.denominator;
}
bool equal(Fraction a, Fraction b) { return !less(a, b) && !less(b, a); }

struct System {
  std::vector<std::int64_t> capacities;
  std::vector<Flow> flows;
};

System random_system(std::mt19937_64& random, std::int64_t largest_capacity) {
  const auto below = [&random](std::uint64_t bound) {
    return static_cast<std::uint32_t>(random() % bound);
  };
  System system;
  const std::uint32_t resources = 1 + below(6);
  const auto bound = static_cast<std::uint64_t>(largest_capacity);
  const std::array<std::int64_t, 3> few{largest_capacity, largest_capacity / 2 + 1,
                                        largest_capacity / 3 + 1};
  for (std::uint32_t r = 0; r < resources; ++r) {
    // Often equal capacities: ties are where solvers go wrong.
    system.capacities.push_back(below(2) == 0 ? few[below(3)]
                                              : 1 + static_cast<std::int64_t>(random() % bound));
  }
  const std::uint32_t flows = 1 + below(9);
  constexpr std::array<std::array<std::uint32_t, 2>, 6> kinds{
      {{1, 1}, {1, 1}, {1, 2}, {1, 3}, {2, 1}, {16, 15}}};
  for (std::uint32_t f = 0; f < flows; ++f) {
    Flow flow;
    for (std::uint32_t r = 0; r < resources; ++r) {
      const auto& kind = kinds[below(6)];
      if (below(3) == 0) {
        flow.uses.push_back(on(r, kind[0], kind[1]));
      }
    }
    if (flow.uses.empty()) {
      flow.uses.push_back(on(below(resources)));
    }
    std::shuffle(flow.uses.begin(), flow.uses.end(), random);
    flow.weight = 1 + below(below(2) == 0 ? 1 : 3);
    flow.multiplicity = 1 + below(below(2) == 0 ? 1 : 4);
    system.flows.push_back(flow);
  }
  return system;
}

const ResourceUse* use_of(const Flow& flow, std::uint32_t resource) {
  for (const ResourceUse& use : flow.uses) {
    if (use.resource == resource) {
      return &use;
    }
  }
  return nullptr;
}

/// The rules of the header, one after the other, by search over everything in every round.
class Reference {
 public:
  explicit Reference(const System& system) : system_(system) {}

  std::vector<FairShare> solve() {
    const std::size_t flows = system_.flows.size();
    shares_.resize(flows);
    frozen_.assign(flows, false);
    taken_.assign(system_.capacities.size(), 0);
    floor_.assign(system_.capacities.size(), Fraction{});
    while (std::count(frozen_.begin(), frozen_.end(), false) > 0) {
      round();
    }
    return shares_;
  }

 private:
  bool in_use(std::uint32_t resource) const {
    for (std::size_t f = 0; f < system_.flows.size(); ++f) {
      if (!frozen_[f] && use_of(system_.flows[f], resource) != nullptr) {
        return true;
      }
    }
    return false;
  }

  Fraction share(std::uint32_t resource) const {
    if (floor_[resource].numerator > 0) {
      return floor_[resource];
    }
    Fraction load;
    for (std::size_t f = 0; f < system_.flows.size(); ++f) {
      const Flow& flow = system_.flows[f];
      const ResourceUse* use = use_of(flow, resource);
      if (frozen_[f] || use == nullptr) {
        continue;
      }
      load =
          load + reduced(I128{flow.weight} * flow.multiplicity * use->numerator, use->denominator);
    }
    return reduced((system_.capacities[resource] - taken_[resource]) * load.denominator,
                   load.numerator);
  }

  void round() {
    std::vector<std::uint32_t> tied;
    Fraction level;
    for (std::uint32_t r = 0; r < system_.capacities.size(); ++r) {
      if (!in_use(r)) {
        continue;
      }
      const Fraction candidate = share(r);
      if (tied.empty() || less(candidate, level)) {
        tied.assign(1, r);
        level = candidate;
      } else if (equal(candidate, level)) {
        tied.push_back(r);
      }
    }
    for (const std::uint32_t r : tied) {
      for (std::size_t f = 0; f < system_.flows.size(); ++f) {
        if (frozen_[f] || use_of(system_.flows[f], r) == nullptr) {
          continue;
        }
        freeze(f, level, r, tied);
      }
    }
    for (std::uint32_t r = 0; r < system_.capacities.size(); ++r) {
      const bool eaten_up = taken_[r] >= system_.capacities[r];
      if (eaten_up && in_use(r) && floor_[r].numerator == 0) {
        floor_[r] = level;
      }
    }
  }

  void freeze(std::size_t f, Fraction level, std::uint32_t bottleneck,
              const std::vector<std::uint32_t>& tied) {
    const Flow& flow = system_.flows[f];
    const Fraction rate = level * Fraction{flow.weight, 1};
    shares_[f] = {Rate(static_cast<std::int64_t>(rate.numerator),
                       static_cast<std::int64_t>(rate.denominator)),
                  bottleneck};
    frozen_[f] = true;
    for (const ResourceUse& use : flow.uses) {
      if (std::find(tied.begin(), tied.end(), use.resource) != tied.end()) {
        continue;
      }
      const Fraction take = rate * Fraction{use.numerator, use.denominator};
      const I128 single = (take.numerator + take.denominator - 1) / take.denominator;
      taken_[use.resource] += single * flow.multiplicity;
    }
  }

  const System& system_;
  std::vector<FairShare> shares_;
  std::vector<bool> frozen_;
  std::vector<I128> taken_;
  std::vector<Fraction> floor_;
};

Fraction fraction(Rate rate) { return {rate.numerator, rate.denominator}; }

/// What all flows take of a resource, exactly.
Fraction taken(const System& system, const std::vector<FairShare>& shares, std::uint32_t resource) {
  Fraction sum;
  for (std::size_t f = 0; f < shares.size(); ++f) {
    const Flow& flow = system.flows[f];
    const ResourceUse* use = use_of(flow, resource);
    if (use == nullptr) {
      continue;
    }
    sum = sum + fraction(shares[f].rate) * Fraction{use->numerator, use->denominator} *
                    Fraction{flow.multiplicity, 1};
  }
  return sum;
}

constexpr int systems = 2000;

TEST_CASE("random systems equal the rules applied by exhaustive search", "[fair_share]") {
  const std::int64_t capacity =
      GENERATE(as<std::int64_t>{}, 12, 1000, 1'000'000, 51'200'000'000'000);
  CAPTURE(capacity);
  std::mt19937_64 random(1);
  bool same = true;
  for (int i = 0; i < systems; ++i) {
    const System system = random_system(random, capacity);
    const std::vector<FairShare> shares = solve(system.capacities, system.flows);
    const std::vector<FairShare> expected = Reference(system).solve();
    for (std::size_t f = 0; f < shares.size(); ++f) {
      same = same && compare(shares[f].rate, expected[f].rate) == 0 &&
             shares[f].bottleneck == expected[f].bottleneck;
    }
  }
  CHECK(same);
}

TEST_CASE("no resource gives more than it has, and every rate is positive", "[fair_share]") {
  const std::int64_t capacity = GENERATE(as<std::int64_t>{}, 3, 12, 100, 1000);
  CAPTURE(capacity);
  std::mt19937_64 random(2);
  bool feasible = true;
  bool positive = true;
  for (int i = 0; i < systems; ++i) {
    const System system = random_system(random, capacity);
    const std::vector<FairShare> shares = solve(system.capacities, system.flows);
    for (const FairShare& share : shares) {
      positive = positive && share.rate.numerator > 0;
    }
    for (std::uint32_t r = 0; r < system.capacities.size(); ++r) {
      feasible = feasible && !less({system.capacities[r], 1}, taken(system, shares, r));
    }
  }
  CHECK(feasible);
  CHECK(positive);
}

// Max-min optimality: a flow's bottleneck is used up, and nobody there has a larger rate per unit of
// weight. Both up to the rounding of takes: at most one unit per single flow and resource, and at
// most 36 single flows (9 of multiplicity 4); the least load of one flow is 1/3, so a share moves by
// less than 36·3 units a round, in at most 6 rounds.
TEST_CASE("every flow has a bottleneck that is used up and where nobody has more", "[fair_share]") {
  std::mt19937_64 random(3);
  bool used_up = true;
  bool largest = true;
  for (int i = 0; i < systems; ++i) {
    const System system = random_system(random, 10'000'000);
    const std::vector<FairShare> shares = solve(system.capacities, system.flows);
    for (std::size_t f = 0; f < shares.size(); ++f) {
      const std::uint32_t bottleneck = shares[f].bottleneck;
      REQUIRE(use_of(system.flows[f], bottleneck) != nullptr);
      const Fraction used = taken(system, shares, bottleneck) + Fraction{36, 1};
      used_up = used_up && less({system.capacities[bottleneck], 1}, used);
      const Fraction own = fraction(shares[f].rate) * Fraction{1, system.flows[f].weight};
      for (std::size_t g = 0; g < shares.size(); ++g) {
        if (use_of(system.flows[g], bottleneck) == nullptr) {
          continue;
        }
        const Fraction other = fraction(shares[g].rate) * Fraction{1, system.flows[g].weight};
        largest = largest && less(other, own + Fraction{36 * 3 * 6, 1});
      }
    }
  }
  CHECK(used_up);
  CHECK(largest);
}

TEST_CASE("the order of flows and the state of the solver change nothing", "[fair_share]") {
  std::mt19937_64 random(4);
  FairShareSolver used_before;
  bool same = true;
  for (int i = 0; i < systems; ++i) {
    const System system = random_system(random, 1000);
    const std::vector<FairShare> shares = solve(system.capacities, system.flows);
    std::vector<std::size_t> order(system.flows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    std::vector<FairShareFlow> permuted;
    for (const std::size_t f : order) {
      const Flow& flow = system.flows[f];
      permuted.push_back({flow.uses, flow.weight, flow.multiplicity});
    }
    std::vector<FairShare> again;
    used_before.solve(system.capacities, permuted, again);
    for (std::size_t k = 0; k < order.size(); ++k) {
      same = same && compare(again[k].rate, shares[order[k]].rate) == 0 &&
             again[k].bottleneck == shares[order[k]].bottleneck;
    }
  }
  CHECK(same);
}

TEST_CASE("m equal flows and one of multiplicity m get the same", "[fair_share]") {
  std::mt19937_64 random(5);
  bool same = true;
  for (int i = 0; i < systems; ++i) {
    const System folded = random_system(random, 1000);
    System unfolded{folded.capacities, {}};
    std::vector<std::size_t> first;
    for (const Flow& flow : folded.flows) {
      first.push_back(unfolded.flows.size());
      unfolded.flows.insert(unfolded.flows.end(), flow.multiplicity, {flow.uses, flow.weight, 1});
    }
    const std::vector<FairShare> few = solve(folded.capacities, folded.flows);
    const std::vector<FairShare> many = solve(unfolded.capacities, unfolded.flows);
    for (std::size_t f = 0; f < few.size(); ++f) {
      same = same && compare(few[f].rate, many[first[f]].rate) == 0 &&
             few[f].bottleneck == many[first[f]].bottleneck;
    }
  }
  CHECK(same);
}

}  // namespace
}  // namespace collsim
