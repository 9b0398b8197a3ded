#pragma once

// Fair shares that were solved before. What flows get follows from which flows there are and from the
// capacities alone, and in the loops of a collective the same flows meet again and again: so what
// FairShareSolver found for them is kept and looked up.
//
// Flows are told apart by what rates depend on: the route and the terms. Forgets all when there is too
// much of it; what is remembered changes no result.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/network.hpp"

namespace collsim {

/// A flow, as far as rates depend on it.
struct FlowKind {
  std::uint64_t hash = 0;   ///< of the rest
  std::uint64_t route = 0;  ///< a number that no other route has or had
  TransferTerms terms;

  auto operator<=>(const FlowKind&) const = default;
};

/// A kind with its hash.
[[nodiscard]] FlowKind flow_kind(std::uint64_t route, const TransferTerms& terms);

class KnownShares {
 public:
  struct Share {
    Rate rate;
    LinkId bottleneck;
    bool of_link = false;  ///< whether that link set the rate; else a cap did
  };

  /// `most`: flows to be remembered, over all systems.
  explicit KnownShares(std::size_t most = std::size_t{1} << 18U) : most_(most) {}

  /// What the flows get, in their order; empty: not known. `flows`: in ascending order. `hash`: the sum
  /// of theirs. Valid until the next add() or forget().
  [[nodiscard]] std::span<const Share> find(std::span<const FlowKind> flows,
                                            std::uint64_t hash) const;
  /// A place for what flows get that are not known.
  [[nodiscard]] std::span<Share> add(std::span<const FlowKind> flows, std::uint64_t hash);
  /// Capacities have changed.
  void forget();

 private:
  struct Place {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  std::size_t most_;
  std::vector<FlowKind> flows_;
  std::vector<Share> shares_;                        ///< by position in flows_
  std::unordered_map<std::uint64_t, Place> places_;  ///< by hash of the system; never iterated over
};

}  // namespace collsim
