#include "validate/io/nccl_tests_evidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "topology/units.hpp"

namespace collsim {

namespace {

constexpr double bytes_per_us_of_GBps = 1e3;
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
  const double GB_us = static_cast<double>(row.size) / bytes_per_us_of_GBps;
  const PrintedNumber& time = half.time_us;
  const double shortest = time.least();
  return {GB_us / time.most() * (1 - tiny),
          shortest > 0 ? GB_us / shortest * (1 + tiny) : std::numeric_limits<double>::infinity()};
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

/// Ranks of which the quotient `ranks / (ranks − 1)` … is in the interval: n = 1 / (1 − f), of f = (n − 1) / n.
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
    add_blocks(row);
    for (const auto& half : row.halves) {
      if (half) {
        add_half(row, *half);
      }
    }
    const auto& [out, in] = row.halves;
    in_place_unchecked_ = in_place_unchecked_ || (out && in && out->wrong && !in->wrong);
    in_place_checked_ = in_place_checked_ || (in && in->wrong);
  }
}

void TableEvidence::add_blocks(const TableRow& row) {
  const auto bytes = counted_bytes(row);
  if (!bytes || *bytes == 0 || row.size % *bytes != 0) {
    return;
  }
  const std::int64_t blocks = row.size / *bytes;
  blocks_differ_ = blocks_differ_ || (blocks_ && *blocks_ != blocks);
  blocks_ = blocks;
}

void TableEvidence::add_half(const TableRow& row, const RowHalf& half) {
  const Interval algbw = bandwidth_of(row, half);
  if (!half.busbw || (half.algbw && !overlaps(algbw, *half.algbw))) {
    return;
  }
  Interval exact = algbw;
  const Interval busbw = rounded(*half.busbw);
  if (half.algbw) {
    const Interval printed = rounded(*half.algbw);
    exact = {std::max(exact.least, printed.least), std::min(exact.most, printed.most)};
    exact = exact.least <= exact.most ? exact : algbw;
  }
  if (exact.least > 0 && std::isfinite(exact.most)) {
    least_factor_ = std::max(least_factor_, busbw.least / exact.most);
    most_factor_ = std::min(most_factor_, busbw.most / exact.least);
  }
}

bool TableEvidence::columns_allow(CollectiveKind kind) const {
  // nccl-tests shows the reduction of sendrecv, too, which it does not do.
  if (reduces_ && *reduces_ != reduces(kind) && kind != CollectiveKind::SendRecv) {
    return false;
  }
  if (rooted_ && *rooted_ != has_root(kind)) {
    return false;
  }
  if (blocks_ && !blocks_differ_ && (*blocks_ > 1) != is_blocked(kind)) {
    return false;
  }
  // Where the data of a half cannot be right, the test does not look at them.
  return !(in_place_unchecked_ && !in_place_checked_ && allows_in_place(kind)) &&
         !(in_place_checked_ && !allows_in_place(kind));
}

RankRange TableEvidence::ranks(CollectiveKind kind) const {
  if (is_blocked(kind) && blocks_ && !blocks_differ_ && *blocks_ > 1 &&
      *blocks_ < std::numeric_limits<std::uint32_t>::max()) {
    const auto ranks = static_cast<std::uint32_t>(*blocks_);
    return {ranks, ranks};
  }
  if (kind == CollectiveKind::AllReduce) {
    return ranks_of_fraction(least_factor_ / 2, most_factor_ / 2);
  }
  return is_blocked(kind) ? ranks_of_fraction(least_factor_, most_factor_) : RankRange{};
}

std::vector<CollectiveKind> TableEvidence::kinds(std::optional<std::uint32_t> known) const {
  std::vector<CollectiveKind> fitting;
  for (const CollectiveKind kind : all_kinds) {
    if (!columns_allow(kind)) {
      continue;
    }
    const RankRange range = ranks(kind);
    // A table of other ranks than its devices is dropped row by row, so that the ranks decide only between kinds.
    const bool in_range = !known || (range.least <= *known && *known <= range.most);
    const bool whole_factor = is_blocked(kind) || kind == CollectiveKind::AllReduce ||
                              (least_factor_ <= 1 && 1 <= most_factor_);
    if (!range.empty() && in_range && whole_factor) {
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
