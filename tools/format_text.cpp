#include "tools/format_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace collsim {

namespace {

struct Unit {
  double size;
  const char* name;
};

template <std::size_t Count>
std::string in_unit(double value, const std::array<Unit, Count>& units) {
  for (const Unit& unit : units) {
    if (value >= unit.size) {
      return fmt::format("{:.4g} {}", value / unit.size, unit.name);
    }
  }
  return fmt::format("{:.4g} {}", value / units.back().size, units.back().name);
}

}  // namespace

std::string human_time(Duration time) {
  static constexpr std::array<Unit, 5> units{
      {{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}, {1, "ps"}}};
  if (time == Duration::zero()) {
    return "0 s";
  }
  return in_unit(static_cast<double>(time.count()), units);
}

std::string human_bytes(Bytes bytes) {
  static constexpr std::array<Unit, 4> units{
      {{1ULL << 40U, "TiB"}, {1ULL << 30U, "GiB"}, {1ULL << 20U, "MiB"}, {1ULL << 10U, "KiB"}}};
  const auto value = static_cast<double>(bytes.count());
  for (const Unit& unit : units) {
    if (value >= unit.size) {
      return fmt::format("{:.4g} {}", value / unit.size, unit.name);
    }
  }
  return fmt::format("{} B", bytes.count());
}

std::string human_bandwidth(Bandwidth bandwidth) {
  static constexpr std::array<Unit, 4> units{
      {{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}}};
  return in_unit(bandwidth.as_bytes_per_second(), units);
}

std::string human_percent(double fraction) { return fmt::format("{:.1f} %", 100.0 * fraction); }

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string counted(std::uint64_t number, std::string_view what) {
  return grouped(number) + " " + std::string(what) + (number == 1 ? "" : "s");
}

}  // namespace collsim
