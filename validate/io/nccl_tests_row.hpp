#pragma once

// A line of a table as numbers, by its columns. Whether they agree with each other is another question
// (nccl_tests_evidence.hpp).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "algorithms/collective.hpp"
#include "validate/io/nccl_tests_columns.hpp"
#include "validate/io/printed_number.hpp"

namespace collsim {

/// One measurement: out of place or in place.
struct RowHalf {
  PrintedNumber time_us;
  std::optional<PrintedNumber> algbw;
  std::optional<PrintedNumber> busbw;
  std::optional<double> wrong;  ///< absent: not checked
  bool wrong_is_error = false;  ///< the largest difference, not a number of elements
};

struct TableRow {
  std::uint32_t line = 0;
  std::int64_t size = 0;
  std::optional<std::int64_t> count;
  std::optional<DataType> type;
  std::optional<ReductionOp> redop;
  bool reduces_nothing = false;  ///< the row says "none"
  std::optional<std::int64_t> root;
  std::array<std::optional<RowHalf>, 2>
      halves;  ///< out of place, in place; of tables with one half: the first
};

/// The row, or why it is none.
struct ReadRow {
  std::optional<TableRow> row;
  std::string why;
};

/// Whether a line in a table was meant as a row, or is part of one: it begins with a number, and holds another one, or
/// nothing else, or a line of NCCL.
[[nodiscard]] bool looks_like_row(std::string_view line, char separator);

[[nodiscard]] ReadRow read_table_row(std::string_view line, const TableColumns& table);

}  // namespace collsim
