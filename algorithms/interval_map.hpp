#pragma once

// A map from byte positions to values, kept as disjoint intervals that split on demand, so that its
// cost follows the number of accesses, not of bytes.
//
// A value belongs to the first byte of its interval; `value.advanced(n)` is the value n bytes on.
// Bytes that nothing was assigned to are gaps. Neighbours are never merged.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace collsim::detail {

template <class Value>
class IntervalMap {
 public:
  /// Gives [begin, end) one value. Complexity: O(log intervals + intervals replaced).
  void assign(std::int64_t begin, std::int64_t end, Value value) {
    if (begin == end) {
      return;
    }
    cut(begin);
    cut(end);
    const auto first = intervals_.lower_bound(begin);
    const auto last = intervals_.lower_bound(end);
    if (first != last && first->first == begin) {
      first->second = Interval{end, std::move(value)};
      intervals_.erase(std::next(first), last);
    } else {
      const auto hint = intervals_.erase(first, last);
      intervals_.emplace_hint(hint, begin, Interval{end, std::move(value)});
    }
  }

  /// Calls visit(begin, end, const Value*) for the pieces of [begin, end) in order; a gap has no
  /// value. Changes nothing.
  template <class Visit>
  void read(std::int64_t begin, std::int64_t end, Visit&& visit) const {
    auto next = intervals_.upper_bound(begin);
    if (next != intervals_.begin() && std::prev(next)->second.end > begin) {
      --next;
    }
    while (begin < end) {
      if (next == intervals_.end() || next->first >= end) {
        visit(begin, end, static_cast<const Value*>(nullptr));
        return;
      }
      if (next->first > begin) {
        visit(begin, next->first, static_cast<const Value*>(nullptr));
        begin = next->first;
      }
      const std::int64_t piece_end = std::min(end, next->second.end);
      if (begin == next->first) {
        visit(begin, piece_end, &next->second.value);
      } else {
        const Value advanced = next->second.value.advanced(begin - next->first);
        visit(begin, piece_end, &advanced);
      }
      begin = piece_end;
      ++next;
    }
  }

  /// Calls visit(begin, end, Value&) for the pieces of [begin, end) in order, each an interval of
  /// its own afterwards; gaps become Value() first.
  template <class Visit>
  void change(std::int64_t begin, std::int64_t end, Visit&& visit) {
    if (begin == end) {
      return;
    }
    cut(begin);
    cut(end);
    auto next = intervals_.lower_bound(begin);
    while (begin < end) {
      if (next == intervals_.end() || next->first > begin) {
        const std::int64_t gap_end = next == intervals_.end() ? end : std::min(end, next->first);
        next = intervals_.emplace_hint(next, begin, Interval{gap_end, Value()});
      }
      visit(begin, next->second.end, next->second.value);
      begin = next->second.end;
      ++next;
    }
  }

  [[nodiscard]] std::size_t size() const { return intervals_.size(); }

 private:
  struct Interval {
    std::int64_t end = 0;
    Value value;
  };

  /// Makes `at` a border if an interval straddles it.
  void cut(std::int64_t at) {
    const auto next = intervals_.lower_bound(at);
    if (next == intervals_.begin()) {
      return;
    }
    const auto before = std::prev(next);
    if (before->second.end <= at) {
      return;
    }
    Interval rest{before->second.end, before->second.value.advanced(at - before->first)};
    before->second.end = at;
    intervals_.emplace_hint(next, at, std::move(rest));
  }

  std::map<std::int64_t, Interval> intervals_;  ///< by begin
};

}  // namespace collsim::detail
