#include "algorithms/part.hpp"

#include <rapidcheck.h>

#include <map>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;

namespace {

CollectiveCall call_of(CollectiveKind kind, std::uint32_t ranks, std::int64_t count,
                       DataType type = DataType::Uint8) {
  CollectiveCall call;
  call.kind = kind;
  call.ranks = ranks;
  call.count = count;
  call.type = type;
  return call;
}

/// Begin → end of contiguous runs of bytes, and how often two of them overlap.
class Cover {
 public:
  void add(const Span& span) {
    Bytes at = span.offset;
    for (Bytes left = span.total; left > 0_B; at += span.stride) {
      const Bytes run = std::min(left, span.run);
      runs_[at] += run;
      left -= run;
    }
  }
  /// Whether the runs are [0, size), each byte once.
  [[nodiscard]] bool tiles(Bytes size) const {
    Bytes reached;
    for (const auto& [begin, length] : runs_) {
      if (begin != reached) {
        return false;
      }
      reached += length;
    }
    return reached == size;
  }

 private:
  std::map<Bytes, Bytes> runs_;
};

/// The blocks of every slice of every slice, one after the other.
bool slices_tile(const CollectiveCall& call, std::uint32_t blocks, std::uint32_t channels,
                 std::uint32_t chunks, Place place, Bytes size) {
  const std::uint32_t scratch_blocks = place.buffer == Buffer::Scratch ? blocks : 0;
  const Part whole(call, blocks, scratch_blocks);
  Cover cover;
  for (std::uint32_t c = 0; c < channels; ++c) {
    for (std::uint32_t k = 0; k < chunks; ++k) {
      const Part part = whole.slice(c, channels).slice(k, chunks);
      for (std::uint32_t b = 0; b < blocks; ++b) {
        const Span span = part.blocks(place, b);
        if (span.total != part.bytes_of(b)) {
          return false;
        }
        if (span.total > 0_B) {
          cover.add(span);
        }
      }
    }
  }
  return cover.tiles(size);
}

}  // namespace

TEST_CASE("blocks of all slices tile every buffer, each byte once") {
  for (std::uint32_t blocks = 1; blocks <= 5; ++blocks) {
    for (std::int64_t count = 0; count <= 13; ++count) {
      for (std::uint32_t channels = 1; channels <= 3; ++channels) {
        for (std::uint32_t chunks = 1; chunks <= 3; ++chunks) {
          const CollectiveCall blocked =
              call_of(CollectiveKind::AllGather, blocks, count, DataType::Half);
          const CollectiveCall whole = call_of(CollectiveKind::AllReduce, 3, count, DataType::Half);
          for (const Buffer buffer : {Buffer::Input, Buffer::Output, Buffer::Scratch}) {
            REQUIRE(
                slices_tile(blocked, blocks, channels, chunks, all_blocks(buffer), blocked.size()));
            REQUIRE(slices_tile(whole, blocks, channels, chunks, all_blocks(buffer), whole.size()));
          }
        }
      }
    }
  }
}

