#pragma once

// Folding by a shift of the ranks: rank r does what rank r + k does, k ranks further, over links that are
// as good. For programs with too many connections to compare all with all (fold_graph.hpp): every
// connection is compared with one other.
//
// Let s map rank r to r + k modulo their number n, where k divides n. It is checked that lanes of r and of
// s(r) are alike (shape, kind, costs), that a slot of r leads to rank p where that of s(r) leads to s(p), to
// the same lane and slot of it, and that their paths are alike hop for hop. Which link of the one path
// stands where which link of the other does, says where s maps links (and the proxies of GPUs): it is
// checked that this is one map, that no two links go to one, and that a link and its image are alike. Then
// s leaves everything as it is that lanes have to do with, so that its orbits are an equitable partition:
// what (1), (2) and (3) of fold.hpp ask for, without a count.
//
// The smallest k is taken that passes: one node's ranks on one switch, a leaf's on leaves.
// Internal to the executor.

#include <optional>

#include "sim/fold_graph.hpp"
#include "sim/folded_program.hpp"
#include "sim/link_classes.hpp"

namespace collsim::detail {

struct ShiftFold {
  std::shared_ptr<const FoldedProgram> program;
  LinkClasses links;
};

/// Fills in where the job's lanes begin. Absent: no shift leaves the program as it is.
/// Throws: NotFolded as FoldGraph; what programs and routes throw that make no sense.
/// Complexity: O(connections · hops), some hundred nanoseconds each; memory O(links + connections of k ranks).
[[nodiscard]] std::optional<ShiftFold> fold_by_shift(const Cluster& cluster,
                                                     const RunOptions& options, FoldJob& job);

}  // namespace collsim::detail
