#pragma once

// How algorithms are written: a Pattern says what one rank does with one *part* of the data, and
// partition() makes a Program of it by running the pattern for every part: channels side by side
// (each with lanes of its own), chunks one after the other in the same lanes.
//
// The data of a call fall into blocks (usually one a rank). A part holds the same slice of every
// block where blocks are equal and each belongs to a rank (all_gather, …), or a contiguous slice of
// the buffer, itself cut into blocks as equal as elements allow (all_reduce, broadcast, reduce: the
// first blocks get the extra elements). A pattern speaks of block numbers only and never computes
// an offset.

#include <cstdint>
#include <memory>
#include <string>

#include "algorithms/collective.hpp"
#include "algorithms/program.hpp"

namespace collsim {

/// Where a pattern finds (or puts) blocks: a buffer that holds all of them, or just the rank's own.
struct Place {
  enum class Holds : std::uint8_t { all_blocks, own_block };
  Buffer buffer = Buffer::input;
  Holds holds = Holds::all_blocks;
  constexpr bool operator==(const Place&) const = default;
};

/// One part of a call's data.
class Part {
 public:
  /// The whole data of a call, `blocks` blocks.
  Part(const CollectiveCall& call, std::uint32_t blocks, std::uint32_t scratch_blocks);

  /// Part `index` of `count` like parts of this one. Requires: index < count.
  [[nodiscard]] Part slice(std::uint32_t index, std::uint32_t count) const;

  /// The bytes of blocks [first, first + count) at a place; with Holds::own_block count must be 1
  /// and the block's number only says how large it is. Scratch is laid out part by part, so a range
  /// of blocks is contiguous there.
  [[nodiscard]] Span blocks(Place place, std::uint32_t first, std::uint32_t count = 1) const;
  /// Blocks first, first + step, first + 2·step, …: `runs` runs of `run_blocks` blocks each, the
  /// last one cut off at `limit` (a block number). Scratch only (bruck's rounds).
  [[nodiscard]] Span strided_blocks(Place place, std::uint32_t first, std::uint32_t run_blocks,
                                    std::uint32_t step, std::uint32_t limit) const;
  [[nodiscard]] Bytes bytes_of(std::uint32_t first, std::uint32_t count = 1) const;

  /// The largest number of parts this one can be sliced into with none empty (at least 1).
  [[nodiscard]] std::int64_t elements() const;

  [[nodiscard]] Bytes scratch_bytes() const;

 private:
  // All in elements. Blocked calls: every block is [slice_begin_, slice_begin_ + slice_size_) of a
  // block of block_size_. Others: the part is that range of the buffer and is cut into blocks_.
  bool blocked_ = false;
  std::int64_t element_bytes_ = 1;
  std::int64_t block_size_ = 0;
  std::int64_t slice_begin_ = 0;
  std::int64_t slice_size_ = 0;
  std::uint32_t blocks_ = 1;
  std::uint32_t scratch_blocks_ = 0;
};

/// What the ranks do with one part. Pure functions; the same for every part but for sizes.
class Pattern {
 public:
  virtual ~Pattern() = default;

  [[nodiscard]] virtual std::uint32_t lanes(Rank rank) const = 0;
  /// Groups of lanes for Step::join, numbered from 0; the default is one.
  [[nodiscard]] virtual std::uint32_t groups() const { return 1; }
  [[nodiscard]] virtual std::uint32_t group(Rank, std::uint32_t /*lane*/) const { return 0; }
  [[nodiscard]] virtual std::uint64_t steps(Rank rank, std::uint32_t lane) const = 0;
  /// Phases of every step are below this number.
  [[nodiscard]] virtual std::uint64_t phases() const { return 1; }
  [[nodiscard]] virtual Step step(Rank rank, std::uint32_t lane, std::uint64_t index,
                                  const Part& part) const = 0;
  [[nodiscard]] virtual std::uint32_t send_slots(Rank rank, std::uint32_t lane) const = 0;
  [[nodiscard]] virtual std::uint32_t receive_slots(Rank rank, std::uint32_t lane) const = 0;
  [[nodiscard]] virtual Connection send_to(Rank rank, std::uint32_t lane,
                                           std::uint32_t slot) const = 0;
  [[nodiscard]] virtual Connection receive_from(Rank rank, std::uint32_t lane,
                                                std::uint32_t slot) const = 0;
  /// Blocks that the data fall into.
  [[nodiscard]] virtual std::uint32_t blocks() const = 0;
  /// Blocks of scratch memory that a rank may use; 0: none.
  [[nodiscard]] virtual std::uint32_t scratch_blocks() const { return 0; }

 protected:
  Pattern() = default;
  Pattern(const Pattern&) = default;
  Pattern& operator=(const Pattern&) = default;
};

enum class Composition : std::uint8_t {
  in_sequence,  ///< b in the lanes of a
  pipelined,    ///< b in lanes of its own: chunk k of b runs beside chunk k+1 of a
};

/// First a, then b. In sequence: lane by lane where both have a single lane (the hand-over is fused
/// when a's last step writes just what b's first step sends), else b starts with a join of all
/// lanes of the rank. Pipelined: b's lanes join a's for each chunk.
[[nodiscard]] std::unique_ptr<Pattern> then(std::unique_ptr<Pattern> a, std::unique_ptr<Pattern> b,
                                            Composition composition = Composition::in_sequence);

/// a on the first half of every part and b on the second, side by side in lanes of their own.
[[nodiscard]] std::unique_ptr<Pattern> beside(std::unique_ptr<Pattern> a,
                                              std::unique_ptr<Pattern> b);

/// The program that runs `pattern` on channels × chunks parts of the call's data. Channels come
/// first: channel c has the c-th slice, which is then cut into chunks. Fewer are used where there
/// are not enough elements. 0 bytes or 1 rank: local copies only, no message.
[[nodiscard]] std::unique_ptr<Program> partition(std::string algorithm, const CollectiveCall& call,
                                                 std::unique_ptr<Pattern> pattern,
                                                 std::uint32_t channels, std::uint32_t chunks);

}  // namespace collsim
