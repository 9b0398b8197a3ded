#pragma once

// Which collective a table is of, and on how many ranks: as the test says, as a command line before it says, as columns
// and bandwidths tell, as the user says, as it is of the file's other tables with these columns, as the file's name
// suggests, in that order.

#include <cstdint>
#include <optional>
#include <string>

#include "validate/io/nccl_tests_evidence.hpp"
#include "validate/io/nccl_tests_software.hpp"

namespace collsim {

struct TableIdentity {
  CollectiveKind kind = CollectiveKind::AllReduce;
  std::uint32_t ranks = 0;
};

/// The program of the last command line or title before the table.
[[nodiscard]] std::optional<std::string> echoed_program(const NcclTest& test,
                                                        const RunContext& context);

/// The collective that the test says or its table tells alone; absent where there is a doubt.
[[nodiscard]] std::optional<CollectiveKind> told_kind(const NcclTest& test);

/// Notes what was concluded or guessed. Requires: the test has columns.
/// Throws: InputError that names --collective or --ranks where nothing tells.
[[nodiscard]] TableIdentity identify_table(const NcclTest& test, const RunContext& context,
                                           Measurements& result);

}  // namespace collsim
