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
  Communicator gpus;      ///< rank r runs on gpus[r]
  std::string algorithm;  ///< a name of the table
  std::uint32_t channels = 1;
  std::uint32_t chunks = 1;
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
  std::vector<LinkUse> links;
  Duration elapsed{};  ///< simulated time that `links` covers
  std::uint64_t transfers = 0;
  std::uint64_t events = 0;
  bool contention_ignored = false;
  std::vector<std::string> warnings;
};

/// The program of a job. Throws: InputError as find_algorithm and build_program.
[[nodiscard]] std::unique_ptr<Program> program_of(const Cluster& cluster, const CollectiveJob& job);

/// Runs one isolated call. Checks that no bound is undercut (InternalError; not where contention
/// was ignored).
[[nodiscard]] CollectiveResult run_collective(const Cluster& cluster, const CollectiveJob& job,
                                              const RunOptions& options = {});

/// Runs warmup + timed calls back to back on every GPU and returns the time per timed iteration: by
/// rank (end after the last timed - end after the last warm-up) / timed; `time` is their mean,
/// rounded to the nearest picosecond. Where all ranks end a call together the next one starts from
/// the same state, so further calls are not simulated: they cost the same.
[[nodiscard]] CollectiveResult run_back_to_back(const Cluster& cluster, const CollectiveJob& job,
                                                Iterations iterations,
                                                const RunOptions& options = {});

}  // namespace collsim
