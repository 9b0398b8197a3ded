#pragma once

// Runs a program on the GPUs of this process: one launch a GPU and call, a block a lane.
//
// Ranks on one GPU have their own memory each and share the launch; all blocks are resident together (a cooperative launch), or the
// program is refused. Several GPUs write each other's memory directly (peer access), driven by one thread: a launch is asynchronous.
// A process a rank: ipc_machine.hpp. For files that have the CUDA runtime's headers.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda_handles.hpp"
#include "validate/cuda/cuda_backend.hpp"
#include "validate/cuda/cuda_lanes.hpp"
#include "validate/cuda/gpu_memory.hpp"
#include "validate/cuda/lane_program.hpp"

namespace collsim {

class CudaExecution {
 public:
  /// Throws: as execute_on_gpus.
  CudaExecution(const Program& program, const CudaOptions& options,
                std::chrono::milliseconds patience);

  [[nodiscard]] const std::vector<GpuRank>& ranks() const { return ranks_; }
  [[nodiscard]] const LaneProgram& program() const { return program_; }

  /// Runs so many calls back to back; returns the time of all, the mean over the GPUs, as their events say.
  /// Throws: ExecutionError where a wait took too long: the execution cannot be used any more; CudaError.
  Duration run(std::uint32_t calls);
  /// The same, launched as one CUDA graph.
  Duration run_graph(std::uint32_t calls);

 private:
  CudaExecution(const Program& program, const CudaOptions& options,
                std::chrono::milliseconds patience, const std::vector<std::uint32_t>& gpus);

  void place_ranks(const std::vector<std::uint32_t>& gpus);
  void write_tables();
  void load(int device, std::chrono::milliseconds patience);
  Duration finish();

  LaneProgram program_;
  CudaOptions options_;
  std::vector<DeviceBuffer> arenas_;
  std::vector<std::byte*> starts_;
  std::vector<GpuRank> ranks_;
  /// By GPU. Last: they go first, and wait until nothing runs that might use the memory.
  std::vector<std::unique_ptr<CudaLanes>> lanes_;
};

/// Whether lines of LL128 go whole between two GPUs of this process: over NVLink, which alone has atomics of its own.
/// Throws: CudaError.
[[nodiscard]] WideLines wide_lines_between(int from, int to);

/// Which one of the machine it is: "0000:1b:00.0". Throws: CudaError.
[[nodiscard]] std::string bus_of_gpu(int device);

/// What a GPU's memory lacks for an allocation, as both backends say it. Throws: InputError where `answer` says so; CudaError.
void require_allocated(cudaError_t answer, int device, Rank rank, std::size_t bytes);

}  // namespace collsim
