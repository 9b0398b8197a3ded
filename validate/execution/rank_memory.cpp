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

MemoryLayout::MemoryLayout(const Program& program, Rank rank) {
  const CollectiveCall& call = program.call();
  const std::array<Bytes, 3> bytes{call.input_bytes(rank), call.output_bytes(rank),
                                   program.scratch_bytes(rank)};
  for (const Buffer buffer : {Buffer::Input, Buffer::Output, Buffer::Scratch}) {
    const auto i = static_cast<std::size_t>(buffer);
    const MemoryPlace place = place_of(call, rank, buffer);
    starts[i] = {static_cast<std::size_t>(place.memory),
                 static_cast<std::size_t>(place.offset.count())};
    std::size_t& size = sizes[starts[i].memory];
    size = std::max(size, starts[i].offset + static_cast<std::size_t>(bytes[i].count()));
  }
  input_bytes = static_cast<std::size_t>(bytes[0].count());
  output_bytes = static_cast<std::size_t>(bytes[1].count());
}

RankMemory::RankMemory(const Program& program, Rank rank) {
  const MemoryLayout layout(program, rank);
  for (std::size_t i = 0; i < memories_.size(); ++i) {
    memories_[i] = ByteBuffer(layout.sizes[i]);
  }
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    const MemoryLayout::Start& start = layout.starts[i];
    starts_[i] = memories_[start.memory].data() + start.offset;
  }
  input_bytes_ = layout.input_bytes;
  output_bytes_ = layout.output_bytes;
}

void RankMemory::poison() {
  for (ByteBuffer& memory : memories_) {
    if (memory.size() > 0) {
      std::memset(memory.data(), poison_pattern, memory.size());
    }
  }
}

}  // namespace collsim
