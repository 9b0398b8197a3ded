#pragma once

// Runs the programs of a plan on a real machine.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/measure_calls.hpp"
#include "tools/nccl_tests_table.hpp"
#include "validate/execution/outcome.hpp"

namespace collsim {

struct MeasuredLine {
  PerfRow row;  ///< of nccl-tests' table
  ExecutionOutcome out_of_place;
  std::optional<ExecutionOutcome> in_place;  ///< absent where the collective cannot be
};

/// What runs a program: an executor, or this rank's part of one.
using Execute =
    std::function<ExecutionOutcome(const std::shared_ptr<const Program>&, const ExecutionRequest&)>;

/// One line a call of the plan. Throws: as `execute`.
[[nodiscard]] std::vector<MeasuredLine> run_plan(const MeasureCommand& command,
                                                 const MeasurePlan& plan, const Execute& execute);

/// Throws: InputError if a program on all ranks needs more memory than this machine has, or on one of them.
void require_memory(const MeasureCommand& command, const MeasurePlan& plan,
                    std::optional<Rank> one = std::nullopt);

/// Each is a thread of its own; more do not help anybody.
inline constexpr std::uint32_t most_host_ranks = 4096;
/// Throws: InputError(option) if the backend host starts fewer threads.
void require_threads(std::uint32_t ranks, const std::string& option);

/// What is wrong with the data, a text a rank and run that has any.
[[nodiscard]] std::vector<std::string> wrong_data(const MeasurePlan& plan,
                                                  const std::vector<MeasuredLine>& lines);

}  // namespace collsim
