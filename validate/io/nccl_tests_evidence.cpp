#include "validate/io/nccl_tests_evidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "topology/units.hpp"

namespace collsim {

namespace {

constexpr double bytes_per_us = 1e3;
constexpr double tiny = 1e-9;  // of what binary fractions cost

constexpr std::array all_kinds{
    CollectiveKind::AllReduce, CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
    CollectiveKind::Broadcast, CollectiveKind::Reduce,    CollectiveKind::AllToAll,
    CollectiveKind::Gather,    CollectiveKind::Scatter,   CollectiveKind::SendRecv};

struct Interval {
  double least = 0;
  double most = 0;
};

/// algbw in GB/s by size and time, as the time is printed.
Interval bandwidth_of(const TableRow& row, const RowHalf& half) {
  const double per_us = static_cast<double>(row.size) / bytes_per_us;
  const PrintedNumber& time = half.time_us;
  const double shortest = time.least();
  return {per_us / time.most() * (1 - tiny),
          shortest > 0 ? per_us / shortest * (1 + tiny) : std::numeric_limits<double>::infinity()};
}

bool overlaps(const Interval& interval, const PrintedNumber& number) {
  return interval.least <= number.most() && number.least() <= interval.most;
}

/// One step of rounding is half a digit; `least` and `most` of PrintedNumber allow a whole one.
Interval rounded(const PrintedNumber& number) {
  return {std::max(number.value - 0.5 * number.unit, 0.0), number.value + 0.5 * number.unit};
}

bool is_blocked(CollectiveKind kind) {
  CollectiveCall call;
  call.kind = kind;
  return call.blocked();
}

std::int64_t element_of(const TableRow& row) { return row.type ? size_of(*row.type).count() : 0; }

/// Bytes of the count column; absent if they do not fit, or the row does not tell.
std::optional<std::int64_t> counted_bytes(const TableRow& row) {
  const std::int64_t element = element_of(row);
  if (!row.count || element == 0 ||
      *row.count > std::numeric_limits<std::int64_t>::max() / element) {
    return std::nullopt;
  }
  return *row.count * element;
}

/// The n of which (n − 1) / n is in the interval: from 1 / (1 − least) to 1 / (1 − most).
RankRange ranks_of_fraction(double least, double most) {
  constexpr double unbounded = 1e9;
  RankRange range;
  const double low = least >= 1 ? unbounded : 1 / (1 - least);
  const double high = most >= 1 ? unbounded : 1 / (1 - most);
  range.least = static_cast<std::uint32_t>(std::clamp(std::ceil(low - 1e-6), 2.0, unbounded));
  range.most = high >= unbounded ? std::numeric_limits<std::uint32_t>::max()
                                 : static_cast<std::uint32_t>(std::floor(high + 1e-6));
  if (low >= unbounded) {
    range.most = 0;
  }
  return range;
}

/// The numbers that the most ranges hold, which must be more than half of them; else none.
RankRange most_common_range(std::vector<RankRange> ranges) {
  const std::size_t all = ranges.size();
  if (all == 0) {
    return RankRange{};
  }
  std::erase_if(ranges, [](const RankRange& range) { return range.empty(); });
  // Ends come after beginnings of the same number: ranges hold both of theirs.
  std::vector<std::pair<std::uint32_t, bool>> ends;
  for (const RankRange& range : ranges) {
    ends.emplace_back(range.least, false);
    ends.emplace_back(range.most, true);
  }
  std::ranges::sort(ends);
  std::size_t open = 0;
  std::size_t most = 0;
  RankRange best{2, 0};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].second) {
      --open;
    } else if (++open > most) {
      most = open;
      best = {ends[i].first, ends[i + 1].first};
    }
  }
  return most * 2 > all ? best : RankRange{2, 0};
}

