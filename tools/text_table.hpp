#pragma once

// Text in columns, padded by display width. Cells are UTF-8; each code point counts as one column.

#include <cstdint>
#include <string>
#include <vector>

namespace collsim {

enum class Align : std::uint8_t { left, right };

class TextTable {
 public:
  void add_column(std::string heading, Align align = Align::right);
  /// Missing cells at the end are empty. Requires: no more cells than columns.
  void add_row(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Heading, a rule, the rows; each line indented by `indent` and ended by a newline, no trailing blanks.
  [[nodiscard]] std::string render(const std::string& indent = "") const;

 private:
  struct Column {
    std::string heading;
    Align align;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// A bar of eighth blocks, `width` columns long for a fraction of 1.
[[nodiscard]] std::string bar(double fraction, std::size_t width);

}  // namespace collsim
