#pragma once

// The part of a call's data that a pattern works on, in blocks.
//
// The data of a call fall into blocks (usually one a rank). A part holds the same slice of every
// block where blocks are equal and each belongs to a rank (all_gather, …), or a contiguous slice of
// the buffer, itself cut into blocks as equal as elements allow (all_reduce, broadcast, reduce: the
// first blocks get the extra elements). A pattern speaks of block numbers only and never computes
// an offset.

#include <cstdint>

#include "algorithms/collective.hpp"
#include "algorithms/program.hpp"

namespace collsim {

/// Where a pattern finds (or puts) blocks: a buffer that holds all of them, or just the rank's own.
struct Place {
  enum class Holds : std::uint8_t { AllBlocks, OwnBlock };
  Buffer buffer = Buffer::Input;
  Holds holds = Holds::AllBlocks;
  constexpr bool operator==(const Place&) const = default;
};
[[nodiscard]] constexpr Place all_blocks(Buffer buffer) {
  return {buffer, Place::Holds::AllBlocks};
}
[[nodiscard]] constexpr Place own_block(Buffer buffer) { return {buffer, Place::Holds::OwnBlock}; }

/// One part of a call's data.
class Part {
 public:
  /// The whole data of a call, `blocks` blocks. Scratch holds `scratch_blocks` blocks; number i is
  /// as large as block i modulo `blocks`.
  /// Requires: blocks ≥ 1, and one a rank where the call is blocked(). Throws: RangeError if scratch
  /// would hold 2^63 bytes or more.
  Part(const CollectiveCall& call, std::uint32_t blocks, std::uint32_t scratch_blocks);

  /// Part `index` of `count` like parts of this one. Requires: index < count.
  [[nodiscard]] Part slice(std::uint32_t index, std::uint32_t count) const;

  /// The bytes of blocks [first, first + count) at a place; with Holds::OwnBlock count must be 1
  /// and the block's number only says how large it is. Scratch is laid out part by part, so a range
  /// of blocks is contiguous there.
  [[nodiscard]] Span blocks(Place place, std::uint32_t first, std::uint32_t count = 1) const;
  /// Blocks first, first + step, first + 2·step, … below `limit`, each with the run_blocks - 1
  /// blocks after it (cut off at `limit`). Requires: blocks of equal size; scratch, or a place that
  /// holds all blocks and run_blocks = 1.
  [[nodiscard]] Span strided_blocks(Place place, std::uint32_t first, std::uint32_t run_blocks,
                                    std::uint32_t step, std::uint32_t limit) const;
  [[nodiscard]] Bytes bytes_of(std::uint32_t first, std::uint32_t count = 1) const;

  /// Whether all blocks are of one size, in any slice of it into `count` parts, too.
  [[nodiscard]] bool has_equal_blocks(std::uint32_t count) const;

  /// The largest number of parts this one can be sliced into with none empty (at least 1).
  [[nodiscard]] std::int64_t elements() const;

  [[nodiscard]] Bytes scratch_bytes() const;

 private:
  [[nodiscard]] std::int64_t elements_before(std::uint32_t block) const;
  [[nodiscard]] Bytes bytes(std::int64_t elements) const {
    return Bytes(elements * element_bytes_);
  }
  /// How many times scratch holds the slice (of a block, or of the buffer).
  [[nodiscard]] std::uint32_t scratch_copies() const;
  void cut(std::int64_t begin, std::int64_t size);

  // All in elements. Blocked calls: every block is [slice_begin_, slice_begin_ + slice_size_) of a
  // block of block_size_. Others: the part is that range of the buffer and is cut into blocks_.
  bool blocked_ = false;
  std::int64_t element_bytes_ = 1;
  std::int64_t block_size_ = 0;
  std::int64_t slice_begin_ = 0;
  std::int64_t slice_size_ = 0;
  std::uint32_t blocks_ = 1;
  std::uint32_t scratch_blocks_ = 0;
  // Elements of a block of this part, and how many (the first ones) have one more.
  std::int64_t smaller_ = 0;
  std::int64_t larger_blocks_ = 0;
};

}  // namespace collsim
