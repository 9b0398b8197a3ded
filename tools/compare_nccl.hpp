#pragma once

// NCCL's programs among the algorithms that `compare` simulates: they pay what their kernels cost, where
// ours have the wire alone.

#include <optional>
#include <string>
#include <vector>

#include "study/compare.hpp"
#include "tools/nccl_run.hpp"
#include "tools/result_row.hpp"

namespace collsim {

/// An outcome, and the row that output shows of it, where it was simulated.
struct ComparedProgram {
  ComparedAlgorithm outcome;
  std::optional<ResultRow> row;
};

class NcclComparison {
 public:
  /// Everything outlives it. Throws: InputError as NcclRun and cost_parameters.
  NcclComparison(const Machine& machine, const NcclRunOptions& options,
                 const ClusterOptions& cluster, const JobOptions& job, const ResultRow& common,
                 const OutputOptions& output);

  /// One of NCCL's programs on the job of the common row. What NCCL would not run here is not
  /// simulated and says why. Requires: is_nccl_algorithm(name).
  [[nodiscard]] ComparedProgram run(const std::string& name, const CompareOptions& options) const;

 private:
  const Machine* machine_;
  const JobOptions* job_;
  const ResultRow* common_;
  std::optional<CostParameters> costs_;
  NcclRun nccl_;
};

}  // namespace collsim
