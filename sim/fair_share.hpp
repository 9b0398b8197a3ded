#pragma once

// Max-min fair sharing of resources among flows, on plain vectors: no host, link or route in sight.
//
// Flow f has one rate x_f >= 0 and takes a·x_f of every resource it uses (a: a positive rational).
// Progressive filling: raise all x_f / weight_f together; when a resource is exhausted, freeze the
// flows that use it; go on with the rest. Rates come out as exact fractions:
//     share of a resource = (capacity - frozen) / sum of weight·multiplicity·a over unfrozen flows,
// two integers. Ties of bottlenecks are found by cross-multiplication and frozen in one round. Only
// what a frozen flow takes from *other* resources is rounded: up to the next unit (2^-10 B/s) per
// single flow, then times its multiplicity. So the takes never exceed a capacity.
//
// Most resources are nobody's bottleneck, and are left out before the filling starts: those that one flow
// uses alone and that give it more than another such one, and those that could give all their flows as much
// as these get from what they use alone. No flow gets more than that, so their shares stay above the level
// of some flow that is not frozen, in every round: the rates are the same.
//
// Where that rounding eats a resource up while flows on it are not frozen yet (capacities of a few
// units per flow), its share stays at the level of the round that did it: rates are always
// positive. Source: Bertsekas and Gallager, Data Networks, §6.5.2 (progressive filling).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topology/units.hpp"

namespace collsim {

/// What one flow takes of one resource per unit of its rate.
struct ResourceUse {
  std::uint32_t resource = 0;
  std::uint32_t numerator = 1;
  std::uint32_t denominator = 1;
  /// Equal flows that use it for each of the flow's multiplicity.
  std::uint32_t crowd = 1;
};

struct FairShareFlow {
  std::span<const ResourceUse>
      uses;                        ///< at least one; of a resource used in several parts one each
  std::uint32_t weight = 1;        ///< fair-share weight
  std::uint32_t multiplicity = 1;  ///< counts as that many equal flows
  /// The most that each single flow can do whatever the resources have, in units of 2^-10 B/s; 0: no
  /// such limit.
  std::int64_t cap = 0;
};

struct FairShare {
  Rate rate;  ///< of each single flow
  /// The resource that froze it (of those tied, the first in order); no resource's number where its cap
  /// did.
  std::uint32_t bottleneck = 0;
};

/// factor · other_factor / divisor in lowest terms. Requires: all positive. Throws:
/// std::overflow_error if the numerator exceeds 64 bits.
[[nodiscard]] Rate exact_rate(std::int64_t factor, std::int64_t other_factor, std::int64_t divisor);

/// rate / divisor. Requires: divisor > 0. Throws: std::overflow_error if the denominator exceeds 64 bits.
[[nodiscard]] Rate divided(Rate rate, std::uint32_t divisor);

/// The same where a or the rate is a fraction.
[[nodiscard]] std::int64_t fractional_take(const ResourceUse& use, Rate rate);

/// a · rate, rounded up: what a single flow takes of a resource.
[[nodiscard]] inline std::int64_t single_take(const ResourceUse& use, Rate rate) {
  const bool whole = use.numerator == use.denominator && rate.denominator == 1;
  return whole ? rate.numerator : fractional_take(use, rate);
}

/// Solves many small systems without allocating each time.
class FairShareSolver {
 public:
  /// The order of resources that tie as bottlenecks: `order[r]` is the place of resource r. Those behind
  /// the last one of `order`, and all without it, come by number. Outlives the solver.
  void order_ties_by(std::span<const std::uint32_t> order) { order_ = order; }

  /// `capacities[r]` in units of 2^-10 B/s, positive, for every resource that a flow uses. Writes
  /// one entry a flow to `shares`, in the same order. Throws: std::overflow_error where the exact
  /// fractions exceed 64-bit numerators or denominators. Complexity: O(uses · log uses) by a heap
  /// over resources; memory O(uses + largest resource number).
  void solve(std::span<const std::int64_t> capacities, std::span<const FairShareFlow> flows,
             std::vector<FairShare>& shares);