TEST_CASE("blocks of random slices tile the data") {
  CHECK(rc::check("slices of slices tile the data", [] {
    const auto blocks = *rc::gen::inRange<std::uint32_t>(1, 70);
    const auto count = *rc::gen::inRange<std::int64_t>(0, 100'000);
    const auto channels = *rc::gen::inRange<std::uint32_t>(1, 9);
    const auto chunks = *rc::gen::inRange<std::uint32_t>(1, 9);
    const auto buffer = *rc::gen::element(Buffer::Output, Buffer::Scratch);
    const bool blocked = *rc::gen::arbitrary<bool>();
    const CollectiveCall call =
        call_of(blocked ? CollectiveKind::AllToAll : CollectiveKind::AllReduce, blocks, count);
    RC_ASSERT(slices_tile(call, blocks, channels, chunks, all_blocks(buffer), call.size()));
  }));
}

TEST_CASE("slices of a rank's own block tile that block") {
  const CollectiveCall call = call_of(CollectiveKind::AllGather, 4, 11);
  const Part whole(call, 4, 0);
  Cover cover;
  for (std::uint32_t k = 0; k < 3; ++k) {
    cover.add(whole.slice(k, 3).blocks(own_block(Buffer::Input), 2));
  }
  CHECK(cover.tiles(11_B));
}

TEST_CASE("where blocks are cut out of one buffer, the first ones get the extra elements") {
  // 11 elements of 4 B in 4 blocks: 3 + 3 + 3 + 2.
  const Part part(call_of(CollectiveKind::AllReduce, 4, 11, DataType::Float32), 4, 0);
  CHECK(part.bytes_of(0) == 12_B);
  CHECK(part.bytes_of(2) == 12_B);
  CHECK(part.bytes_of(3) == 8_B);
  CHECK(part.bytes_of(1, 3) == 32_B);
  CHECK(part.blocks(all_blocks(Buffer::Input), 3) == Span::contiguous(Buffer::Input, 36_B, 8_B));
}

TEST_CASE("with fewer elements than blocks the last blocks are empty") {
  const Part part(call_of(CollectiveKind::AllReduce, 4, 2), 4, 0);
  CHECK(part.bytes_of(1) == 1_B);
  CHECK(part.bytes_of(2) == 0_B);
  CHECK(part.blocks(all_blocks(Buffer::Output), 3).total == 0_B);
}

TEST_CASE("a slice of several blocks is a run in each of them") {
  // Blocks of 10; the second of two slices is elements 5 … 9 of each.
  const Part half = Part(call_of(CollectiveKind::AllGather, 4, 10), 4, 0).slice(1, 2);
  CHECK(half.blocks(all_blocks(Buffer::Output), 1, 3) ==
        Span{Buffer::Output, 15_B, 15_B, 5_B, 10_B});
  CHECK(half.blocks(own_block(Buffer::Input), 1) == Span::contiguous(Buffer::Input, 5_B, 5_B));
}

TEST_CASE("scratch holds the blocks of a part side by side") {
  // 6 scratch blocks of the second slice (5 of 10 elements) follow the 6 of the first.
  const Part half = Part(call_of(CollectiveKind::AllGather, 4, 10), 4, 6).slice(1, 2);
  CHECK(half.blocks(all_blocks(Buffer::Scratch), 2, 3) ==
        Span::contiguous(Buffer::Scratch, 40_B, 15_B));
  CHECK(half.scratch_bytes() == 30_B);
}

TEST_CASE("scratch of more blocks than the data have is several copies of them") {
  // 5 elements in 2 blocks: 3 + 2. Scratch blocks 0 … 3 have 3, 2, 3, 2.
  const Part part(call_of(CollectiveKind::AllReduce, 2, 5), 2, 4);
  CHECK(part.blocks(all_blocks(Buffer::Scratch), 2) == Span::contiguous(Buffer::Scratch, 5_B, 3_B));
  CHECK(part.blocks(all_blocks(Buffer::Scratch), 1, 3) ==
        Span::contiguous(Buffer::Scratch, 3_B, 7_B));
  CHECK(part.scratch_bytes() == 10_B);
}

TEST_CASE("strided blocks are the runs with a bit set, cut off at the limit") {
  const Part part(call_of(CollectiveKind::AllToAll, 7, 4), 7, 7);
  const Place scratch = all_blocks(Buffer::Scratch);
  // Bit 1 of 0 … 6: blocks 2, 3 and 6.
  CHECK(part.strided_blocks(scratch, 2, 2, 4, 7) == Span{Buffer::Scratch, 8_B, 12_B, 8_B, 16_B});
  // Bit 2: blocks 4, 5, 6, one run.
  CHECK(part.strided_blocks(scratch, 4, 4, 8, 7) == Span::contiguous(Buffer::Scratch, 16_B, 12_B));
  // Bit 0: blocks 1, 3, 5.
  CHECK(part.strided_blocks(scratch, 1, 1, 2, 7) == Span{Buffer::Scratch, 4_B, 12_B, 4_B, 8_B});
  CHECK(part.strided_blocks(scratch, 7, 1, 2, 7).total == 0_B);
}

TEST_CASE("strided blocks are those that counting finds") {
  for (std::uint32_t limit = 1; limit <= 12; ++limit) {
    const Part part(call_of(CollectiveKind::AllToAll, 12, 3), 12, 12);
    for (std::uint32_t step = 1; step <= 6; ++step) {
      for (std::uint32_t run = 1; run <= step; ++run) {
        for (std::uint32_t first = 0; first <= limit; ++first) {
          std::uint32_t blocks = 0;
          for (std::uint32_t b = first; b < limit; ++b) {
            blocks += (b - first) % step < run ? 1U : 0U;
          }
          const Span span =
              part.strided_blocks(all_blocks(Buffer::Scratch), first, run, step, limit);
          REQUIRE(span.total == 3_B * blocks);
          REQUIRE((blocks == 0 || span.offset == 3_B * first));
        }
      }
    }
  }
}

TEST_CASE("a part can be sliced into as many parts as a block has elements") {
  CHECK(Part(call_of(CollectiveKind::AllGather, 4, 10), 4, 0).elements() == 10);
  CHECK(Part(call_of(CollectiveKind::AllReduce, 4, 10), 4, 0).elements() == 10);
  CHECK(Part(call_of(CollectiveKind::AllReduce, 4, 0), 4, 0).elements() == 1);
}

TEST_CASE("scratch that cannot be counted in 63 bits is refused") {
  // Scratch of 8 x 8 blocks of 2^57 bytes each: 2^63.
  CollectiveCall call;
  call.kind = CollectiveKind::AllToAll;
  call.ranks = 8;
  call.type = DataType::Int8;
  call.count = std::int64_t{1} << 57;
  CHECK_THROWS_AS(Part(call, 8, 64), RangeError);
  CHECK(Part(call, 8, 63).scratch_bytes() == Bytes(63 * (std::int64_t{1} << 57)));
}

TEST_CASE("a blocked call has one block a rank") {
  CHECK_THROWS_AS(Part(call_of(CollectiveKind::AllGather, 4, 10), 3, 0), InternalError);
}
