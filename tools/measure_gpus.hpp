#pragma once

// `measure` on GPUs: our kernels, or NCCL in their place.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/measure_run.hpp"
#include "tools/render_measure.hpp"
#include "validate/cuda/cuda_backend.hpp"
#include "validate/cuda/nccl_backend.hpp"

namespace collsim {

/// What a file of measurements says of the GPUs; empty for other backends.
struct GpuSoftware {
  std::string gpu;
  std::string cuda;
  std::string nccl;

  void add_to(Measurements& measurements) const;
};

class GpuBackend {
 public:
  /// Throws: InputError where the program was built without CUDA, there is no GPU, or no NCCL for its backend.
  explicit GpuBackend(const MeasureCommand& command);

  /// Of NCCL without --ranks: a rank a GPU. Throws: as measure_plan.
  [[nodiscard]] MeasurePlan plan() const;
  /// Throws: as NcclGroup. Requires: this outlives what is returned.
  [[nodiscard]] Execute execute(std::uint32_t ranks);
  [[nodiscard]] std::vector<RankPlace> places(std::uint32_t ranks) const;
  [[nodiscard]] GpuSoftware software() const;

 private:
  MeasureCommand command_;
  CudaFacts facts_;
  std::optional<NcclFacts> nccl_;  ///< of its backend
  std::unique_ptr<NcclGroup> group_;
};

}  // namespace collsim
