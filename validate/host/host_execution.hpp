#pragma once

// Runs a program on threads of this machine: one thread a rank, connections as FIFOs in shared memory.
//
// The same interpreter of steps as every real executor (execution/rank_run.hpp). A rank that can do nothing looks a while
// (where every rank has a core of its own), then sleeps until a peer rings. Ranks may be many more than cores.
// What the bytes go through is caches and memory: nothing of GPUs, NVLink or networks. NVLink SHARP's steps are
// loops over what all ranks have sent.

#include <chrono>
#include <cstdint>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "algorithms/program.hpp"
#include "topology/error.hpp"
#include "validate/execution/execution_error.hpp"
#include "validate/execution/outcome.hpp"
#include "validate/execution/rank_memory.hpp"
#include "validate/execution/rank_run.hpp"
#include "validate/execution/script.hpp"
#include "validate/host/channel.hpp"
#include "validate/host/doorbell.hpp"

namespace collsim {

struct HostOptions {
  /// Without any work of any rank for so long, the run has failed.
  std::chrono::milliseconds patience{30'000};
};

class HostExecution {
 public:
  /// Throws: as script_of; SimulationError where one end of a connection has more messages than the other.
  HostExecution(std::shared_ptr<const Program> program, const HostOptions& options);
  ~HostExecution();
  HostExecution(const HostExecution&) = delete;
  HostExecution& operator=(const HostExecution&) = delete;

  /// Bytes that such an execution takes, and those of a rank. Complexity: that of walking all steps, or the rank's.
  [[nodiscard]] static std::size_t memory_of(const Program& program);
  [[nodiscard]] static std::size_t memory_of(const Program& program, Rank rank);

  [[nodiscard]] RankMemory& memory(Rank rank);
  /// Steps of one call that a GPU's NVLink switch would take.
  [[nodiscard]] std::uint64_t emulated_steps() const;

  /// Runs the program so many times, each rank back to back. Returns for each rank how long all its calls took since
  /// all were told to begin.
  /// Throws: ExecutionError where nothing moves any more: who waits for whom; InputError (too_few_threads).
  std::vector<std::chrono::nanoseconds> run(std::uint32_t calls);

 private:
  class SharedWire;
  struct RankState;
  struct Start;

  void connect();
  [[nodiscard]] std::vector<std::jthread> start_threads(std::uint32_t calls, Start& start) const;
  void work(RankState& rank, std::uint32_t calls, Start& start) const;
  void watch(Start& start);
  [[nodiscard]] std::uint64_t work_done() const;
  [[nodiscard]] ExecutionError stalled() const;

  std::shared_ptr<const Program> program_;
  HostOptions options_;
  std::uint32_t looks_;  ///< before a rank sleeps
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<std::unique_ptr<RankState>> ranks_;
};

/// What a machine that starts no more threads means to the user: fewer ranks.
[[nodiscard]] InputError too_few_threads(std::size_t started, std::size_t wanted,
                                         const std::system_error& why);

/// Times a program and checks its data. Throws: as HostExecution.
[[nodiscard]] ExecutionOutcome execute_on_host(const std::shared_ptr<const Program>& program,
                                               const ExecutionRequest& request);

}  // namespace collsim
