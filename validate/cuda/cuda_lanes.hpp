#pragma once

// The blocks of a program that one GPU runs: their tables, launches plain and as a graph, times by events, and what a wait that took
// too long has left. For files that have the CUDA runtime's headers.

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/cuda_handles.hpp"
#include "kernels/lane_tables.hpp"
#include "validate/cuda/lane_program.hpp"

namespace collsim {

class CudaLanes {
 public:
  /// Requires: the program outlives it; the blocks fit on the GPU together. Throws: CudaError.
  CudaLanes(int device, const LaneProgram& program, const std::vector<kernels::BlockTable>& blocks,
            std::uint32_t threads, std::chrono::milliseconds patience);
  /// Ends all waits of kernels that still run, and waits for them.
  ~CudaLanes();
  CudaLanes(const CudaLanes&) = delete;
  CudaLanes& operator=(const CudaLanes&) = delete;

  // In this order. A launch does not wait for the kernel.
  void begin();
  void launch();
  void end();
  /// Waits for the calls; returns the milliseconds from begin to end. `watch` (if any) is called now and then; where it throws,
  /// this does. Throws: ExecutionError where a wait took too long: no call can be made any more; CudaError.
  double finish(const std::function<void()>& watch);

  /// So many calls as a graph, ready on the GPU; launch_graph() launches them between begin() and end().
  void make_graph(std::uint32_t calls);
  void launch_graph();

 private:
  void make_current() const;

  int device_;
  const LaneProgram& program_;
  std::uint32_t blocks_;
  std::uint32_t threads_;
  std::chrono::milliseconds patience_;
  PinnedBuffer abort_;
  DeviceBuffer tables_;
  DeviceBuffer failure_;
  CudaStream stream_;
  CudaEvent begin_;
  CudaEvent end_;
  CudaGraphExec graph_;
  kernels::LaunchTable launch_{};
};

}  // namespace collsim
