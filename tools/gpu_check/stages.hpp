#pragma once

// What the GPU check does, one function a stage. Standard library, CUDA's runtime and the core only.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/gpu_check/plain_json.hpp"
#include "validate/cuda/cuda_backend.hpp"

namespace collsim {

/// Until when what has not begun may begin.
class StageLimit {
 public:
  explicit StageLimit(std::chrono::seconds allowed)
      : end_(std::chrono::steady_clock::now() + allowed) {}
  [[nodiscard]] bool passed() const { return std::chrono::steady_clock::now() > end_; }

 private:
  std::chrono::steady_clock::time_point end_;
};

struct StageOutcome {
  std::uint32_t done = 0;
  std::uint32_t left_out = 0;  ///< for want of time
  std::vector<std::string> failures;
  std::vector<std::string> notes;  ///< what could not be run, and why
};

/// Every algorithm × collective on so many ranks, in and out of place, over all wires; every type and reduction through one.
/// `smallest`: one program a collective, for a memory checker.
[[nodiscard]] StageOutcome check_programs(std::uint32_t ranks, bool smallest,
                                          const StageLimit& deadline);

/// One program a collective with a process a rank; `done` counts ranks. Requires: this process has not used CUDA, which does not
/// survive a fork.
[[nodiscard]] StageOutcome check_processes(std::uint32_t ranks);

/// Times of all algorithms of all collectives over all wires, appended to `runs`; what ends badly is a failure.
[[nodiscard]] StageOutcome time_programs(std::uint32_t ranks, const MeasuredRun& common,
                                         const StageLimit& deadline,
                                         std::vector<MeasuredRun>& runs);

/// The same calls by NCCL, data checked, on as many ranks as it can take of those asked for.
[[nodiscard]] StageOutcome time_nccl(std::uint32_t ranks, const MeasuredRun& common,
                                     const StageLimit& deadline, std::vector<MeasuredRun>& runs);

/// The micro-benchmarks.
[[nodiscard]] StageOutcome measure_figures(std::size_t gpus, const StageLimit& deadline,
                                           std::vector<GpuFigure>& figures);

}  // namespace collsim
