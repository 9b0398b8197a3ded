#include "tools/text_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "topology/error.hpp"

namespace collsim {

namespace {

std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;  // not a UTF-8 continuation byte
  }));
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string blanks(width - std::min(width, display_width(text)), ' ');
  return align == Align::Left ? text + blanks : blanks + text;
}

void end_line(std::string& out) {
  while (!out.empty() && out.back() == ' ') {
    out.pop_back();
  }
  out += '\n';
}

}  // namespace

std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!lines.back().empty() && display_width(lines.back()) + 1 + display_width(word) > width) {
      lines.emplace_back();
    }
    if (!lines.back().empty()) {
      lines.back() += ' ';
    }
    lines.back() += word;
    begin = end + 1;
  }
  return lines;
}

void TextTable::add_column(std::string heading, Align align, std::size_t max_width) {
  columns_.push_back({std::move(heading), align, max_width});
}

void TextTable::add_row(std::vector<std::string> cells) {
  COLLSIM_ENSURE(cells.size() <= columns_.size(), "a row has more cells than the table columns");
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<TextTable::Row> TextTable::wrapped_rows() const {
  std::vector<Row> lines;
  for (const Row& row : rows_) {
    const std::size_t first = lines.size();
    lines.emplace_back(columns_.size());
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::vector<std::string> parts =
          columns_[c].max_width == 0 ? Row{row[c]} : wrapped(row[c], columns_[c].max_width);
      while (lines.size() < first + parts.size()) {
        lines.emplace_back(columns_.size());
      }
      for (std::size_t i = 0; i < parts.size(); ++i) {
        lines[first + i][c] = parts[i];
      }
    }
  }
  return lines;
}

std::string TextTable::render(const std::string& indent) const {
  const std::vector<Row> lines = wrapped_rows();
  std::vector<std::size_t> widths;
  Row headings;
  Row rules;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = display_width(columns_[c].heading);
    for (const Row& line : lines) {
      width = std::max(width, display_width(line[c]));
    }
    widths.push_back(width);
    headings.push_back(columns_[c].heading);
    rules.emplace_back(width, '-');
  }
  std::string out;
  const auto add_line = [&](const Row& cells) {
    out += indent;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) {
        out += "  ";
      }
      out += padded(cells[c], widths[c], columns_[c].align);
    }
    end_line(out);
  };
  add_line(headings);
  add_line(rules);
  for (const Row& line : lines) {
    add_line(line);
  }
  return out;
}

std::string bar(double fraction, std::size_t width) {
  static constexpr std::array<const char*, 8> eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double clamped = std::clamp(fraction, 0.0, 1.0);
  const auto units =
      static_cast<std::size_t>(std::lround(clamped * static_cast<double>(width) * 8));
  std::string text;
  for (std::size_t i = 0; i < units / 8; ++i) {
    text += "█";
  }
  return text + eighths.at(units % 8);
}

}  // namespace collsim