/// busbw / algbw of a half; absent where it contradicts itself, or tells nothing.
std::optional<FactorRange> factor_of(const TableRow& row, const RowHalf& half) {
  const Interval algbw = bandwidth_of(row, half);
  if (!half.busbw || (half.algbw && !overlaps(algbw, *half.algbw))) {
    return std::nullopt;
  }
  Interval exact = algbw;
  const Interval busbw = rounded(*half.busbw);
  if (half.algbw) {
    const Interval printed = rounded(*half.algbw);
    exact = {std::max(exact.least, printed.least), std::min(exact.most, printed.most)};
    exact = exact.least <= exact.most ? exact : algbw;
  }
  if (!(exact.least > 0) || !std::isfinite(exact.most)) {
    return std::nullopt;
  }
  return FactorRange{busbw.least / exact.most, busbw.most / exact.least};
}

}  // namespace

double bus_factor(CollectiveKind kind, std::uint32_t ranks) {
  const Bytes size(1'000'000);
  const Duration time(1'000'000);
  return bus_bandwidth_GBps(kind, ranks, size, time) / algorithm_bandwidth_GBps(size, time);
}

TableEvidence::TableEvidence(const TableColumns& table, const std::vector<TableRow>& rows) {
  // Tables of the tests have these columns where the collective needs them; what others made of them need not.
  const bool whole = table.separator == ' ' && table.has(Column::Type);
  if (table.has(Column::Redop)) {
    reduces_ = std::ranges::any_of(rows, [](const TableRow& row) { return row.redop.has_value(); });
  } else if (whole) {
    reduces_ = false;
  }
  if (table.has(Column::Root)) {
    rooted_ =
        std::ranges::any_of(rows, [](const TableRow& row) { return row.root.value_or(-1) >= 0; });
  } else if (whole) {
    rooted_ = false;
  }
  for (const TableRow& row : rows) {
    if (row.size == 0) {
      continue;
    }
    for (const auto& half : row.halves) {
      if (half) {
        if (const auto range = factor_of(row, *half)) {
          factors_.push_back(*range);
        }
      }
    }
    const auto& [out, in] = row.halves;
    in_place_unchecked_ = in_place_unchecked_ || (out && in && out->wrong && !in->wrong);
    in_place_checked_ = in_place_checked_ || (in && in->wrong);
  }
  count_blocks(rows);
  keep_telling_factors();
}

void TableEvidence::count_blocks(const std::vector<TableRow>& rows) {
  std::map<std::int64_t, std::size_t> counts;
  std::size_t counted = 0;
  for (const TableRow& row : rows) {
    const auto bytes = counted_bytes(row);
    if (row.size != 0 && bytes && *bytes != 0) {
      ++counted;
      if (row.size % *bytes == 0) {
        ++counts[row.size / *bytes];
      }
    }
  }
  for (const auto& [blocks, rows_with] : counts) {
    if (rows_with * 2 > counted) {
      blocks_ = blocks;
    }
  }
}

/// Small sizes, whose bandwidths have few digits, allow anything: they do not count beside the others.
void TableEvidence::keep_telling_factors() {
  constexpr double narrow = 1.1;
  std::vector<FactorRange> telling;
  std::ranges::copy_if(factors_, std::back_inserter(telling),
                       [](const FactorRange& range) { return range.most <= narrow * range.least; });
  if (!telling.empty()) {
    factors_ = std::move(telling);
  }
}

std::size_t TableEvidence::factors_around(double factor) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(factors_, [factor](const FactorRange& range) {
        return range.least <= factor * (1 + tiny) && factor * (1 - tiny) <= range.most;
      }));
}

bool TableEvidence::columns_allow(CollectiveKind kind) const {
  // nccl-tests shows the reduction of sendrecv, too, which it does not do.
  if (reduces_ && *reduces_ != reduces(kind) && kind != CollectiveKind::SendRecv) {
    return false;
  }
  if (rooted_ && *rooted_ != has_root(kind)) {
    return false;
  }
  if (blocks_ && (*blocks_ > 1) != is_blocked(kind)) {
    return false;
  }
  // Where the data of a half cannot be right, the test does not look at them.
  return !(in_place_unchecked_ && !in_place_checked_ && allows_in_place(kind)) &&
         !(in_place_checked_ && !allows_in_place(kind));
}

