#pragma once

// Slots of a lane that are alike: in a folded program, slots in a row that lead to one lane over paths as
// good, so that a message over the first of them stands for one over each.
//
// A GPU of a node gives each head of NVLS its block, and is given results by each. Where the heads are one
// class, these messages set out at one instant, are as long, and arrive at one instant. So the executor
// makes one message of them, and one step of steps that use one such slot each, which takes as long as
// they do together.
//
// Let S be slots of a lane L that lead to the slots T of a lane M. They are used in one of two ways:
//   together   by steps that use all of them;
//   in turn    by steps that follow each other as parts of one primitive, each with the next slot. They wait
//              for nothing but the messages; what they send is posted at the end of the primitive.
// At least one of L and M uses them together. What is claimed: all messages that leave L over S between two
// instants arrive at M at the same times, one of each slot; M takes them at one instant or in turn.
// If L sends in turn, then M takes all of them in one step, which gives all credits back at that instant:
// a credit that the first of L's steps has, the others have. If M takes in turn, then L needs all credits at
// once, so the last one counts, which comes back with the last of M's steps. Between these steps nothing
// happens to their lane but that it works: their times add up. And nobody waits for a step within.
//
// Covered: blocks of NVLS (Kernel::Multicast), whose steps cost the same wherever they stand in a lane.
// Internal to the executor.

#include "sim/folded_program.hpp"
#include "topology/cluster.hpp"

namespace collsim::detail {

/// Finds them and tells the program. At most one row of send slots and one of receive slots of a lane.
/// Complexity: as lane_shape.hpp of the lanes that stand for others, and their slots.
void find_slots_alike(const Cluster& cluster, FoldedProgram& program);

}  // namespace collsim::detail
