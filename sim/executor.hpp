#pragma once

// Executes a workload in virtual time: lanes run steps, sends become transfers, receives wait for
// messages. Semantics (docs/concepts.md has the whole text):
//
// A lane runs its steps in order, one at a time; lanes of a rank run side by side. A send starts
// when its lane reaches it, its dependencies are complete, its messages are there and its peer has
// credit; it holds the lane until its last byte has left. The message arrives one route latency
// after that. Latency holds neither lane nor link. A receive is complete when its last byte has
// arrived. Credits come back at once when the receiver's step has taken the message. Local copies
// and reductions, and everything else, take no time. The time of a run is the last rank's end minus
// the start.
//
// Programs whose lanes name a protocol pay, if costs are given, for launch, synchronisation, threads,
// flags and proxies as sim/step_costs.hpp says:
//   - a rank's lanes start a launch after the rank does;
//   - a step with all it waits for holds its lane for its own cost; then its bytes flow, no faster than
//     the lane's threads move them; a step without a send takes its bytes at their local rate;
//   - a message arrives a hand-off after the wire's latency; its credit comes back when the receiving
//     step is complete;
//   - over the network a message is first copied to where the rank's proxy finds it, which holds the
//     lane; the proxy works on the messages of its GPU side by side; those of a connection go over
//     the wire one after the other;
//   - the lanes of a GPU have its memory's bandwidth in equal parts, where that is less than its links
//     could fill (sim/memory_parts.hpp).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/attribution.hpp"
#include "sim/costs.hpp"
#include "sim/folding.hpp"
#include "sim/network.hpp"
#include "sim/step_costs.hpp"
#include "sim/trace.hpp"
#include "sim/workload.hpp"
#include "topology/cluster.hpp"

namespace collsim {

struct RunOptions {
  NetworkModel network = NetworkModel::Flow;
  /// What lanes with a protocol cost; null: nothing. Outlives the run.
  const CostParameters* costs = nullptr;
  CallIs call = CallIs::BackToBack;
  LaunchFrom launch = LaunchFrom::Stream;
  AttributeTo attribute = AttributeTo::Causes;
  /// Of calls back to back: what the process takes to launch one on all its GPUs. Zero: nothing.
  Duration host_per_call{};
  TraceObserver* observer = nullptr;
  FoldMode fold = FoldMode::Auto;  ///< changes no result but its `events` and `folding`
  /// Of folding: where there are more ends of connections and links than that, they are not compared
  /// all with all, and only shifts of ranks are looked for (fold_shift.hpp). Changes no result either.
  std::size_t most_compared = std::size_t{1} << 24U;
  /// Called with how a workload is folded before it is executed; what it throws ends the run.
  std::function<void(const Folding&)> admit;
  bool critical_path = false;  ///< keep back pointers; memory grows with the length of the path
  /// Called now and then with the transfers done so far; returning false stops the run with
  /// SimulationError("interrupted").
  std::function<bool(std::uint64_t transfers)> progress;
};

/// One stretch of the critical path, oldest first. They follow each other without gaps.
struct CriticalStep {
  OperationId operation;
  Rank rank;
  std::uint32_t lane = 0;
  std::uint64_t index = 0;
  Primitive primitive = Primitive::Nothing;
  Bytes bytes;
  std::optional<Rank> from;  ///< the peer whose message it waited for
  Time start;                ///< when what it waited for last was there
  Time left;                 ///< when its sends had left (= start where it sends nothing)
  Time end;                  ///< when the next stretch could start: at the receiver, after latency
};

struct OperationResult {
  Time start;                          ///< first rank's
  Time end;                            ///< last rank's
  std::vector<Duration> time_of_rank;  ///< since the start of the run, by rank
  std::vector<AttributedTime>
      attribution;  ///< of the last rank (lowest of equals), since run start
  std::vector<CriticalStep> critical_path;  ///< if asked for
};

struct RunResult {
  Duration time{};                          ///< of the whole workload
  std::vector<OperationResult> operations;  ///< as in the workload
  std::vector<LinkUse> links;               ///< by LinkId
  std::uint64_t transfers = 0;
  std::uint64_t events = 0;
  bool contention_ignored = false;
  Folding folding;
};

/// Runs a workload to its end.
/// Throws: SimulationError on a deadlock (each blocked rank, lane and step, and what it waits for;
/// the cycle, where there is one) and on messages that nobody received; InputError if a GPU occurs
/// twice in a communicator, or there is no route; RangeError if a time does not fit; InternalError if an invariant breaks (bytes on a
/// link differ from what the programs sent over it); InputError if it is to be folded and cannot. Complexity: O(transfers · log lanes) for
/// `ideal`; memory O(lanes + transfers under way).
[[nodiscard]] RunResult run_workload(const Cluster& cluster, const Workload& workload,
                                     const RunOptions& options = {});

}  // namespace collsim
