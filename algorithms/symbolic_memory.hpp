#pragma once

// Data without bytes: what the data checker moves around in place of numbers.
//
// A value says which element it is and whose contributions have been reduced into it. `origin` is
// the position of its first byte in the input buffers of the contributors; where every rank's input
// means something else (all_gather, …) a value has one contributor and position and rank name it.
// A range of bytes with consecutive origins and the same contributors is one value.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/interval_map.hpp"
#include "algorithms/program.hpp"
#include "algorithms/rank_sets.hpp"

namespace collsim::detail {

struct SymbolicValue {
  std::int64_t origin = 0;
  RankSetId contributors = RankSets::empty();  ///< empty: spoilt

  /// What is left of a value after a failure that was reported; it causes no further reports.
  [[nodiscard]] static constexpr SymbolicValue spoilt() { return {}; }
  [[nodiscard]] constexpr bool is_spoilt() const { return contributors == RankSets::empty(); }
  [[nodiscard]] constexpr SymbolicValue advanced(std::int64_t bytes) const {
    return is_spoilt() ? *this : SymbolicValue{origin + bytes, contributors};
  }
  constexpr bool operator==(const SymbolicValue&) const = default;
};

/// A range of bytes with one value.
struct SymbolicPiece {
  std::int64_t bytes = 0;
  SymbolicValue value;
  constexpr bool operator==(const SymbolicPiece&) const = default;
};

/// The content of a message or a span.
class SymbolicData {
 public:
  /// Joins with the last piece where the value goes on.
  void append(std::int64_t bytes, SymbolicValue value);
  [[nodiscard]] const std::vector<SymbolicPiece>& pieces() const { return pieces_; }

 private:
  std::vector<SymbolicPiece> pieces_;
};

/// Why two values cannot be reduced.
struct ReductionClash {
  enum class Kind : std::uint8_t { DifferentElements, CommonContributor };
  Kind kind = Kind::DifferentElements;
  SymbolicValue left;
  SymbolicValue right;
};

struct SymbolicReduction {
  SymbolicData data;                    ///< spoilt where the inputs clash
  std::optional<ReductionClash> clash;  ///< the first
};

/// Reduces two ranges of the same length. Complexity: O(pieces · ranges of ranks).
[[nodiscard]] SymbolicReduction reduce(const SymbolicData& left, const SymbolicData& right,
                                       RankSets& sets);

/// "bytes 8-15 of the input of ranks 0-3"; for spoilt data "nothing of use".
[[nodiscard]] std::string text_of(const SymbolicValue& value, std::int64_t bytes,
                                  const RankSets& sets);

/// One of a rank's memories (see place_of). Remembers which step wrote what.
class SymbolicMemory {
 public:
  /// What is stored in a range; without a writer: the initial content.
  struct Content {
    SymbolicValue value;
    std::optional<StepRef> writer;
    [[nodiscard]] Content advanced(std::int64_t bytes) const {
      return {value.advanced(bytes), writer};
    }
  };

  void initialise(std::int64_t begin, std::int64_t end, SymbolicValue value) {
    contents_.assign(begin, end, Content{value, std::nullopt});
  }
  /// Requires: `data` is as long as the span. `base` is where the span's buffer begins.
  void write(const Span& span, std::int64_t base, const SymbolicData& data, StepRef writer);

  struct Reading {
    SymbolicData data;                    ///< spoilt where nothing was written
    std::optional<std::int64_t> missing;  ///< the first such byte, counted from `base`
  };
  [[nodiscard]] Reading read(const Span& span, std::int64_t base) const;

  /// Calls visit(begin, end, const Content*) for the pieces of [begin, end); null where nothing was
  /// written.
  template <class Visit>
  void inspect(std::int64_t begin, std::int64_t end, Visit&& visit) const {
    contents_.read(begin, end, visit);
  }

 private:
  IntervalMap<Content> contents_;
};

/// Calls visit(begin, end) for the runs of a span, in order, as positions in its buffer.
template <class Visit>
void for_each_run(const Span& span, Visit&& visit) {
  std::int64_t left = span.total.count();
  for (std::int64_t begin = span.offset.count(); left > 0; begin += span.stride.count()) {
    const std::int64_t run = span.run.count() < left ? span.run.count() : left;
    visit(begin, begin + run);
    left -= run;
  }
}

/// Why a span cannot be used in a buffer of `size` bytes for messages of `bytes`; absent: it can.
[[nodiscard]] std::optional<std::string> objection_to(const Span& span, Bytes bytes, Bytes size);

}  // namespace collsim::detail
