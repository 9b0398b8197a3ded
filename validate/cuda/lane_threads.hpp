#pragma once

// All ranks of a program by the GPU's interpreter on threads of the host.
//
// For tests: the kernels' own source, with all its waits, flags and FIFOs, without a GPU. Threads look and give way; nothing sleeps.

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/lane_tables.hpp"
#include "validate/cuda/block_threads.hpp"
#include "validate/cuda/lane_program.hpp"
#include "validate/execution/execution_error.hpp"

namespace collsim {

struct LaneThreadsOptions {
  LaneWire wire = LaneWire::AsProgram;
  std::uint32_t threads = 1;  ///< a block
  /// Groups of ranks whose blocks begin a call together, as those of one GPU do; groups may be a call apart.
  std::uint32_t devices = 1;
  std::uint32_t flags = kernels::all_flags;  ///< after so many messages LL's flags recur
  std::chrono::milliseconds patience{30'000};
};

class LaneThreads {
 public:
  /// Throws: as LaneProgram.
  LaneThreads(const Program& program, const LaneThreadsOptions& options);

  void poison(Rank rank);
  [[nodiscard]] std::span<std::byte> input(Rank rank);
  [[nodiscard]] std::span<std::byte> output(Rank rank);

  /// Runs so many calls, back to back. Throws: ExecutionError where a wait took too long.
  void run(std::uint32_t calls);

 private:
  LaneThreadsOptions options_;
  LaneProgram program_;
  std::vector<ByteBuffer> arenas_;
  std::vector<std::byte*> starts_;
  std::vector<BlocksOfGpu> gpus_;
};

}  // namespace collsim
