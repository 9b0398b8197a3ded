#include "algorithms/part.hpp"

#include <algorithm>
#include <limits>

#include "topology/error.hpp"

namespace collsim {

Part::Part(const CollectiveCall& call, std::uint32_t blocks, std::uint32_t scratch_blocks)
    : blocked_(call.blocked()),
      element_bytes_(size_of(call.type).count()),
      block_size_(call.count),
      blocks_(blocks),
      scratch_blocks_(scratch_blocks) {
  COLLSIM_ENSURE(blocks >= 1, "data need at least one block");
  if (blocked_) {
    COLLSIM_ENSURE(blocks == call.ranks, "a blocked call has one block a rank");
  }
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const U128 scratch_elements = static_cast<U128>(scratch_copies()) * static_cast<U128>(call.count);
  if (scratch_elements * static_cast<U128>(element_bytes_) > static_cast<U128>(most)) {
    throw RangeError("needs 2^63 bytes or more of scratch memory a rank", {}, "fewer bytes");
  }
  cut(0, call.count);
}

void Part::cut(std::int64_t begin, std::int64_t size) {
  slice_begin_ = begin;
  slice_size_ = size;
  smaller_ = blocked_ ? size : size / blocks_;
  larger_blocks_ = blocked_ ? 0 : size % blocks_;
}

Part Part::slice(std::uint32_t index, std::uint32_t count) const {
  COLLSIM_DCHECK(index < count, "a slice beyond the last one");
  const std::int64_t smaller = slice_size_ / count;
  const std::int64_t larger_slices = slice_size_ % count;
  Part part = *this;
  part.cut(slice_begin_ + index * smaller + std::min<std::int64_t>(index, larger_slices),
           smaller + (index < larger_slices ? 1 : 0));
  return part;
}

bool Part::has_equal_blocks(std::uint32_t count) const {
  return blocked_ || slice_size_ % (std::int64_t{blocks_} * count) == 0;
}

std::int64_t Part::elements_before(std::uint32_t block) const {
  return block * smaller_ + std::min<std::int64_t>(block, larger_blocks_);
}

Bytes Part::bytes_of(std::uint32_t first, std::uint32_t count) const {
  return bytes(elements_before(first + count) - elements_before(first));
}

Span Part::blocks(Place place, std::uint32_t first, std::uint32_t count) const {
  if (place.buffer == Buffer::Scratch) {
    COLLSIM_ENSURE(std::uint64_t{first} + count <= scratch_blocks_, "blocks outside scratch");
    if (blocked_) {
      return Span::contiguous(Buffer::Scratch,
                              bytes(slice_begin_ * scratch_blocks_ + first * slice_size_),
                              bytes(count * slice_size_));
    }
    // Whole copies of the data, one after the other.
    const auto position = [&](std::uint32_t block) {
      return block / blocks_ * slice_size_ + elements_before(block % blocks_);
    };
    return Span::contiguous(Buffer::Scratch,
                            bytes(slice_begin_ * scratch_copies() + position(first)),
                            bytes(position(first + count) - position(first)));
  }
  if (place.holds == Place::Holds::OwnBlock) {
    COLLSIM_DCHECK(blocked_, "only blocked calls have a buffer of one block");
    COLLSIM_DCHECK(count == 1, "several blocks in a buffer of one");
    return Span::contiguous(place.buffer, bytes(slice_begin_), bytes(slice_size_));
  }
  COLLSIM_ENSURE(std::uint64_t{first} + count <= blocks_, "blocks outside the buffer");
  if (!blocked_) {
    return Span::contiguous(place.buffer, bytes(slice_begin_ + elements_before(first)),
                            bytes_of(first, count));
  }
  const Bytes offset = bytes(first * block_size_ + slice_begin_);
  if (count == 1 || slice_size_ == block_size_) {
    return Span::contiguous(place.buffer, offset, bytes(count * slice_size_));
  }
  return Span{place.buffer, offset, bytes(count * slice_size_), bytes(slice_size_),
              bytes(block_size_)};
}

Span Part::strided_blocks(Place place, std::uint32_t first, std::uint32_t run_blocks,
                          std::uint32_t step, std::uint32_t limit) const {
  const bool in_scratch = place.buffer == Buffer::Scratch;
  COLLSIM_DCHECK(larger_blocks_ == 0, "strides over blocks that are not equal");
  COLLSIM_DCHECK(run_blocks <= step, "runs of blocks that overlap");
  COLLSIM_DCHECK(limit <= (in_scratch ? scratch_blocks_ : blocks_),
                 "strided blocks beyond a buffer");
  if (!in_scratch) {
    COLLSIM_DCHECK(place.holds == Place::Holds::AllBlocks, "strides in a buffer of one block");
    COLLSIM_DCHECK(run_blocks == 1, "runs of several blocks are regular in scratch only");
  }
  Span span = blocks(place, first < limit ? first : 0, 0);
  if (first >= limit) {
    return span;
  }
  const std::uint32_t full_steps = (limit - first) / step;
  const std::uint32_t rest = std::min(run_blocks, (limit - first) % step);
  span.total = bytes((full_steps * run_blocks + rest) * smaller_);
  span.run = bytes(run_blocks * smaller_);
  span.stride = bytes(step * (in_scratch || !blocked_ ? smaller_ : block_size_));
  // One run alone is a contiguous range.
  if (span.total <= span.run) {
    span.run = span.stride = span.total;
  }
  return span;
}

std::int64_t Part::elements() const { return std::max<std::int64_t>(1, slice_size_); }

std::uint32_t Part::scratch_copies() const {
  return blocked_ ? scratch_blocks_ : (scratch_blocks_ + blocks_ - 1) / blocks_;
}

Bytes Part::scratch_bytes() const { return bytes(scratch_copies() * slice_size_); }

}  // namespace collsim
