#include "validate/io/nccl_tests_columns.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <utility>

#include "algorithms/collective.hpp"
#include "validate/io/nccl_tests_header.hpp"
#include "validate/io/text_lines.hpp"

namespace collsim {

namespace {

constexpr std::size_t most_columns = 64;

/// Lower case, without a unit: "time_us" and "time(us)" are "time", "algbw_GBs" is "algbw".
std::string plain_name(std::string_view cell) {
  std::string name(trimmed(cell.substr(0, cell.find('('))));
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view unit : {"_bytes", "_b", "_us", "_gbs", "_gbps", "_gb/s"}) {
    if (name.ends_with(unit)) {
      name.resize(name.size() - unit.size());
      break;
    }
  }
  return name;
}

Column column_named(std::string_view cell) {
  constexpr std::array<std::pair<std::string_view, Column>, 19> names{
      {{"size", Column::Size},
       {"bytes", Column::Size},
       {"count", Column::Count},
       {"type", Column::Type},
       {"datatype", Column::Type},
       {"dtype", Column::Type},
       {"redop", Column::Redop},
       {"op", Column::Redop},
       {"root", Column::Root},
       {"time", Column::WallTime},
       {"cputime", Column::CpuTime},
       {"algbw", Column::Algbw},
       {"busbw", Column::Busbw},
       {"#wrong", Column::Wrong},
       {"wrong", Column::Wrong},
       {"nwrong", Column::Wrong},
       {"error", Column::Error},
       {"n", Column::Count},
       {"elements", Column::Count}}};
  const std::string name = plain_name(cell);
  const auto* const found =
      std::ranges::find(names, name, &std::pair<std::string_view, Column>::first);
  return found == names.end() ? Column::Other : found->second;
}

bool is_time(Column column) { return column == Column::WallTime || column == Column::CpuTime; }

char separator_of(std::string_view line) {
  for (const char c : {',', ';', '|'}) {
    if (line.find(c) != std::string_view::npos) {
      return c;
    }
  }
  return ' ';
}

/// Splits at the times; false without one.
bool find_halves(TableColumns& table) {
  const auto first = std::ranges::find_if(table.columns, is_time);
  if (first == table.columns.end()) {
    return false;
  }
  table.first_half = static_cast<std::size_t>(first - table.columns.begin());
  table.second_half = static_cast<std::size_t>(
      std::find_if(first + 1, table.columns.end(), is_time) - table.columns.begin());
  return true;
}

bool is_whole_number(std::string_view text) {
  return !text.empty() && text.size() <= 18 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_root(std::string_view text) { return text == "-1" || is_whole_number(text); }

}  // namespace

bool TableColumns::has(Column column) const {
  return std::ranges::find(columns, column) != columns.end();
}

std::vector<std::string_view> cells_of(std::string_view line, char separator) {
  if (separator == ' ') {
    return words_of(line, most_columns + 2);
  }
  std::vector<std::string_view> cells;
  std::string_view rest = trimmed(line);
  if (separator == '|' && rest.ends_with('|')) {
    rest.remove_suffix(1);
  }
  while (cells.size() < most_columns + 2) {
    const std::size_t end = rest.find(separator);
    cells.push_back(trimmed(rest.substr(0, end)));
    if (end == std::string_view::npos) {
      break;
    }
    rest.remove_prefix(end + 1);
  }
  return cells;
}

std::optional<TableColumns> parse_columns(std::string_view line) {
  const std::string_view text = without_hash(line);
  TableColumns table;
  table.separator = separator_of(text);
  const std::vector<std::string_view> cells = cells_of(text, table.separator);
  if (cells.size() < 3 || cells.size() > most_columns ||
      column_named(cells.front()) != Column::Size) {
    return std::nullopt;
  }
  std::ranges::transform(cells, std::back_inserter(table.columns), column_named);
  const bool named = table.has(Column::Algbw) || table.has(Column::Busbw) ||
                     (table.separator != ' ' && table.columns[1] != Column::Other);
  if (!find_halves(table) || !named) {
    return std::nullopt;
  }
  table.first_generation = cells.front() == "bytes" && cells[1] == "N";
  return table;
}

std::optional<TableColumns> columns_of_row(std::string_view line) {
  const std::vector<std::string_view> cells = words_of(line);
  constexpr std::size_t half = 4;
  if (cells.size() < 3 + half || !is_whole_number(cells[0]) || !is_whole_number(cells[1]) ||
      !parse_data_type(cells[2])) {
    return std::nullopt;
  }
  TableColumns table;
  table.columns = {Column::Size, Column::Count, Column::Type};
  if (cells[3] == "none" || parse_reduction(cells[3])) {
    table.columns.push_back(Column::Redop);
  }
  if ((cells.size() - table.columns.size()) % half == 1 && is_root(cells[table.columns.size()])) {
    table.columns.push_back(Column::Root);
  }
  const std::size_t halves = cells.size() - table.columns.size();
  if (halves != half && halves != 2 * half) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < halves; i += half) {
    table.columns.insert(table.columns.end(),
                         {Column::WallTime, Column::Algbw, Column::Busbw, Column::Wrong});
  }
  find_halves(table);
  return table;
}

}  // namespace collsim
