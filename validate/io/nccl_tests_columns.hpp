#pragma once

// What the columns of a table are: from the line that names them ("size count type … time algbw busbw #wrong time …"),
// of any era, or of a CSV or Markdown table made from one; where it is missing, from the shape of the first row.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace collsim {

enum class Column : std::uint8_t {
  Size,
  Count,
  Type,
  Redop,
  Root,
  WallTime,
  CpuTime,
  Algbw,
  Busbw,
  Wrong,  ///< elements that are wrong
  Error,  ///< the largest difference, of builds up to 2022
  Other,
};

/// One table's columns: those of the call, then those of one half or of two (out of place, in place), each of which
/// begins with its time.
struct TableColumns {
  std::vector<Column> columns;
  std::size_t first_half = 0;     ///< index of its time
  std::size_t second_half = 0;    ///< the same; the number of columns where there is one half only
  char separator = ' ';           ///< ' ': blanks
  bool first_generation = false;  ///< of the tests of NCCL 1, which print milliseconds

  [[nodiscard]] bool has(Column column) const;
  [[nodiscard]] bool has_two_halves() const { return second_half < columns.size(); }
};

/// Absent if the line names no size or no time.
[[nodiscard]] std::optional<TableColumns> parse_columns(std::string_view line);

/// The columns of a row without a header: size, count, type, then redop and root as far as they are there, and one
/// half or two of four columns each. Absent if the line does not look like one.
[[nodiscard]] std::optional<TableColumns> columns_of_row(std::string_view line);

/// The cells of a line. Of blanks, as words; else without the blanks around them, and possibly empty.
[[nodiscard]] std::vector<std::string_view> cells_of(std::string_view line, char separator);

}  // namespace collsim
