#pragma once

// A connection between two threads: a ring of slots for messages, one writer, one reader, no lock.
//
// `sent` and `taken` count messages since the start and never fall. The writer owns slot sent % slots until it sends, the reader
// slot taken % slots until it releases. Where the FIFO is limited there are as many slots as it is deep; where it is not, one for each
// message of a call: a writer waits only for a reader that is a whole call behind.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "validate/execution/rank_memory.hpp"

namespace collsim {

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): the counters have cache lines of their own
class Channel {
 public:
  Channel(std::uint64_t slots, std::size_t slot_bytes) : slot_bytes_(padded(slot_bytes)) {
    memory_ = ByteBuffer(static_cast<std::size_t>(slots) * slot_bytes_);
    sizes_.resize(static_cast<std::size_t>(slots));
  }

  [[nodiscard]] bool has_credit() const {
    return sent_.load(std::memory_order_relaxed) - taken_.load(std::memory_order_acquire) <
           sizes_.size();
  }
  [[nodiscard]] std::byte* slot() { return place(sent_.load(std::memory_order_relaxed)); }
  void send(std::size_t bytes) {
    const std::uint64_t sent = sent_.load(std::memory_order_relaxed);
    sizes_[sent % sizes_.size()] = bytes;
    sent_.store(sent + 1, std::memory_order_release);
  }

  [[nodiscard]] bool arrived() const {
    return sent_.load(std::memory_order_acquire) != taken_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::span<const std::byte> message() {
    const std::uint64_t taken = taken_.load(std::memory_order_relaxed);
    return {place(taken), sizes_[taken % sizes_.size()]};
  }
  void release() {
    taken_.store(taken_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  /// Bytes that a channel takes.
  [[nodiscard]] static std::size_t footprint(std::uint64_t slots, std::size_t slot_bytes) {
    return sizeof(Channel) +
           static_cast<std::size_t>(slots) * (padded(slot_bytes) + sizeof(std::size_t));
  }

 private:
  static constexpr std::size_t cache_line = 64;
  /// Slots do not share cache lines.
  static std::size_t padded(std::size_t bytes) {
    return (bytes + cache_line - 1) / cache_line * cache_line;
  }
  [[nodiscard]] std::byte* place(std::uint64_t message) {
    return memory_.data() + (message % sizes_.size()) * slot_bytes_;
  }

  std::size_t slot_bytes_;
  ByteBuffer memory_;
  std::vector<std::size_t> sizes_;  ///< of the messages, by slot
  alignas(cache_line) std::atomic<std::uint64_t> sent_ = 0;
  alignas(cache_line) std::atomic<std::uint64_t> taken_ = 0;
};

}  // namespace collsim
