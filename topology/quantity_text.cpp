#include "topology/quantity_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr std::ptrdiff_t most_digits = 30;  // 10^30 < 2^100
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

/// A unit and its size in the quantity's own smallest steps (ps, 2^-10 B/s, bytes).
struct Unit {
  std::string_view name;
  std::int64_t steps;
};

/// What is read: the words for messages, and the units.
struct Quantity {
  std::string_view noun;     ///< "a duration"
  std::string_view example;  ///< "1.2 us"
  std::string_view step;     ///< "1 ps"
  std::string_view limit;    ///< the largest value, about
  std::span<const Unit> units;
  std::string_view units_shown;
};

constexpr std::array<Unit, 7> duration_units{{{"ps", 1},
                                              {"ns", 1'000},
                                              {"us", 1'000'000},
                                              {"\u00B5s", 1'000'000},  // micro sign
                                              {"\u03BCs", 1'000'000},  // Greek mu
                                              {"ms", 1'000'000'000},
                                              {"s", 1'000'000'000'000}}};

constexpr std::int64_t byte_rate = Bandwidth::units_per_byte_per_second;
constexpr std::int64_t bit_rate = byte_rate / 8;

constexpr std::array<Unit, 17> bandwidth_units{{{"B/s", byte_rate},
                                                {"kB/s", byte_rate * 1'000},
                                                {"KB/s", byte_rate * 1'000},
                                                {"MB/s", byte_rate * 1'000'000},
                                                {"GB/s", byte_rate * 1'000'000'000},
                                                {"TB/s", byte_rate * 1'000'000'000'000},
                                                {"PB/s", byte_rate * 1'000'000'000'000'000},
                                                {"KiB/s", byte_rate << 10},
                                                {"MiB/s", byte_rate << 20},
                                                {"GiB/s", byte_rate << 30},
                                                {"TiB/s", byte_rate << 40},
                                                {"b/s", bit_rate},
                                                {"kb/s", bit_rate * 1'000},
                                                {"Kb/s", bit_rate * 1'000},
                                                {"Mb/s", bit_rate * 1'000'000},
                                                {"Gb/s", bit_rate * 1'000'000'000},
                                                {"Tb/s", bit_rate * 1'000'000'000'000}}};

constexpr std::array<Unit, 10> byte_units{{{"B", 1},
                                           {"kB", 1'000},
                                           {"KB", 1'000},
                                           {"MB", 1'000'000},
                                           {"GB", 1'000'000'000},
                                           {"TB", 1'000'000'000'000},
                                           {"KiB", std::int64_t{1} << 10},
                                           {"MiB", std::int64_t{1} << 20},
                                           {"GiB", std::int64_t{1} << 30},
                                           {"TiB", std::int64_t{1} << 40}}};

constexpr std::array<Unit, 17> size_argument_units{{{"", 1},
                                                    {"K", std::int64_t{1} << 10},
                                                    {"k", std::int64_t{1} << 10},
                                                    {"M", std::int64_t{1} << 20},
                                                    {"m", std::int64_t{1} << 20},
                                                    {"G", std::int64_t{1} << 30},
                                                    {"g", std::int64_t{1} << 30},
                                                    {"B", 1},
                                                    {"kB", 1'000},
                                                    {"KB", 1'000},
                                                    {"MB", 1'000'000},
                                                    {"GB", 1'000'000'000},
                                                    {"TB", 1'000'000'000'000},
                                                    {"KiB", std::int64_t{1} << 10},
                                                    {"MiB", std::int64_t{1} << 20},
                                                    {"GiB", std::int64_t{1} << 30},
                                                    {"TiB", std::int64_t{1} << 40}}};

constexpr Quantity duration_quantity{"a duration", "1.2 us",       "1 ps",
                                     "106 days",   duration_units, "ps, ns, us, ms, s"};
constexpr Quantity bandwidth_quantity{
    "a bandwidth",
    "450 GB/s",
    "2^-10 B/s",
    "9 PB/s",
    bandwidth_units,
    "B/s, kB/s, MB/s, GB/s, TB/s, PB/s (bytes), KiB/s, MiB/s, GiB/s, TiB/s (powers of 1024), "
    "b/s, kb/s, Mb/s, Gb/s, Tb/s (bits)"};
constexpr Quantity byte_quantity{
    "a size", "64 MiB",   "1 B",
    "8 EiB",  byte_units, "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB (powers of 1024)"};
constexpr Quantity size_argument_quantity{
    "a size",
    "64M",
    "1 B",
    "8 EiB",
    size_argument_units,
    "none or B (bytes), K, M, G, KiB, MiB, GiB, TiB (powers of 1024), "
    "kB, MB, GB, TB (powers of 1000)"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

[[noreturn]] void refuse(const Quantity& quantity, std::string_view text, std::string hint = {}) {
  throw InputError("expected " + std::string(quantity.noun) + " such as \"" +
                       std::string(quantity.example) + "\", got " + in_quotes(text),
                   {}, std::move(hint));
}

/// digits / 10^fraction_digits, and what follows the number.
struct Decimal {
  U128 digits = 0;
  std::size_t fraction_digits = 0;
  std::string_view unit;
};

/// Splits "1.2 us"; absent if it does not begin with a decimal number.
std::optional<Decimal> split(std::string_view text) {
  Decimal decimal;
  std::size_t at = 0;
  std::ptrdiff_t digits = 0;
  const auto take_digits = [&] {
    const std::size_t begin = at;
    for (; at < text.size() && is_digit(text[at]); ++at) {
      if (++digits > most_digits) {
        return false;
      }
      decimal.digits = decimal.digits * 10 + static_cast<U128>(text[at] - '0');
    }
    return at > begin;
  };
  if (!take_digits()) {
    return std::nullopt;
  }
  if (at < text.size() && text[at] == '.') {
    const std::size_t point = at++;
    if (!take_digits()) {
      return std::nullopt;
    }
    decimal.fraction_digits = at - point - 1;
  }
  while (at < text.size() && text[at] == ' ') {
    ++at;
  }
  decimal.unit = text.substr(at);
  return decimal;
}

/// The unit as we write it: "Gbit/s" and "Gbps" are Gb/s, "GBps" is GB/s.
std::string respelt(std::string_view unit) {
  std::string text(unit.substr(0, 16));
  const auto replace = [&text](std::string_view from, std::string_view to) {
    if (const std::size_t at = text.find(from); at != std::string::npos) {
      text.replace(at, from.size(), to);
    }
  };
  replace("bits", "b");
  replace("bit", "b");
  replace("bytes", "B");
  replace("byte", "B");
  replace("bps", "b/s");
  replace("Bps", "B/s");
  return text;
}

std::string unit_hint(const Quantity& quantity, std::string_view unit) {
  const std::string units = "units: " + std::string(quantity.units_shown);
  if (unit.empty()) {
    return "a number needs a unit; " + units;
  }
  std::vector<std::string> names;
  for (const Unit& known : quantity.units) {
    names.emplace_back(known.name);
  }
  const std::string close = did_you_mean(respelt(unit).substr(0, 8), names);
  return "unknown unit " + in_quotes(unit) + (close.empty() ? "" : ", " + close) + "; " + units;
}

std::int64_t parse(const Quantity& quantity, std::string_view text) {
  const std::optional<Decimal> decimal = split(text);
  if (!decimal && std::count_if(text.begin(), text.end(), is_digit) > most_digits) {
    throw InputError(in_quotes(text) + " has more than " + std::to_string(most_digits) + " digits");
  }
  if (!decimal || text.ends_with(' ')) {
    refuse(quantity, text,
           text.starts_with('-') ? std::string(quantity.noun) + " cannot be negative" : "");
  }
  const Unit* unit = nullptr;
  for (const Unit& known : quantity.units) {
    if (known.name == decimal->unit) {
      unit = &known;
    }
  }
  if (unit == nullptr) {
    refuse(quantity, text, unit_hint(quantity, decimal->unit));
  }

  U128 divisor = 1;  // 10^30 at most
  for (std::size_t i = 0; i < decimal->fraction_digits; ++i) {
    divisor *= 10;
  }
  // Reduced, so that many digits behind the point do not overflow.
  U128 steps = static_cast<U128>(unit->steps);
  for (const U128 factor : {U128{2}, U128{5}}) {
    while (steps % factor == 0 && divisor % factor == 0) {
      steps /= factor;
      divisor /= factor;
    }
  }
  U128 product = 0;
  const bool overflow = __builtin_mul_overflow(decimal->digits, steps, &product);
  if (overflow || product / divisor > static_cast<U128>(largest)) {
    throw InputError(in_quotes(text) + " is too large: " + std::string(quantity.noun) +
                     " is less than " + std::string(quantity.limit));
  }
  if (product % divisor != 0) {
    throw InputError(in_quotes(text) + " is too fine: " + std::string(quantity.noun) +
                     " is a multiple of " + std::string(quantity.step));
  }
  return static_cast<std::int64_t>(product / divisor);
}

/// numerator / denominator in decimal, exactly. Requires: the denominator has no prime factors but
/// 2 and 5.
std::string decimal_text(U128 numerator, U128 denominator) {
  std::string text = std::to_string(static_cast<std::uint64_t>(numerator / denominator));
  U128 rest = numerator % denominator;
  if (rest != 0) {
    text += '.';
  }
  while (rest != 0) {
    rest *= 10;
    text += static_cast<char>('0' + static_cast<char>(rest / denominator));
    rest %= denominator;
  }
  return text;
}

/// The value in the last (largest) of `units` in which it is at least 1, else in the first.
std::string print(std::int64_t steps, std::span<const Unit> units) {
  // Negated as unsigned, because the smallest integer has no positive counterpart.
  const std::uint64_t magnitude =
      steps < 0 ? 0 - static_cast<std::uint64_t>(steps) : static_cast<std::uint64_t>(steps);
  const Unit* unit = &units.front();
  for (const Unit& candidate : units) {
    if (magnitude >= static_cast<std::uint64_t>(candidate.steps)) {
      unit = &candidate;
    }
  }
  return (steps < 0 ? "-" : "") + decimal_text(magnitude, static_cast<U128>(unit->steps)) + " " +
         std::string(unit->name);
}

}  // namespace

Duration parse_duration(std::string_view text) { return Duration(parse(duration_quantity, text)); }

Bandwidth parse_bandwidth(std::string_view text) {
  return Bandwidth::from_units(parse(bandwidth_quantity, text));
}

Bytes parse_bytes(std::string_view text) { return Bytes(parse(byte_quantity, text)); }

Bytes parse_size_argument(std::string_view text) {
  return Bytes(parse(size_argument_quantity, text));
}

std::string to_text(Duration duration) {
  constexpr std::array<Unit, 5> units{{{"ps", 1},
                                       {"ns", 1'000},
                                       {"us", 1'000'000},
                                       {"ms", 1'000'000'000},
                                       {"s", 1'000'000'000'000}}};
  return duration.count() == 0 ? "0 ns" : print(duration.count(), units);
}

std::string to_text(Bandwidth bandwidth) {
  constexpr std::array<Unit, 5> units{{{"B/s", byte_rate},
                                       {"kB/s", byte_rate * 1'000},
                                       {"MB/s", byte_rate * 1'000'000},
                                       {"GB/s", byte_rate * 1'000'000'000},
                                       {"TB/s", byte_rate * 1'000'000'000'000}}};
  return print(bandwidth.units(), units);
}

std::string to_text(Bytes bytes) {
  constexpr std::array<Unit, 9> units{{{"B", 1},
                                       {"kB", 1'000},
                                       {"KiB", std::int64_t{1} << 10},
                                       {"MB", 1'000'000},
                                       {"MiB", std::int64_t{1} << 20},
                                       {"GB", 1'000'000'000},
                                       {"GiB", std::int64_t{1} << 30},
                                       {"TB", 1'000'000'000'000},
                                       {"TiB", std::int64_t{1} << 40}}};
  const Unit* unit = units.data();
  for (const Unit& candidate : units) {
    if (bytes.count() != 0 && bytes.count() % candidate.steps == 0) {
      unit = &candidate;
    }
  }
  return std::to_string(bytes.count() / unit->steps) + " " + std::string(unit->name);
}

}  // namespace collsim
