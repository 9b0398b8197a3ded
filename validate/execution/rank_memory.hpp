#pragma once

// The memories of one rank of a real executor: input, output and scratch, as in-place calls lay them over each other.

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "algorithms/program.hpp"

namespace collsim {

/// Bytes aligned to a cache line, not initialised.
class ByteBuffer {
 public:
  static constexpr std::size_t alignment = 64;

  ByteBuffer() = default;
  explicit ByteBuffer(std::size_t size);

  [[nodiscard]] std::span<std::byte> bytes() { return {data_, size_}; }
  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  // A vector would write all of it once.
  std::unique_ptr<std::byte[]> owner_;  // NOLINT(modernize-avoid-c-arrays)
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// No test data has it by chance for long.
inline constexpr int poison_pattern = 0xa5;

/// What of which memory a rank's buffers are.
struct MemoryLayout {
  struct Start {
    std::size_t memory = 0;
    std::size_t offset = 0;
  };
  std::array<std::size_t, 3> sizes{};  ///< bytes, by MemoryPlace::Memory
  std::array<Start, 3> starts{};       ///< by Buffer
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;

  MemoryLayout(const Program& program, Rank rank);
};

class RankMemory {
 public:
  RankMemory(const Program& program, Rank rank);

  /// The start of a buffer of the program.
  [[nodiscard]] std::byte* at(Buffer buffer) { return starts_[static_cast<std::size_t>(buffer)]; }
  [[nodiscard]] std::span<std::byte> input() { return {at(Buffer::Input), input_bytes_}; }
  [[nodiscard]] std::span<std::byte> output() { return {at(Buffer::Output), output_bytes_}; }
  /// Overwrites everything with a pattern that no test data has by chance.
  void poison();

 private:
  std::array<ByteBuffer, 3> memories_;  ///< by MemoryPlace::Memory
  std::array<std::byte*, 3> starts_{};  ///< by Buffer
  std::size_t input_bytes_ = 0;
  std::size_t output_bytes_ = 0;
};

}  // namespace collsim
