#pragma once

// How a block of threads moves a step's bytes by lines of LL: each 8 bytes of data in two halves, each half beside its flag in one
// 8-byte store, so that neither fences nor counts are needed. What is not in a slot is plain memory, read and written 8 bytes at a
// time where it lies so.
// Source: NCCL src/device/prims_ll.h.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/block_state.hpp"
#include "kernels/lane_context.hpp"
#include "kernels/lane_tables.hpp"

namespace collsim::kernels {

// Addresses are numbers where their alignment is asked for.
// NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast)
template <class Machine>
class LineMover {
 public:
  /// By each thread, for one step. Requires: `lane` outlives it.
  COLLSIM_MACHINE_CODE LineMover(const LaneContext<Machine>& lane, std::uint64_t bytes)
      : lane_(lane), bytes_(bytes) {}

  /// Sets the state's `failed` where a line has not come.
  template <class Operator, class T>
  COLLSIM_MACHINE_CODE void move() {
    const BlockState& state = lane_.state;
    const std::uint64_t lines = lines_of(bytes_);
    const std::uint32_t threads = lane_.machine.threads();
    for (std::uint64_t i = lane_.machine.thread(); i < lines; i += threads) {
      std::uint64_t word = word_of<T>(state.inputs[0], i);
      for (std::uint32_t k = 1; k < state.input_count; ++k) {
        word = reduced_word<Operator, T>(word, word_of<T>(state.inputs[k], i));
      }
      for (std::uint32_t k = 0; k < state.output_count; ++k) {
        put_word<T>(state.outputs[k], i, word);
      }
    }
    for (std::uint32_t k = 0; k < state.output_count; ++k) {
      const End& end = state.outputs[k];
      for (std::uint64_t i = lines + lane_.machine.thread(); i < end.clean; i += threads) {
        put_line(end, i, 0);
      }
    }
    if (gave_up_) {
      lane_.machine.claim(&lane_.state.failed);
    }
  }

 private:
  template <class T>
  COLLSIM_MACHINE_CODE std::uint64_t word_of(const End& end, std::uint64_t i) {
    if (end.flag != 0) {
      return received_word(end, i);
    }
    const std::uint64_t offset = i * line_data;
    if (is_whole(end, offset)) {
      return lane_.machine.template load<std::uint64_t>(end.start + offset);
    }
    T elements[line_data / sizeof(T)]{};  // NOLINT(*-avoid-c-arrays)
    for (std::uint64_t j = 0; j * sizeof(T) < line_data; ++j) {
      const std::uint64_t place = offset + j * sizeof(T);
      if (place < bytes_) {
        elements[j] = lane_.machine.template load<T>(address_of(end, place));
      }
    }
    std::uint64_t word = 0;
    std::memcpy(&word, elements, sizeof(word));
    return word;
  }

  COLLSIM_MACHINE_CODE std::uint64_t received_word(const End& end, std::uint64_t i) {
    Wait wait;
    while (!gave_up_) {
      const Line line = lane_.machine.load_line(end.start + i * line_bytes);
      if (line.first >> 32U == end.flag && line.second >> 32U == end.flag) {
        return (line.first & data_half) | line.second << 32U;
      }
      gave_up_ = gives_up(lane_, wait, WaitedFor::Line, end.port);
    }
    return 0;
  }

  template <class T>
  COLLSIM_MACHINE_CODE void put_word(const End& end, std::uint64_t i, std::uint64_t word) {
    if (end.flag != 0) {
      put_line(end, i, word);
      return;
    }
    const std::uint64_t offset = i * line_data;
    if (is_whole(end, offset)) {
      lane_.machine.store(end.start + offset, word);
      return;
    }
    T elements[line_data / sizeof(T)]{};  // NOLINT(*-avoid-c-arrays)
    std::memcpy(static_cast<void*>(elements), &word, sizeof(word));
    for (std::uint64_t j = 0; j * sizeof(T) < line_data; ++j) {
      const std::uint64_t place = offset + j * sizeof(T);
      if (place < bytes_) {
        lane_.machine.store(address_of(end, place), elements[j]);
      }
    }
  }

  COLLSIM_MACHINE_CODE void put_line(const End& end, std::uint64_t i, std::uint64_t word) {
    const std::uint64_t flag = std::uint64_t{end.flag} << 32U;
    lane_.machine.store_line(end.start + i * line_bytes,
                             Line{(word & data_half) | flag, word >> 32U | flag});
  }

  [[nodiscard]] COLLSIM_MACHINE_CODE static std::byte* address_of(const End& end,
                                                                  std::uint64_t place) {
    return end.start + place / end.run * end.stride + place % end.run;
  }

  /// Whether 8 bytes at an offset of a span are there, in one piece and aligned.
  [[nodiscard]] COLLSIM_MACHINE_CODE bool is_whole(const End& end, std::uint64_t offset) const {
    return offset + line_data <= bytes_ && offset + line_data <= end.run &&
           reinterpret_cast<std::uintptr_t>(end.start + offset) % line_data == 0;
  }

  static constexpr std::uint64_t data_half = 0xffffffffU;

  const LaneContext<Machine>& lane_;
  std::uint64_t bytes_;
  bool gave_up_ = false;  ///< this thread: then it waits for no other line either
};
// NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)

}  // namespace collsim::kernels
