#pragma once

// Folding: of lanes that do the same at the same times one is simulated, and its result is that of all.
//
// Which ones do is found by colour refinement (refinement.hpp) of a graph of ranks, lanes, links and
// proxies. They begin with what they are: a lane with its shape (lane_shape.hpp) and what costs depend
// on, a rank with what its launch costs, a link with its bandwidth, latency, kind and level. Then they
// are told apart by whom they deal with: a lane by the lanes at the other ends of its slots, by its rank, by the lanes whose steps it
// waits for, by the groups that it joins and by the links of its paths with the parts of the bytes that
// cross them; a group by its lanes, in order; a rank by the lanes of each channel, in order; a link by the
// paths that cross it. In the partition that comes out,
//   (1) lanes of a class have the same shape, and slot for slot peers of the same class at the same slot;
//   (2) their paths cross links of the same classes, in the same parts;
//   (3) each link of a class is crossed by as many paths of a class (of lane and slot) as any other.
// That is verified, edge by edge, before it is used.
//
// Claim: at all times, lanes of a class are in the same state, transfers of a class have the same rate
// and the same bytes left, and links of a class carry the same. By induction over the instants at which
// something happens. At the start all lanes wait. Let it hold before an instant. What happens in it to
// a lane (a message arrives or leaves, a credit comes back, a lane of its rank has come so far) happens
// to all of its class, by (1); latencies and costs are equal by (2). So the same transfers start and end
// in each class. Rates of the instant: FairShareSolver raises all levels together; the share of a link,
// (capacity - frozen) / load, is the same for all links of a class by (3), as long as the flows frozen so
// far are whole classes. So links of a class tie as bottlenecks and are frozen in one round with the
// flows on them, which are whole classes by (2) and (3). What a frozen flow takes is rounded per single
// flow, then counted as often as such flows cross the link: the same again. Nothing depends on the order
// of events within an instant (see network.hpp), so the claim holds after it.
//
// Hence one lane a class is executed (folded_program.hpp) over one link a class; with a transfer go the
// numbers of equal ones that cross each of its links (link_classes.hpp). Times of ranks and use of links
// are those of their classes. Ties that attribution decides by number (the lowest rank that ends last,
// the lowest lane) come out alike because the lowest of each class stands for it; of links that limit a
// transfer alike the level counts first, which is the same for a class. Channels of a rank may change places
// (the trees of a pair are each other's mirror image), since lanes of several channels never meet in such a tie:
// where they wait for each other, or a rank runs one operation after another, all lanes have one order.
//
// Of lanes that stand for others, slots may be alike, too: see slots_alike.hpp.
//
// Not folded, and said so: runs that an observer watches or whose critical path is asked for; changes of
// capacity; GPUs in several communicators; the memory of hosts, whose rate depends on who has
// connections; lanes with too many steps or slots to compare; and where no two lanes are alike (hashed
// routes, chunks of different sizes, trees).
// Source of the idea: lumping of Markov chains and quotients by equitable partitions (Godsil and Royle,
// Algebraic Graph Theory, §9.3).

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/executor.hpp"
#include "sim/folded_program.hpp"
#include "sim/folding.hpp"
#include "sim/link_classes.hpp"
#include "sim/workload.hpp"
#include "topology/cluster.hpp"

namespace collsim::detail {

/// What is executed in place of a workload.
struct FoldPlan {
  Workload workload;  ///< of FoldedPrograms
  /// By operation: its program.
  std::vector<std::shared_ptr<const FoldedProgram>> programs;
  LinkClasses links;
};

struct FoldResult {
  std::unique_ptr<const FoldPlan> plan;  ///< null: not folded
  Folding folding;
};

/// Complexity: O((steps to walk) + (hops of all routes) · log).
[[nodiscard]] FoldResult fold(const Cluster& cluster, const Workload& workload,
                              const RunOptions& options);

/// Whether a workload has so few transfers that nothing but running it is worth while.
[[nodiscard]] bool is_small(const Workload& workload);

/// The result of the workload from that of its plan.
[[nodiscard]] RunResult unfolded(const FoldPlan& plan, RunResult&& folded);

}  // namespace collsim::detail