  /// Whether a resource was used up in the last solve(), so that it was the bottleneck of its flows that
  /// were left.
  [[nodiscard]] bool exhausted(std::uint32_t number) const {
    const std::uint32_t slot = slot_of_resource_[number];
    return slot < resources_.size() && resources_[slot].number == number && resources_[slot].frozen;
  }

 private:
  struct Resource {
    std::uint32_t number = 0;      ///< in `capacities`
    std::uint32_t first_flow = 0;  ///< its flows in flows_of_resources_
    std::uint32_t flow_count = 0;
    std::uint32_t entry = 0;     ///< number of its entry in the heap; older ones are void
    std::int64_t remaining = 0;  ///< capacity - frozen
    std::int64_t load = 0;   ///< sum of weight·multiplicity·a over unfrozen flows, times scale
    std::int64_t scale = 1;  ///< common denominator of its flows' a
    std::int64_t spare = 0;  ///< what its flows leave of it at least; 0: perhaps nothing
    Rate floor{0, 1};        ///< its share where rounding ate it up
    bool filled = false;     ///< may be a bottleneck, and so is not left out
    bool frozen = false;
    bool touched = false;  ///< in this round
    bool raised = false;   ///< its share has grown since its entry was made, or is the same
    Rate share;            ///< of its entry
  };
  /// A resource's share per unit of weight, or something below it where it was raised.
  struct Entry {
    Rate share;
    std::uint32_t number = 0;  ///< of the resource
    std::uint32_t place = 0;   ///< among those that tie
    std::uint32_t slot = 0;
    std::uint32_t entry = 0;
  };

  /// What a flow gets at most, by the narrowest resource that it uses alone (of equals, the first in order).
  struct OwnLimit {
    Rate level;              ///< by weight
    std::uint32_t slot = 0;  ///< of that resource
    bool found = false;
  };

  /// What solve() does, with shorter messages.
  void fill(std::span<const std::int64_t> capacities, std::span<const FairShareFlow> flows,
            std::vector<FairShare>& shares);
  void collect(std::span<const std::int64_t> capacities, std::span<const FairShareFlow> flows);
  std::uint32_t slot_of(std::uint32_t number, std::int64_t capacity);
  void add_cap(std::uint32_t number, const FairShareFlow& flow);
  [[nodiscard]] OwnLimit own_limit(std::uint32_t flow) const;
  void spare_what_is_left(std::uint32_t flow, const FairShareFlow& definition);
  [[nodiscard]] bool is_limited_by_others(std::uint32_t flow) const;
  std::size_t leave_out(std::span<const FairShareFlow> flows, std::vector<FairShare>& shares);
  void list_flows_of_resources(std::size_t flows);
  [[nodiscard]] std::uint32_t place_of(std::uint32_t number) const {
    return number < order_.size() ? order_[number] : number;
  }
  [[nodiscard]] Entry new_entry(std::uint32_t slot);
  [[nodiscard]] Rate share_of(const Resource& resource) const;
  void find_bottlenecks();
  void bring_up_front();
  void pop_front();
  void freeze(std::uint32_t flow, const FairShareFlow& definition, const FairShare& share);
  void update_touched(Rate level);

  std::vector<std::uint32_t> slot_of_resource_;  ///< sparse: resource number → slot, see slot_of()
  std::vector<Resource> resources_;              ///< those in use
  std::vector<std::uint32_t> first_use_;         ///< by flow, and the end
  std::vector<std::uint32_t> slot_of_use_;       ///< by flow, then by use
  std::vector<std::uint32_t> flows_of_resources_;
  std::vector<OwnLimit> own_limits_;  ///< by flow
  std::vector<Entry> heap_;           ///< least share first
  std::vector<Entry> bottlenecks_;    ///< of this round, in the order of ties
  std::span<const std::uint32_t> order_;
  std::vector<std::uint32_t> touched_;
  std::vector<std::uint8_t> flow_frozen_;
};

}  // namespace collsim
