#pragma once

// The machine of a test, as far as its text tells: ranks, nodes and GPUs by the device lines, the version and the
// variables of NCCL by its log, who launched by threads, GPUs and processes. Names of hosts only tell them apart.

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

/// Where a test ran.
struct Placement {
  std::uint32_t ranks = 0;  ///< 0: unknown
  std::uint32_t nodes = 0;
  std::uint32_t processes = 0;
  std::uint32_t gpus_per_node = 0;
  std::string gpu;
  bool gpus_differ = false;
  std::uint32_t groups = 1;
};

[[nodiscard]] Placement placement_of(const std::vector<TestDevice>& devices);

/// Version, variables and launch of a test on so many ranks; nodes 0: unknown.
[[nodiscard]] MeasuredSoftware software_of(const NcclTest& test, const RunContext& context,
                                           const Placement& placement, std::uint32_t ranks,
                                           std::uint32_t nodes);

}  // namespace collsim
