#pragma once

// From the tests of a text to measured runs: which collective, how many ranks and nodes, who launched, and the rows that can
// be trusted. What cannot is dropped with its line and the reason; what is missing is asked for.

#include "validate/io/nccl_tests_blocks.hpp"
#include "validate/io/nccl_tests_software.hpp"
#include "validate/measurement.hpp"

namespace collsim {

/// Adds the test's runs to `result` (one for each data type, reduction and root), what was dropped of it, and notes.
/// `result.file` is the name for places, and the last guess of the collective.
/// Throws: InputError where neither table nor hints tell the collective or the ranks.
void add_runs_of(const NcclTest& test, const RunContext& context, Measurements& result);

}  // namespace collsim
