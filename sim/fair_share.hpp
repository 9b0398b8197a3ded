#pragma once

// Max-min fair sharing of resources among flows, on plain vectors: no host, link or route in sight.
//
// Flow f has one rate x_f >= 0 and takes a·x_f of every resource it uses (a: a positive rational).
// Progressive filling: raise all x_f / weight_f together; when a resource is exhausted, freeze the
// flows that use it; go on with the rest. Rates come out as exact fractions:
//     share of a resource = (capacity - frozen) / sum of weight·multiplicity·a over unfrozen flows,
// two integers. Ties of bottlenecks are found by cross-multiplication and frozen in one round. Only
// what a frozen flow takes from *other* resources is rounded: up to the next unit (2^-10 B/s) per
// single flow, then times its multiplicity.
// Source: Bertsekas and Gallager, Data Networks, §6.5.2 (progressive filling).

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
};

struct FairShareFlow {
  std::span<const ResourceUse> uses;  ///< at least one; no resource twice
  std::uint32_t weight = 1;           ///< fair-share weight
  std::uint32_t multiplicity = 1;     ///< counts as that many equal flows
};

struct FairShare {
  Rate rate;                     ///< of each single flow
  std::uint32_t bottleneck = 0;  ///< the resource that froze it (lowest number of those tied)
};

/// Solves many small systems without allocating each time.
class FairShareSolver {
 public:
  /// `capacities[r]` in units of 2^-10 B/s, positive, for every resource that a flow uses. Writes
  /// one entry a flow to `shares`, in the same order. Throws: std::overflow_error where the exact
  /// fractions exceed 64-bit numerators or denominators. Complexity: O(uses · log + rounds) by a
  /// heap over resources; memory O(resources used).
  void solve(std::span<const std::int64_t> capacities, std::span<const FairShareFlow> flows,
             std::vector<FairShare>& shares);

 private:
  struct Resource;
  std::vector<std::uint32_t> slot_of_resource_;  ///< sparse: capacity index → dense slot
};

}  // namespace collsim
