#include "validate/rivals.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <vector>

#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr double ps_per_us = 1e6;
constexpr std::size_t largest_sizes = 3;

/// The smallest of the largest sizes.
Bytes threshold_of(std::span<const Bytes> sizes) {
  const std::set<Bytes, std::greater<>> falling(sizes.begin(), sizes.end());
  auto at = falling.begin();
  std::advance(at, std::min(largest_sizes, falling.size()) - 1);
  return *at;
}

/// Requires: not empty.
double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

std::string_view name_of(Rival rival) {
  switch (rival) {
    case Rival::BestLine:
      return "best straight line";
    case Rival::NcclFormula:
      return "NCCL's formula";
    case Rival::ConstantBusbw:
      return "constant busbw";
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

std::optional<StraightLine> constant_bandwidth(std::span<const Bytes> sizes,
                                               std::span<const Duration> times) {
  if (sizes.empty()) {
    return std::nullopt;
  }
  const Bytes least = threshold_of(sizes);
  std::vector<double> bytes_per_us;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] >= least && sizes[i] > Bytes(0)) {
      bytes_per_us.push_back(static_cast<double>(sizes[i].count()) * ps_per_us /
                             static_cast<double>(times[i].count()));
    }
  }
  if (bytes_per_us.empty()) {
    return std::nullopt;
  }
  StraightLine line;
  line.us_per_byte = 1 / median(std::move(bytes_per_us));
  return line;
}

std::optional<Duration> launch_offset(std::span<const Duration> measured,
                                      std::span<const Duration> predicted) {
  struct Difference {
    Duration more{};
    double weight = 0;
  };
  std::vector<Difference> differences;
  differences.reserve(measured.size());
  double total = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double weight = 1 / static_cast<double>(measured[i].count());
    differences.push_back({measured[i] - predicted[i], weight});
    total += weight;
  }
  std::ranges::stable_sort(differences, {}, &Difference::more);
  double below = 0;
  for (const Difference& difference : differences) {
    below += difference.weight;
    if (below * 2 >= total) {
      return difference.more;
    }
  }
  return std::nullopt;
}

}  // namespace collsim
