#pragma once

// Simulates what `perf` asks for: every type, reduction, root and size, out of place and in place.

#include <cstdint>
#include <memory>
#include <vector>

#include "tools/perf_options.hpp"
#include "tools/result_row.hpp"
#include "tools/run_info.hpp"

namespace collsim {

class PerfRun {
 public:
  /// Requires: all three outlive it.
  PerfRun(const PerfCommand& command, const Machine& machine, const PerfPlan& plan);

  void run();

  /// One entry a line of nccl-tests' table.
  [[nodiscard]] const std::vector<PerfRow>& table() const { return table_; }
  /// What was simulated: out of place, then in place where the collective allows it.
  [[nodiscard]] const std::vector<ResultRow>& rows() const { return rows_; }
  /// The program of a row with every channel, as a real machine runs it.
  [[nodiscard]] std::shared_ptr<const Program> whole_program(const ResultRow& row) const;
  /// Of `rows`, one each.
  [[nodiscard]] const std::vector<RunInfo>& infos() const { return infos_; }
  /// Whether a check of the data found something.
  [[nodiscard]] bool failed() const { return failed_; }
  /// Rows whose programs are too long to be checked.
  [[nodiscard]] std::uint64_t unchecked() const { return unchecked_; }

 private:
  void add_series(DataType type, ReductionOp op, std::int64_t root);
  void add_line(const CollectiveCall& call, Bytes requested, std::int64_t root);
  /// Out of place.
  [[nodiscard]] CollectiveJob job_for(const CollectiveCall& call) const;
  void choose_algorithm(ResultRow& row) const;
  [[nodiscard]] RunOptions run_options() const;
  PerfTime measure(ResultRow row);
  void check(ResultRow& row);
  void simulate(ResultRow& row, const RunSize& size) const;
  void warn_of_falling_times(std::size_t first, InPlace in_place);

  const PerfCommand* command_;
  const Machine* machine_;
  const PerfPlan* plan_;
  std::optional<CostParameters> costs_;
  std::string algorithm_;  ///< what --algorithm means here
  std::optional<NcclRun> nccl_;
  ProgressLine line_;
  std::vector<PerfRow> table_;
  std::vector<ResultRow> rows_;
  std::vector<RunInfo> infos_;
  bool failed_ = false;
  std::uint64_t unchecked_ = 0;
};

}  // namespace collsim
