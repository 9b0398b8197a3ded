#include "validate/execution/rank_memory.hpp"

#include <algorithm>
#include <cstring>

namespace collsim {

ByteBuffer::ByteBuffer(std::size_t size) : size_(size) {
  // NOLINTNEXTLINE(modernize-avoid-c-arrays)
  owner_ = std::make_unique_for_overwrite<std::byte[]>(size + alignment);
  void* start = owner_.get();
  std::size_t space = size + alignment;
  data_ = static_cast<std::byte*>(std::align(alignment, size, start, space));
}

RankMemory::RankMemory(const Program& program, Rank rank) {
  const CollectiveCall& call = program.call();
  const std::array<Bytes, 3> sizes{call.input_bytes(rank), call.output_bytes(rank),
                                   program.scratch_bytes(rank)};
  constexpr std::array buffers{Buffer::Input, Buffer::Output, Buffer::Scratch};
  std::array<std::int64_t, 3> ends{};
  for (const Buffer buffer : buffers) {
    const MemoryPlace place = place_of(call, rank, buffer);
    std::int64_t& end = ends[static_cast<std::size_t>(place.memory)];
    end = std::max(end, (place.offset + sizes[static_cast<std::size_t>(buffer)]).count());
  }
  for (std::size_t i = 0; i < memories_.size(); ++i) {
    memories_[i] = ByteBuffer(static_cast<std::size_t>(ends[i]));
  }
  for (const Buffer buffer : buffers) {
    const MemoryPlace place = place_of(call, rank, buffer);
    starts_[static_cast<std::size_t>(buffer)] =
        memories_[static_cast<std::size_t>(place.memory)].data() + place.offset.count();
  }
  input_bytes_ = static_cast<std::size_t>(sizes[0].count());
  output_bytes_ = static_cast<std::size_t>(sizes[1].count());
}

void RankMemory::poison() {
  constexpr int pattern = 0xa5;
  for (ByteBuffer& memory : memories_) {
    if (memory.size() > 0) {
      std::memset(memory.data(), pattern, memory.size());
    }
  }
}

}  // namespace collsim
