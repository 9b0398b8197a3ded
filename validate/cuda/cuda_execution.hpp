#pragma once

// Runs a program on the GPUs of this process: one launch a GPU and call, a block a lane.
//
// Ranks on one GPU have their own memory each and share the launch; all blocks are resident together (a cooperative launch), or the
// program is refused. Several GPUs write each other's memory directly (peer access), driven by one thread: a launch is asynchronous.
// Several processes (CUDA IPC) are not supported: that is what nccl-tests is for.
// For files that have the CUDA runtime's headers.

#include <chrono>
#include <cstdint>
#include <vector>

#include "kernels/cuda_handles.hpp"
#include "validate/cuda/cuda_backend.hpp"
#include "validate/cuda/gpu_memory.hpp"
#include "validate/cuda/lane_program.hpp"

namespace collsim {

class CudaExecution {
 public:
  /// Throws: as execute_on_gpus.
  CudaExecution(const Program& program, const CudaOptions& options,
                std::chrono::milliseconds patience);
  ~CudaExecution();
  CudaExecution(const CudaExecution&) = delete;
  CudaExecution& operator=(const CudaExecution&) = delete;

  [[nodiscard]] const std::vector<GpuRank>& ranks() const { return ranks_; }
  [[nodiscard]] std::uint64_t emulated_steps() const { return program_.emulated_steps(); }

  /// Runs so many calls back to back; returns the time of all, the mean over the GPUs, as their events say.
  /// Throws: ExecutionError where a wait took too long: the execution cannot be used any more; CudaError.
  Duration run(std::uint32_t calls);
  /// The same, launched as one CUDA graph.
  Duration run_graph(std::uint32_t calls);

 private:
  struct Device;

  void place_ranks();
  void make_blocks(Device& device) const;
  void launch(const Device& device, std::uint32_t calls) const;
  Duration finish();

  LaneProgram program_;
  CudaOptions options_;
  std::chrono::milliseconds patience_;
  std::vector<DeviceBuffer> arenas_;
  std::vector<std::byte*> starts_;
  std::vector<GpuRank> ranks_;
  std::vector<Device> devices_;
};

}  // namespace collsim
