#pragma once

// Text in columns, padded by display width. Cells are UTF-8; each code point counts as one column.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace collsim {

enum class Align : std::uint8_t { Left, Right };

/// Breaks a text between words into lines of at most `width` columns; a longer word stays whole.
/// At least one line.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& text, std::size_t width);

class TextTable {
 public:
  /// Cells wider than `max_width` are wrapped; 0: never.
  void add_column(std::string heading, Align align = Align::Right, std::size_t max_width = 0);
  /// Missing cells at the end are empty. Requires: no more cells than columns.
  void add_row(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Heading, a rule, the rows; each line indented by `indent` and ended by a newline, no trailing blanks.
  [[nodiscard]] std::string render(const std::string& indent = "") const;

 private:
  struct Column {
    std::string heading;
    Align align;
    std::size_t max_width;
  };
  using Row = std::vector<std::string>;
  [[nodiscard]] std::vector<Row> wrapped_rows() const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// A bar of eighth blocks, `width` columns long for a fraction of 1.
[[nodiscard]] std::string bar(double fraction, std::size_t width);

}  // namespace collsim
