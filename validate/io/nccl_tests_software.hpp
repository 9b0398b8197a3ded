#pragma once

// The software of a test, as far as its text tells: the version and the variables of NCCL by its log, who launched by
// threads, GPUs and processes.

#include <cstdint>
#include <string>
#include <vector>

#include "validate/io/measurement_hints.hpp"
#include "validate/io/nccl_tests_blocks.hpp"
#include "validate/measurement.hpp"

namespace collsim {

/// A table of known columns and collective.
struct ToldKind {
  std::vector<Column> columns;
  CollectiveKind kind = CollectiveKind::AllReduce;
};

/// What belongs to a test, but does not stand in it.
struct RunContext {
  const LogFacts* facts = nullptr;
  const MeasurementHints* hints = nullptr;
  std::vector<ToldKind> told;    ///< of all tests of the file whose collective is certain
  std::string kind;              ///< "nccl-tests", "nccl-tests JSON": what run.source begins with
  std::uint32_t first_line = 0;  ///< from which on the file's facts belong to the test
};

/// Version, variables and launch of a test on so many ranks; nodes 0: unknown.
[[nodiscard]] MeasuredSoftware software_of(const NcclTest& test, const RunContext& context,
                                           std::uint32_t ranks, std::uint32_t nodes);

}  // namespace collsim
