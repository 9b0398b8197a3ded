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
  return align == Align::left ? text + blanks : blanks + text;
}

void end_line(std::string& out) {
  while (!out.empty() && out.back() == ' ') out.pop_back();
  out += '\n';
}

}  // namespace

void TextTable::add_column(std::string heading, Align align) {
  columns_.push_back({std::move(heading), align});
}

void TextTable::add_row(std::vector<std::string> cells) {
  COLLSIM_ENSURE(cells.size() <= columns_.size(), "a row has more cells than the table columns");
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::render(const std::string& indent) const {
  std::vector<std::size_t> widths;
  widths.reserve(columns_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = display_width(columns_[c].heading);
    for (const auto& row : rows_) width = std::max(width, display_width(row[c]));
    widths.push_back(width);
  }
  std::string out = indent;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (c > 0) out += "  ";
    out += padded(columns_[c].heading, widths[c], columns_[c].align);
  }
  end_line(out);
  out += indent;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (c > 0) out += "  ";
    out += std::string(widths[c], '-');
  }
  end_line(out);
  for (const auto& row : rows_) {
    out += indent;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) out += "  ";
      out += padded(row[c], widths[c], columns_[c].align);
    }
    end_line(out);
  }
  return out;
}

std::string bar(double fraction, std::size_t width) {
  static constexpr std::array<const char*, 8> eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double clamped = std::clamp(fraction, 0.0, 1.0);
  const auto units =
      static_cast<std::size_t>(std::lround(clamped * static_cast<double>(width) * 8));
  std::string text;
  for (std::size_t i = 0; i < units / 8; ++i) text += "█";
  return text + eighths.at(units % 8);
}

}  // namespace collsim
