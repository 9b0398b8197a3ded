#pragma once

// What the numbers of a table tell of the call: which collectives they may be of, and on how many ranks.
//
// size / (count · size of an element) is the number of ranks where each has a block of its own, else 1. busbw / algbw
// is 2 (n − 1) / n for all_reduce, (n − 1) / n for the others with blocks, else 1; how far the printed digits bound it
// decides how well n is known. Rows that contradict most of the others do not count.
//
// Source: nccl-tests doc/PERFORMANCE.md; …GetCollByteCount and …GetBw in src/*.cu.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "validate/io/nccl_tests_columns.hpp"
#include "validate/io/nccl_tests_row.hpp"

namespace collsim {

/// Numbers of ranks, both ends included.
struct RankRange {
  std::uint32_t least = 2;
  std::uint32_t most = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] bool empty() const { return least > most; }
  [[nodiscard]] bool unique() const { return least == most; }
};

/// What one half says of busbw / algbw.
struct FactorRange {
  double least = 0;
  double most = 0;
};

class TableEvidence {
 public:
  TableEvidence(const TableColumns& table, const std::vector<TableRow>& rows);

  /// The collectives that the columns and ratios allow, on that many ranks where they are known.
  [[nodiscard]] std::vector<CollectiveKind> kinds(std::optional<std::uint32_t> ranks) const;
  /// The numbers of ranks on which the collective would give such a table.
  [[nodiscard]] RankRange ranks(CollectiveKind kind) const;
  /// Whether the number of ranks is told by the counts: exactly.
  [[nodiscard]] bool counts_blocks() const { return blocks_ && *blocks_ > 1; }

 private:
  void count_blocks(const std::vector<TableRow>& rows);
  void keep_telling_factors();
  [[nodiscard]] bool columns_allow(CollectiveKind kind) const;

  [[nodiscard]] std::size_t factors_around(double factor) const;
  [[nodiscard]] bool most_factors_allow(CollectiveKind kind,
                                        std::optional<std::uint32_t> ranks) const;

  std::optional<bool> reduces_;  ///< as the columns say
  std::optional<bool> rooted_;
  bool in_place_unchecked_ = false;
  bool in_place_checked_ = false;
  std::optional<std::int64_t> blocks_;  ///< of most rows
  std::vector<FactorRange> factors_;    ///< of the halves that tell the most
};

/// Why a half contradicts itself; empty if it does not. `ranks` 0: unknown.
[[nodiscard]] std::string contradiction_in(const TableRow& row, const RowHalf& half,
                                           CollectiveKind kind, std::uint32_t ranks);
/// Why the row's count does not fit its size.
[[nodiscard]] std::string contradiction_in(const TableRow& row, CollectiveKind kind,
                                           std::uint32_t ranks);
/// Why the data that the half's call gave are wrong: what the test itself found.
[[nodiscard]] std::string wrong_data_in(const TableRow& row, const RowHalf& half);

/// busbw / algbw.
[[nodiscard]] double bus_factor(CollectiveKind kind, std::uint32_t ranks);

}  // namespace collsim
