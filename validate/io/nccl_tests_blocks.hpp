#pragma once

// The tests of a text: each run of a program of nccl-tests with its header, its devices, its table and its summary, as
// far as they are there. What belongs to which table is told by the order of the lines of one stream; what NCCL
// logged, by its place in the file.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "validate/io/nccl_tests_columns.hpp"
#include "validate/io/nccl_tests_header.hpp"
#include "validate/io/nccl_tests_placement.hpp"
#include "validate/io/nccl_tests_row.hpp"
#include "validate/io/text_lines.hpp"

namespace collsim {

/// A line, and what is wrong with it.
struct LineProblem {
  std::uint32_t line = 0;
  std::string why;
};

/// One test.
struct NcclTest {
  std::uint32_t line = 0;  ///< where it begins
  TestVersion version;
  std::string program;  ///< "all_reduce", where the test itself says so
  std::optional<TestParameters> parameters;
  Placement placement;
  std::optional<TableColumns> columns;
  std::uint32_t table_line = 0;
  std::vector<TableRow> rows;
  std::vector<LineProblem> dropped;
  std::uint32_t last_line = 0;     ///< of the table
  bool summary = false;            ///< behind the table
  bool failed_check = false;       ///< the summary counts values that are wrong
  std::uint32_t test_failure = 0;  ///< line of a failure that the test reports; 0: none
  std::uint32_t alone = 0;  ///< line that shows that each process ran a test of its own; 0: none
};

/// What stands anywhere in the file, by line.
template <class Fact>
struct AtLine {
  std::uint32_t line = 0;
  Fact fact;
};

struct LogFacts {
  std::vector<AtLine<LibraryVersion>> versions;
  std::vector<AtLine<LoggedVariable>> variables;
  std::vector<AtLine<std::string>> programs;  ///< in command lines and titles
};

[[nodiscard]] LogFacts log_facts_of(const std::vector<TextLine>& lines);

/// In the order of their tables. Tests without a table are among them.
/// Throws: InputError for more than 200,000 rows, 20,000 tests, or 65,536 devices or processes.
[[nodiscard]] std::vector<NcclTest> nccl_tests_of(const std::vector<TextLine>& lines);

}  // namespace collsim
