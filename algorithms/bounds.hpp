#pragma once

// Lower bounds on the time of any algorithm, from what must cross the cuts of the machine.
//
// Without in-network reduction (S the size, n the ranks, U a set of ranks):
//   all_reduce: total sent >= 2(n-1)S over the sum of the GPUs' egress; each U: S out and S in.
//   all_gather: (n-|U|)/n·S in and |U|/n·S out; reduce_scatter the reverse.
//   broadcast: S into each U without the root, S out of each U with it (and ranks outside); reduce
//   the reverse. gather: |U|/n·S out of each U without the root, (n-|U|)/n·S into each U with it;
//   scatter the reverse. all_to_all: |U|(n-|U|)/n·S each way. send_recv: S for each rank of U whose
//   peer is outside.
// U = each GPU, each node, and each leaf group: the nodes whose NICs hang on the same leaf switches
// (directly or through each other), where there is more than one. Latency: the longest of the
// quickest paths that data must take, other GPUs' help allowed.
//
// All numbers are exact: blocks are counted in bytes, and rounding up to the next picosecond keeps
// a bound a bound, because every simulated time is a whole number of picoseconds.
// Ignored: reductions and multicast inside the network; that bandwidth and latency add up.
// Source: Chan et al. 2007, "Collective communication: theory, practice, and experience", §3;
// Patarasuk and Yuan 2009 (bandwidth-optimal all-reduce).

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "algorithms/collective.hpp"
#include "topology/cluster.hpp"

namespace collsim {

struct Bound {
  std::string name;   ///< "gpu cut", "node cut", "leaf group cut", "total sent", "latency"
  std::string where;  ///< the tightest place ("node3"), empty where it is the machine as a whole
  Duration time{};
};

/// Where the network reduces, bounds on what all ranks send together do not apply.
enum class Reduction : std::uint8_t { AtRanks, InNetwork };

/// The bounds that apply to this call on these GPUs (rank r runs on gpus[r]), tightest first.
/// Empty for 1 rank or 0 bytes.
/// Requires: as many GPUs as the call has ranks, each once.
/// Throws: InputError if what crosses a cut, its links' bandwidth or the time does not fit.
/// Complexity: O(ranks + links), and at most about 10^6 link visits for the latency: on larger
/// machines it comes from a part of the ranks, which leaves a valid bound.
[[nodiscard]] std::vector<Bound> lower_bounds(const Cluster& cluster,
                                              std::span<const DeviceId> gpus,
                                              const CollectiveCall& call,
                                              Reduction reduction = Reduction::AtRanks);

}  // namespace collsim