RankRange TableEvidence::ranks(CollectiveKind kind) const {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  if (is_blocked(kind) && blocks_ && *blocks_ > 1 && *blocks_ < most) {
    const auto ranks = static_cast<std::uint32_t>(*blocks_);
    return {ranks, ranks};
  }
  if (!is_blocked(kind) && kind != CollectiveKind::AllReduce) {
    return RankRange{};
  }
  std::vector<RankRange> ranges;
  for (const FactorRange& factor : factors_) {
    const double part = kind == CollectiveKind::AllReduce ? 0.5 : 1.0;  // of (n − 1) / n
    ranges.push_back(ranks_of_fraction(factor.least * part, factor.most * part));
  }
  return most_common_range(std::move(ranges));
}

bool TableEvidence::most_factors_allow(CollectiveKind kind,
                                       std::optional<std::uint32_t> ranks) const {
  const RankRange range = this->ranks(kind);
  if (range.empty()) {
    return false;
  }
  const std::uint32_t some = ranks.value_or(range.least);
  return factors_.empty() || factors_around(bus_factor(kind, some)) * 2 > factors_.size();
}

std::vector<CollectiveKind> TableEvidence::kinds(std::optional<std::uint32_t> known) const {
  std::vector<CollectiveKind> fitting;
  for (const CollectiveKind kind : all_kinds) {
    const bool as_counted = !known || !is_blocked(kind) || !blocks_ || *blocks_ == *known;
    if (columns_allow(kind) && as_counted && most_factors_allow(kind, known)) {
      fitting.push_back(kind);
    }
  }
  return fitting;
}

std::string contradiction_in(const TableRow& row, const RowHalf& half, CollectiveKind kind,
                             std::uint32_t ranks) {
  const Interval algbw = bandwidth_of(row, half);
  if (half.algbw && !overlaps(algbw, *half.algbw)) {
    return "algbw contradicts size and time";
  }
  if (half.busbw && ranks != 0) {
    const double factor = bus_factor(kind, ranks);
    if (!overlaps({algbw.least * factor, algbw.most * factor}, *half.busbw)) {
      return "busbw contradicts size and time of " + std::string(name_of(kind)) + " on " +
             std::to_string(ranks) + " ranks";
    }
  }
  return {};
}

std::string contradiction_in(const TableRow& row, CollectiveKind kind, std::uint32_t ranks) {
  const auto bytes = counted_bytes(row);
  if (!bytes) {
    return {};
  }
  const std::int64_t blocks = is_blocked(kind) ? ranks : 1;
  if (*bytes <= row.size / blocks && *bytes * blocks == row.size) {
    return {};
  }
  return "count contradicts the size of " + std::string(name_of(kind)) +
         (is_blocked(kind) ? " on " + std::to_string(ranks) + " ranks" : "");
}

std::string wrong_data_in(const TableRow& row, const RowHalf& half) {
  if (!half.wrong || !(*half.wrong > 0)) {
    return {};
  }
  if (!half.wrong_is_error) {
    return std::isfinite(*half.wrong) && *half.wrong < 1e15
               ? std::to_string(static_cast<std::int64_t>(*half.wrong)) + " elements are wrong"
               : "elements are wrong";
  }
  // DeltaMaxValue of nccl-tests v2.0.0 to v2.11.0, src/common.cu; of half the largest that any had.
  double limit = 0;
  switch (row.type.value_or(DataType::Float32)) {
    case DataType::Half:
    case DataType::Bfloat16:
      limit = 5e-2;
      break;
    case DataType::Float32:
      limit = 1e-5;
      break;
    case DataType::Float64:
      limit = 1e-12;
      break;
    default:
      break;
  }
  return *half.wrong > limit ? "the error is larger than nccl-tests allows" : "";
}

}  // namespace collsim
