#pragma once

// One collective from description to result: builds the program, runs it, compares it with the
// lower bounds, and packs everything that output shows. What `run`, `perf` and `compare` are made
// of.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/bounds.hpp"
#include "algorithms/table.hpp"
#include "sim/executor.hpp"
#include "topology/cluster.hpp"

namespace collsim {

/// A collective on a set of GPUs of a cluster, by a named algorithm.
struct CollectiveJob {
  CollectiveCall call;
  Communicator gpus;  ///< rank r runs on gpus[r]
  /// Other groups of as many GPUs, which run the same at the same time.
  std::vector<Communicator> beside;
  std::string algorithm;  ///< a name of the table, or what `programs` are
  /// Programs made elsewhere, one a group, in place of those of the table.
  std::vector<std::shared_ptr<const Program>> programs;
  std::uint32_t channels = 1;
  std::uint32_t chunks = 1;

  [[nodiscard]] std::size_t groups() const { return 1 + beside.size(); }
  /// `gpus` first, then those beside.
  [[nodiscard]] const Communicator& group(std::size_t i) const {
    return i == 0 ? gpus : beside[i - 1];
  }
};

/// Iterations back to back, as nccl-tests times them.
struct Iterations {
  std::uint32_t warmup = 0;
  std::uint32_t timed = 1;
};

struct CollectiveResult {
  std::string algorithm;
  std::uint32_t channels = 1;
  std::uint32_t chunks = 1;
  Duration time{};  ///< of one iteration: last rank's end; back to back: see run_back_to_back
  std::vector<Duration> time_of_rank;
  std::vector<AttributedTime> attribution;  ///< sums to `time`
  std::vector<CriticalStep> critical_path;
  std::vector<Bound> bounds;  ///< tightest first
  // All calls that were simulated together, warm-up included. `links` over `elapsed` is the use of
  // the links, however many there were.
  std::vector<LinkUse> links;
  Duration elapsed{};
  std::uint64_t transfers = 0;
  std::uint64_t events = 0;
  std::uint32_t simulated_calls = 1;

  /// With groups side by side: the last end of each, `gpus` first; back to back the mean as of `time`. What else stands here is of the
  /// slowest one (the first of equals), but for the use of links, transfers and events.
  std::vector<Duration> time_of_group;
  std::size_t slowest_group = 0;

  bool contention_ignored = false;
  Folding folding;
  std::vector<std::string> warnings;
};

/// What a job asks of an algorithm: its call, channels and chunks, and the node of each rank.
[[nodiscard]] ProgramRequest request_of(const Cluster& cluster, const CollectiveJob& job);

/// The program of a job. Throws: InputError as find_algorithm and build_program, and if the job has
/// more or fewer GPUs than the call has ranks.
[[nodiscard]] std::unique_ptr<Program> program_of(const Cluster& cluster, const CollectiveJob& job);

/// The same for each group, `gpus` first. Groups whose ranks are spread over nodes alike share one.
[[nodiscard]] std::vector<std::shared_ptr<const Program>> programs_of(const Cluster& cluster,
                                                                      const CollectiveJob& job);

/// Runs one isolated call (in all groups at once, where there are several). Checks that no bound is
/// undercut (InternalError; not where contention was ignored). Throws: as program_of and
/// run_workload; RangeError if the links of a level together carried 2^63 bytes or more.
[[nodiscard]] CollectiveResult run_collective(const Cluster& cluster, const CollectiveJob& job,
                                              const RunOptions& options = {});

/// Runs warmup + timed calls back to back on every GPU and returns the time per timed iteration: by
/// rank (end after the last timed - end after the last warm-up) / timed, rounded to the nearest
/// picosecond; `time` is the mean over the ranks, rounded likewise. Where all ranks end a call
/// together the next one starts from the same state, so further calls are not simulated: they cost
/// the same, and the result is that of run_collective. Where a few calls have come
/// to repeat each other exactly, a period apart, the others are not simulated either: `attribution`,
/// `links`, transfers and events are those of the few.
///
/// Else calls overlap, and no single path has the length of `time`: `attribution` is that of the last
/// rank's end over all calls, scaled to `time` (largest remainders), and `critical_path` is the
/// one over all calls. Bounds are given but not checked: a call may begin before the previous one
/// ends. An observer sees all calls that are simulated, of a steady state the one.
/// Groups side by side all run their calls back to back, each for itself; the slowest is that with the
/// longest mean.
/// Throws: as run_collective; InputError if no iteration is timed.
[[nodiscard]] CollectiveResult run_back_to_back(const Cluster& cluster, const CollectiveJob& job,
                                                Iterations iterations,
                                                const RunOptions& options = {});

/// Gives the result another time (a rank's, or another mean) and scales the attribution, so that it
/// sums to it exactly.
void retime(CollectiveResult& result, Duration time);

}  // namespace collsim
