#include "validate/io/nccl_tests_row.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <vector>

#include "validate/io/nccl_tests_header.hpp"
#include "validate/io/text_lines.hpp"

namespace collsim {

namespace {

using Cells = std::vector<std::string_view>;

/// Why a row is none. Does not leave this file.
class Unreadable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

constexpr double longest_us = 1e12;  // 11 days

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc{} && parsed.ptr == end ? std::optional(value) : std::nullopt;
}

bool is_absent(std::string_view cell) { return cell.empty() || cell == "N/A" || cell == "-"; }

void read_call_cell(TableRow& row, Column column, std::string_view cell) {
  switch (column) {
    case Column::Size: {
      const auto size = whole(cell);
      if (!size || *size < 0) {
        throw Unreadable("no whole number of bytes");
      }
      row.size = *size;
      return;
    }
    case Column::Count:
      row.count = whole(cell);
      if (!row.count || *row.count < 0) {
        throw Unreadable("no whole number of elements");
      }
      return;
    case Column::Type:
      row.type = parse_data_type(cell);
      if (!row.type) {
        throw Unreadable("a data type that is not known");
      }
      return;
    case Column::Redop:
      row.redop = parse_reduction(cell);
      row.reduces_nothing = cell == "none" || cell.empty();
      if (!row.redop && !row.reduces_nothing) {
        throw Unreadable("a reduction other than sum, prod, max, min and avg");
      }
      return;
    case Column::Root:
      row.root = whole(cell);
      if (!row.root) {
        throw Unreadable("no number of a root");
      }
      return;
    default:
      return;
  }
}

PrintedNumber number_in(std::string_view cell, const char* what) {
  if (const auto number = printed_number(cell)) {
    return *number;
  }
  throw Unreadable(std::string("no number for ") + what);
}

void read_half_cell(RowHalf& half, Column column, std::string_view cell) {
  switch (column) {
    case Column::Algbw:
      half.algbw = number_in(cell, "algbw");
      return;
    case Column::Busbw:
      half.busbw = number_in(cell, "busbw");
      return;
    case Column::Wrong:
    case Column::Error: {
      half.wrong_is_error = column == Column::Error;
      if (!is_absent(cell)) {
        // RCCL marks what is above its limit with an asterisk.
        const bool marked = cell.ends_with('*');
        cell.remove_suffix(marked ? 1 : 0);
        const double value = number_in(cell, half.wrong_is_error ? "error" : "#wrong").value;
        half.wrong = marked ? std::numeric_limits<double>::infinity() : value;
      }
      return;
    }
    default:
      return;
  }
}

std::optional<RowHalf> read_half(const Cells& cells, const TableColumns& table, std::size_t from,
                                 std::size_t column) {
  const std::size_t end = column < table.second_half ? table.second_half : table.columns.size();
  if (is_absent(cells[from])) {
    return std::nullopt;
  }
  RowHalf half;
  half.time_us = number_in(cells[from], "time");
  if (!(half.time_us.value > 0) || half.time_us.value > longest_us) {
    throw Unreadable("no time above 0");
  }
  for (std::size_t i = 1; column + i < end; ++i) {
    read_half_cell(half, table.columns[column + i], cells[from + i]);
  }
  return half;
}

/// Date and time behind the row (-S).
void drop_time_stamp(Cells& cells, const TableColumns& table) {
  const std::size_t size = cells.size();
  if (table.separator == ' ' && size > 2 && cells[size - 1].find(':') != std::string_view::npos &&
      std::ranges::count(cells[size - 2], '-') == 2) {
    cells.resize(size - 2);
  }
}

/// Whether the half that is there follows the place of one that is blank: nccl-tests leaves 32 columns.
bool follows_blank_half(std::string_view line, std::string_view time) {
  constexpr std::size_t blank_half = 30;
  const auto at = static_cast<std::size_t>(time.data() - line.data());
  const std::size_t before = line.substr(0, at).find_last_not_of(" \t");
  return at - (before + 1) >= blank_half;
}

TableRow read(std::string_view line, const TableColumns& table) {
  Cells cells = cells_of(line, table.separator);
  drop_time_stamp(cells, table);
  const std::size_t all = table.columns.size();
  const std::size_t one_half = table.second_half;
  if (cells.size() != all && cells.size() != one_half) {
    throw Unreadable(std::to_string(cells.size()) + " of " + std::to_string(all) +
                     (cells.size() < all ? " columns: the row is cut" : " columns"));
  }
  TableRow row;
  for (std::size_t i = 0; i < table.first_half; ++i) {
    read_call_cell(row, table.columns[i], cells[i]);
  }
  if (cells.size() == all) {
    row.halves[0] = read_half(cells, table, table.first_half, table.first_half);
    if (table.has_two_halves()) {
      row.halves[1] = read_half(cells, table, table.second_half, table.second_half);
    }
  } else {
    const bool second = follows_blank_half(line, cells[table.first_half]);
    row.halves[second ? 1 : 0] = read_half(cells, table, table.first_half, table.first_half);
  }
  return row;
}

}  // namespace

bool looks_like_row(std::string_view line, char separator) {
  const Cells cells = cells_of(line, separator);
  std::size_t numbers = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(cells.size(), 4); ++i) {
    numbers += printed_number(cells[i]) ? 1U : 0U;
  }
  if (has_nccl_log(line)) {
    // A row is indented, and its size may touch the name of a host.
    constexpr std::size_t indented = 4;
    const std::size_t begin = line.find_first_not_of(" \t");
    const bool digit = line[begin] >= '0' && line[begin] <= '9';
    return digit && (begin >= indented || printed_number(cells.front()));
  }
  return !cells.empty() && printed_number(cells.front()) && (numbers >= 2 || cells.size() == 1);
}

ReadRow read_table_row(std::string_view line, const TableColumns& table) {
  if (has_nccl_log(line)) {
    return {std::nullopt, "a line of NCCL begins in the middle of the row"};
  }
  try {
    return {read(line, table), {}};
  } catch (const Unreadable& error) {
    return {std::nullopt, error.what()};
  }
}

}  // namespace collsim
