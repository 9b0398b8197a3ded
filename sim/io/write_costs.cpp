#include "sim/io/write_costs.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "topology/error.hpp"
#include "topology/quantity_text.hpp"

namespace collsim {

namespace {

/// The shortest text that reads as the same number.
std::string shortest(double value) {
  constexpr std::size_t most = 40;
  std::string text(most, '\0');
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  COLLSIM_ENSURE(error == std::errc{}, "a number has a text");
  text.resize(static_cast<std::size_t>(end - text.data()));
  return text;
}

/// A share of so many digits as it is known to.
std::string rounded(double value) {
  constexpr double digits = 1e4;
  return shortest(std::round(value * digits) / digits);
}

std::string value_text(CostItem item, std::int64_t units) {
  switch (definition_of(item).unit) {
    case CostUnit::Picoseconds:
      return to_text(Duration(units));
    case CostUnit::RateUnits:
      return to_text(Bandwidth::from_units(units));
    case CostUnit::Bytes:
      return to_text(Bytes(units));
    case CostUnit::Millionths:
      return shortest(static_cast<double>(units) / 1e6);
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

template <class Values, class Text>
std::string list_of(const Values& values, Text text) {
  std::string list = "[";
  for (const auto& value : values) {
    list += (list.size() > 1 ? ", " : "") + text(value);
  }
  return list + "]";
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    result += c;
  }
  return result + "\"";
}

void write_record(std::ostringstream& out, const CalibrationRecord& record) {
  out << "calibrated:\n";
  out << "  machines: " << list_of(record.machines, quoted) << "\n";
  out << "  nccl: " << list_of(record.nccl, quoted) << "\n";
  out << "  collectives: " << list_of(record.collectives, [](CollectiveKind kind) {
    return std::string(name_of(kind));
  }) << "\n";
  out << "  bytes: { least: " << to_text(record.least_bytes)
      << ", most: " << to_text(record.most_bytes) << " }\n";
  out << "  ranks: { least: " << record.least_ranks << ", most: " << record.most_ranks << " }\n";
  out << "  nodes: " << record.most_nodes << "\n";
  out << "  points: " << record.points << "\n";
  out << "  median_error: " << rounded(record.median_error) << "\n";
  out << "  p90_error: " << rounded(record.p90_error) << "\n";
}

void write_values(std::ostringstream& out, std::span<const WrittenCost> values) {
  std::vector<std::string_view> groups;
  for (const CostDefinition& definition : cost_definitions()) {
    const bool has_values = std::ranges::any_of(values, [&](const WrittenCost& cost) {
      return definition_of(cost.item).group == definition.group;
    });
    if (has_values && std::ranges::find(groups, definition.group) == groups.end()) {
      groups.push_back(definition.group);
    }
  }
  for (const std::string_view group : groups) {
    out << group << ":\n";
    for (const CostDefinition& definition : cost_definitions()) {
      const auto cost = std::ranges::find(values, definition.item, &WrittenCost::item);
      if (definition.group != group || cost == values.end()) {
        continue;
      }
      out << "  " << definition.key << ": { value: " << value_text(cost->item, cost->value.units)
          << ", source: " << name_of(cost->value.source);
      if (cost->value.standard_error > 0) {
        out << ", error: " << rounded(cost->value.standard_error);
      }
      out << " }\n";
    }
  }
}

}  // namespace

std::string write_costs(const CostsFileText& file) {
  std::ostringstream out;
  std::istringstream comment(file.comment);
  for (std::string line; std::getline(comment, line);) {
    out << (line.empty() ? "#" : "# " + line) << "\n";
  }
  out << "description: " << quoted(file.description) << "\n";
  if (!file.base.empty()) {
    out << "base: " << quoted(file.base) << "\n";
  }
  out << "tier: " << name_of(file.tier) << "\n";
  write_record(out, file.record);
  write_values(out, file.values);
  return out.str();
}

}  // namespace collsim
