#pragma once

// `measure` on GPUs: our kernels, or NCCL in their place; all ranks in this process, or a process a rank.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/measure_run.hpp"
#include "tools/rank_place.hpp"
#include "validate/cuda/cuda_backend.hpp"
#include "validate/cuda/nccl_backend.hpp"
#include "validate/measurement.hpp"

namespace collsim {

/// What a file of measurements says of the GPUs; empty for other backends.
struct GpuSoftware {
  std::string gpu;
  std::string cuda;
  std::string nccl;
  std::vector<std::pair<std::string, std::string>> environment;  ///< that this program has set

  void add_to(Measurements& measurements) const;
};

/// The calls of a GPU backend; NCCL's have its name. Looks for no GPU. Throws: as measure_plan.
[[nodiscard]] MeasurePlan gpu_plan(const MeasureCommand& command);

class GpuBackend {
 public:
  /// Throws: InputError where the program was built without CUDA, there is no GPU, or no NCCL for its backend.
  explicit GpuBackend(const MeasureCommand& command);

  // All ranks in this process.
  /// Of NCCL without --ranks: a rank a GPU. Throws: as measure_plan.
  [[nodiscard]] MeasurePlan plan() const { return gpu_plan(command_); }
  /// Throws: as NcclGroup. Requires: this outlives what is returned.
  [[nodiscard]] Execute execute(std::uint32_t ranks);
  [[nodiscard]] std::vector<RankPlace> places(std::uint32_t ranks) const;

  // One rank in this process, in this order.
  /// Agrees with the other ranks who takes which GPU. Throws: InputError where a backend's ranks are on machines that it
  /// does not reach; ExecutionError where one is lost.
  [[nodiscard]] RankGpu take_gpu(ProcessGroup& group);
  /// Throws: InputError where NCCL would have to run several ranks on a GPU, and cannot.
  void require_places(const std::vector<RankPlace>& places);
  /// Requires: this and the group outlive what is returned.
  [[nodiscard]] Execute execute(ProcessGroup& group);

  [[nodiscard]] GpuSoftware software() const;

 private:
  [[nodiscard]] GpuUse use() const { return nccl_ ? GpuUse::Any : GpuUse::Peers; }
  [[nodiscard]] CudaOptions options() const;
  [[nodiscard]] Execute by_nccl() const;
  void let_ranks_share();

  MeasureCommand command_;
  CudaFacts facts_;
  std::optional<NcclFacts> nccl_;  ///< of its backend
  std::unique_ptr<NcclGroup> group_;
  std::uint32_t gpu_ = 0;  ///< of the one rank of this process
  bool ranks_share_ = false;
};

}  // namespace collsim
