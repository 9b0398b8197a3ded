#include "algorithms/rank_sets.hpp"

#include <algorithm>

namespace collsim::detail {

namespace {

template <class Ranges>
std::uint64_t hash_of(const Ranges& ranges) {
  // FNV-1a over the borders.
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const auto& range : ranges) {
    for (const std::uint32_t border : {range.first, range.last}) {
      hash = (hash ^ border) * 0x100000001b3U;
    }
  }
  return hash ^ (hash >> 32U);
}

}  // namespace

RankSets::RankSets() : begin_{0, 0}, table_(64, 0) {}

std::span<const RankSets::Range> RankSets::ranges(RankSetId id) const {
  return {ranges_.data() + begin_[id.index()], ranges_.data() + begin_[id.index() + 1]};
}

RankSetId RankSets::range(std::uint32_t first, std::uint32_t last) {
  scratch_.assign(1, Range{first, last});
  return intern();
}

RankSetId RankSets::all(std::uint32_t count) { return count == 0 ? empty() : range(0, count - 1); }

std::optional<RankSetId> RankSets::disjoint_union(RankSetId a, RankSetId b) {
  const auto left = ranges(a);
  const auto right = ranges(b);
  scratch_.clear();
  auto append = [this](Range range) {
    if (!scratch_.empty() && range.first <= scratch_.back().last) {
      return false;
    }
    if (!scratch_.empty() && range.first == scratch_.back().last + 1) {
      scratch_.back().last = range.last;
    } else {
      scratch_.push_back(range);
    }
    return true;
  };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < left.size() || j < right.size()) {
    const bool from_left = j == right.size() || (i < left.size() && left[i].first < right[j].first);
    if (!append(from_left ? left[i++] : right[j++])) {
      return std::nullopt;
    }
  }
  return scratch_.empty() ? empty() : intern();
}

std::optional<Rank> RankSets::common(RankSetId a, RankSetId b) const {
  const auto left = ranges(a);
  const auto right = ranges(b);
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < left.size() && j < right.size()) {
    const std::uint32_t first = std::max(left[i].first, right[j].first);
    if (first <= std::min(left[i].last, right[j].last)) {
      return Rank(first);
    }
    if (left[i].last < right[j].last) {
      ++i;
    } else {
      ++j;
    }
  }
  return std::nullopt;
}

std::string RankSets::text(RankSetId id) const {
  const auto parts = ranges(id);
  if (parts.empty()) {
    return "no rank";
  }
  std::string text = parts.size() == 1 && parts[0].first == parts[0].last ? "rank " : "ranks ";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) {
      text += i + 1 == parts.size() ? " and " : ", ";
    }
    text += std::to_string(parts[i].first);
    if (parts[i].last > parts[i].first) {
      text += "-" + std::to_string(parts[i].last);
    }
  }
  return text;
}

RankSetId RankSets::intern() {
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = hash_of(scratch_) & mask;
  while (table_[slot] != 0) {
    const RankSetId id(table_[slot] - 1);
    if (std::ranges::equal(ranges(id), scratch_)) {
      return id;
    }
    slot = (slot + 1) & mask;
  }
  const RankSetId id(begin_.size() - 1);
  ranges_.insert(ranges_.end(), scratch_.begin(), scratch_.end());
  begin_.push_back(ranges_.size());
  table_[slot] = id.value() + 1;
  if (begin_.size() * 2 > table_.size()) {
    grow_table();
  }
  return id;
}

void RankSets::grow_table() {
  table_.assign(table_.size() * 2, 0);
  const std::size_t mask = table_.size() - 1;
  for (std::uint32_t id = 1; id + 1 < begin_.size(); ++id) {  // the empty set is never looked up
    std::size_t slot = hash_of(ranges(RankSetId(id))) & mask;
    while (table_[slot] != 0) {
      slot = (slot + 1) & mask;
    }
    table_[slot] = id + 1;
  }
}

}  // namespace collsim::detail
