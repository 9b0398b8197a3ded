#pragma once

// Sets of ranks, each stored once: equal sets have equal ids, so that the symbolic values of the
// data checker compare and copy at no cost.
//
// A set is a sorted list of ranges that do not touch: what contributions look like in the usual
// algorithms (a stretch of a ring, a subtree, a halved cube), for any number of ranks.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/ids.hpp"

namespace collsim::detail {

using RankSetId = Id<struct RankSetTag>;

class RankSets {
 public:
  RankSets();

  [[nodiscard]] static constexpr RankSetId empty() { return RankSetId(0); }
  [[nodiscard]] RankSetId single(Rank rank) { return range(rank.value(), rank.value()); }
  /// Ranks 0 … count-1.
  [[nodiscard]] RankSetId all(std::uint32_t count);

  /// Absent if they have a rank in common. Complexity: O(ranges of both).
  [[nodiscard]] std::optional<RankSetId> disjoint_union(RankSetId a, RankSetId b);
  /// The lowest rank that is in both.
  [[nodiscard]] std::optional<Rank> common(RankSetId a, RankSetId b) const;

  /// "rank 3", "ranks 0-3", "ranks 0-3, 5 and 7", "no rank".
  [[nodiscard]] std::string text(RankSetId id) const;

 private:
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    bool operator==(const Range&) const = default;
  };

  [[nodiscard]] RankSetId range(std::uint32_t first, std::uint32_t last);
  [[nodiscard]] std::span<const Range> ranges(RankSetId id) const;
  /// The id of the set in scratch_.
  [[nodiscard]] RankSetId intern();
  void grow_table();

  std::vector<Range> ranges_;         ///< of all sets, one after the other
  std::vector<std::size_t> begin_;    ///< by id, and one past the last
  std::vector<std::uint32_t> table_;  ///< open addressing: id + 1, or 0 where free
  std::vector<Range> scratch_;
};

}  // namespace collsim::detail
